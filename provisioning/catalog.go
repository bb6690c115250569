package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// catalog is what can be bought: the pools with their options, overlays applied.
// It knows no pods and no nodes, so problems that differ in those share it. It
// does not change.
type catalog struct {
	pools    []pool
	domains  *domains
	overlays []overlay.Status
	stocks   stocks

	minValues  [][]minValue   // by pool
	uses       [][][]int64    // by pool and option: what a launch takes of the limits, nil without
	useLevels  []*pack.Levels // by pool: of uses
	mostUses   [][]int64      // by pool: of each limit, the most that any launch takes
	capacities capacities
}

// newCatalog reads the pools and their catalogs and reports what is wrong with
// them.
func newCatalog(in *Input, v *requirements.Vocabulary, f *faults) *catalog {
	before := len(f.list)
	types, overlays, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.split("Overlays", err)
		types = in.InstanceTypes
	}
	adjusted := *in
	adjusted.InstanceTypes = types
	m := &catalog{pools: newPools(&adjusted, v, f), overlays: overlays}
	checkTypes(m.pools, f)
	if len(f.list) == before {
		m.domains = newDomains(v, m.pools, newOptions(m.pools))
		m.stocks = newStocks(m.pools)
		var uses useLists
		var levels pack.LevelsIndex
		for i := range m.pools {
			m.minValues = append(m.minValues, newMinValues(&m.pools[i], i, m.domains))
			m.pools[i].nameLimits()
			m.uses = append(m.uses, uses.of(&m.pools[i]))
			m.mostUses = append(m.mostUses, mostOf(m.uses[i]))
			m.useLevels = append(m.useLevels, levels.New(m.uses[i], m.pools[i].first))
		}
	}
	return m
}

// take returns the pools for a problem of its own to work with.
func (m *catalog) take() []pool { return slices.Clone(m.pools) }
