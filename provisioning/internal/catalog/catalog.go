package catalog

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/levels"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Catalog is what can be bought: the pools with their options, overlays applied.
// It knows no pods and no nodes, so problems that differ in those share it. It
// does not change.
type Catalog struct {
	pools        []Pool
	Domains      *Domains
	Overlays     []overlay.Status
	Reservations reservations

	MinValues  [][]MinValue    // by pool
	Uses       [][][]int64     // by pool and option: what a launch takes of the limits, nil without
	UseLevels  []*levels.Table // by pool: of uses
	MostUses   [][]int64       // by pool: of each limit, the most that any launch takes
	Capacities Capacities
}

// New reads the pools and their catalogs and reports what is wrong with
// them.
func New(in *model.Input, v *requirements.Vocabulary, f *model.Faults) *Catalog {
	before := len(f.List)
	types, overlays, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.Split("Overlays", err)
		types = in.InstanceTypes
	}
	adjusted := *in
	adjusted.InstanceTypes = types
	m := &Catalog{pools: NewPools(adjusted.NodePools, adjusted.InstanceTypes, v, f), Overlays: overlays}
	CheckTypes(m.pools, f)
	if len(f.List) == before {
		m.Domains = newDomains(v, m.pools, newOptions(m.pools))
		m.Reservations = newReservations(m.pools)
		var uses useLists
		var tables levels.Index
		for i := range m.pools {
			m.MinValues = append(m.MinValues, newMinValues(&m.pools[i], i, m.Domains))
			m.pools[i].nameLimits()
			m.Uses = append(m.Uses, uses.of(&m.pools[i]))
			m.MostUses = append(m.MostUses, mostOf(m.Uses[i]))
			m.UseLevels = append(m.UseLevels, tables.New(m.Uses[i], m.pools[i].First))
		}
	}
	return m
}

// Take returns the pools for a problem of its own to work with.
func (m *Catalog) Take() []Pool { return slices.Clone(m.pools) }
