// Package market converts the instance types of a scenario into those of the library, for
// contenders and judges.
//
// Labels of the scenario's instance types count as well-known, as the labels of a cloud provider
// do.
package market

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Market is what a scenario sells.
type Market struct {
	// Vocabulary is that of the AWS provider, extended by the labels of the scenario's instance types.
	Vocabulary *requirements.Vocabulary
	// Catalogs has the instance types of each pool, by the pool's name. Pools share the types.
	Catalogs map[string][]*cloudprovider.InstanceType

	byName map[string]map[string]*cloudprovider.InstanceType // Catalogs, by pool and name
}

// New returns the market of a scenario. The error joins the faults of all types.
func New(s *scenario.Scenario) (*Market, error) {
	var keys []string
	for i := range s.InstanceTypes {
		for _, r := range s.InstanceTypes[i].Requirements {
			keys = append(keys, r.Key)
		}
	}
	slices.Sort(keys)
	m := &Market{
		Vocabulary: fake.Vocabulary().Extend(requirements.Extension{WellKnown: slices.Compact(keys)}),
		Catalogs:   map[string][]*cloudprovider.InstanceType{},
		byName:     map[string]map[string]*cloudprovider.InstanceType{},
	}
	var faults []error
	var names []string
	all := map[string]*cloudprovider.InstanceType{}
	for i := range s.InstanceTypes {
		t, err := instanceType(&s.InstanceTypes[i], m.Vocabulary)
		if err != nil {
			faults = append(faults, fmt.Errorf("instance type %s: %w", s.InstanceTypes[i].Name, err))
			continue
		}
		all[t.Name], names = t, append(names, t.Name)
	}
	for _, pool := range s.NodePools {
		sold := names
		if s.InstanceTypesByPool != nil {
			sold = s.InstanceTypesByPool[pool.Name]
		}
		m.byName[pool.Name] = map[string]*cloudprovider.InstanceType{}
		for _, name := range sold {
			m.Catalogs[pool.Name] = append(m.Catalogs[pool.Name], all[name])
			m.byName[pool.Name][name] = all[name]
		}
	}
	return m, errors.Join(faults...)
}

// Asked returns the instance types that a claim names, and what it requires.
func (m *Market) Asked(n *scenario.NewNodeClaim) ([]*cloudprovider.InstanceType, requirements.Set, error) {
	asked, err := requirements.FromRequirements(n.Requirements, m.Vocabulary)
	if err != nil {
		return nil, asked, err
	}
	sold, ok := m.byName[n.NodePool]
	if !ok {
		return nil, asked, fmt.Errorf("there is no node pool %q", n.NodePool)
	}
	var named []*cloudprovider.InstanceType
	for _, name := range n.InstanceTypes {
		if sold[name] == nil {
			return nil, asked, fmt.Errorf("pool %s cannot launch %q", n.NodePool, name)
		}
		named = append(named, sold[name])
	}
	return named, asked, nil
}

// Unsold returns the error that nothing can be launched for a claim.
func Unsold(n *scenario.NewNodeClaim) error {
	return fmt.Errorf("none of its %d instance types can be launched as it asks", len(n.InstanceTypes))
}

// Options returns the launches that a claim allows, cheapest first. There is at least one, or an
// error.
func (m *Market) Options(n *scenario.NewNodeClaim) ([]cloudprovider.LaunchOption, error) {
	named, asked, err := m.Asked(n)
	if err != nil {
		return nil, err
	}
	options := launch.Compatible(named, asked)
	if len(options) == 0 {
		return nil, Unsold(n)
	}
	return options, nil
}

func instanceType(t *scenario.InstanceType, v *requirements.Vocabulary) (*cloudprovider.InstanceType, error) {
	labels, labelFault := requirements.FromNodeSelectorRequirements(t.Requirements, v)
	capacity, capacityFault := resources.FromResourceList(t.Capacity)
	overhead, overheadFault := resources.FromResourceList(t.Overhead)
	if err := errors.Join(labelFault, capacityFault, overheadFault); err != nil {
		return nil, err
	}
	out := &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: labels,
		Capacity:     capacity,
		// The scenario has only the sum of the three parts. Which part has it does not change what
		// is allocatable.
		Overhead: cloudprovider.Overhead{KubeReserved: overhead},
	}
	for _, o := range t.Offerings {
		out.Offerings = append(out.Offerings, cloudprovider.Offering{
			Zone:                o.Zone,
			CapacityType:        o.CapacityType,
			ReservationID:       o.ReservationID,
			Price:               o.Price,
			Available:           o.Available,
			ReservationCapacity: o.ReservationCapacity,
		})
	}
	return out, nil
}
