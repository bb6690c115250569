package catalog

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
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
// them. Types of another catalog are known to be sound, and pools that ask for the same of
// the same types launch what they did there; like is nil if there is none. Both are read by
// the same vocabulary.
func New(in *model.Input, v *requirements.Vocabulary, like *Catalog, f *model.Faults) *Catalog {
	before := len(f.List)
	types, overlays, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.Split("Overlays", err)
		types = in.InstanceTypes
	}
	adjusted := *in
	adjusted.InstanceTypes = types
	m := &Catalog{pools: NewPools(adjusted.NodePools, adjusted.InstanceTypes, v, f), Overlays: overlays}
	CheckTypes(m.pools, like.sound(), f)
	if len(f.List) == before {
		kept := like.kept(m.pools)
		for i, before := range kept {
			if before >= 0 {
				m.pools[i].Options, m.pools[i].soldOut = like.pools[before].Options, like.pools[before].soldOut
			}
		}
		m.Domains = newDomains(v, m.pools, newOptions(m.pools))
		m.Domains.inherit(like, kept)
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

// sound are the types of a catalog, which are without faults.
func (m *Catalog) sound() map[*cloudprovider.InstanceType]bool {
	out := map[*cloudprovider.InstanceType]bool{}
	if m != nil {
		for i := range m.pools {
			for _, t := range m.pools[i].Types {
				out[t] = true
			}
		}
	}
	return out
}

// kept finds the pool of a catalog that launches what each of some pools does, as it asks
// for the same of the same types; -1 where there is none.
func (m *Catalog) kept(pools []Pool) []int {
	named := map[string]int{}
	if m != nil {
		for i := range m.pools {
			named[m.pools[i].Object.Name] = i
		}
	}
	out := make([]int, len(pools))
	for i := range pools {
		out[i] = -1
		p := &pools[i]
		if before, ok := named[p.Object.Name]; ok {
			known := &m.pools[before]
			if p.Idle.Cause == "" && len(known.Options) > 0 && known.Template.Equal(p.Template) && slices.Equal(known.Types, p.Types) {
				out[i] = before
			}
		}
	}
	return out
}

// Take returns the pools for a problem of its own to work with.
func (m *Catalog) Take() []Pool { return slices.Clone(m.pools) }
