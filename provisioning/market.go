package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// market is what can be bought: the pools with their options, overlays applied.
// It knows no pods and no nodes, so problems that differ in those share it. It
// does not change.
type market struct {
	pools    []pool
	domains  *domains
	overlays []cloudprovider.OverlayStatus
	stocks   stocks

	minValues  [][]minValue   // by pool
	uses       [][][]int64    // by pool and option: what a launch takes of the limits, nil without
	useLevels  []*pack.Levels // by pool: of uses
	capacities capacities
}

// newMarket reads the pools and their catalogs and reports what is wrong with
// them.
func newMarket(in *Input, v *requirements.Vocabulary, f *faults) *market {
	before := len(f.list)
	types, overlays, err := cloudprovider.ApplyOverlays(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.split("Overlays", err)
		types = in.InstanceTypes
	}
	adjusted := *in
	adjusted.InstanceTypes = types
	m := &market{pools: newPools(&adjusted, v, f), overlays: overlays}
	checkTypes(m.pools, f)
	if len(f.list) == before {
		m.domains = newDomains(v, m.pools, newOptions(m.pools))
		m.stocks = newStocks(m.pools)
		for i := range m.pools {
			m.minValues = append(m.minValues, newMinValues(&m.pools[i], i, m.domains))
			m.pools[i].nameLimits()
			m.uses = append(m.uses, m.pools[i].allUses())
			m.useLevels = append(m.useLevels, pack.NewLevels(m.uses[i], m.pools[i].first, m.domains.total))
		}
	}
	return m
}

// take returns the pools for a problem of its own to work with.
func (m *market) take() []pool { return slices.Clone(m.pools) }
