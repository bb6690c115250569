// Package market converts the instance types of a scenario into those of the library, for
// contenders and judges.
//
// Labels of the scenario's instance types count as well-known, as the labels of a cloud provider
// do.
package market

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Vocabulary returns the vocabulary of the AWS provider, extended by the labels of the scenario's
// instance types.
func Vocabulary(s *scenario.Scenario) *requirements.Vocabulary {
	keys := map[string]bool{}
	for i := range s.InstanceTypes {
		for _, r := range s.InstanceTypes[i].Requirements {
			keys[r.Key] = true
		}
	}
	return fake.Vocabulary().Extend(requirements.Extension{WellKnown: slices.Sorted(maps.Keys(keys))})
}

// Catalogs returns the instance types of each pool, by the pool's name. Pools share the types. The
// error joins the faults of all types.
func Catalogs(s *scenario.Scenario, v *requirements.Vocabulary) (map[string][]*cloudprovider.InstanceType, error) {
	var faults []error
	byName := map[string]*cloudprovider.InstanceType{}
	var all []*cloudprovider.InstanceType
	for i := range s.InstanceTypes {
		t, err := instanceType(&s.InstanceTypes[i], v)
		if err != nil {
			faults = append(faults, fmt.Errorf("instance type %s: %w", s.InstanceTypes[i].Name, err))
			continue
		}
		byName[t.Name] = t
		all = append(all, t)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	out := map[string][]*cloudprovider.InstanceType{}
	for _, pool := range s.NodePools {
		if s.InstanceTypesByPool == nil {
			out[pool.Name] = all
			continue
		}
		for _, name := range s.InstanceTypesByPool[pool.Name] {
			out[pool.Name] = append(out[pool.Name], byName[name])
		}
	}
	return out, nil
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
