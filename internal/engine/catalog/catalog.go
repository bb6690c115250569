package catalog

import (
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Catalog is what can be launched: the pools with their options, after NodeOverlays were applied.
// It depends on neither pods nor nodes, so problems that differ only in pods and nodes share one
// Catalog. It is read-only once it is made.
type Catalog struct {
	pools        []Pool
	Domains      *Domains
	Overlays     []overlay.Status
	Reservations reservations

	MinValues  [][]MinValue    // by pool
	Uses       [][][]int64     // by pool and option: what a launch uses of each limit, nil if the pool has no limits
	UseLevels  []*levels.Table // by pool: the rows of Uses
	MostUses   [][]int64       // by pool and limit: the most that any launch uses
	Capacities Capacities
}

// New reads the pools and their instance types and reports their faults. It reuses the work of
// another catalog, like, which may be nil and must have been read with the same vocabulary:
// instance types of like are not checked again, and a pool that has the same requirements and
// instance types as a pool of like launches the same options.
func New(in *model.Input, v *requirements.Vocabulary, like *Catalog, f *model.Faults) *Catalog {
	before := len(f.List)
	types, overlays, err := overlay.Apply(in.Overlays, in.NodePools, in.InstanceTypes, v)
	if err != nil {
		f.InField("Overlays", " is ", err)
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

// sound returns the instance types of a catalog; New has found no fault in them.
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

// kept returns, for each of some pools, the index of the pool of the catalog that launches the same
// options because its requirements and instance types are the same; -1 if there is none.
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

// Take returns a copy of the pools, which one problem may change, with the objects of its input. It
// must have the NodePools from which the catalog was made, or equal ones.
func (m *Catalog) Take(in *model.Input) []Pool {
	objects := make(map[string]*v1.NodePool, len(in.NodePools))
	for _, p := range in.NodePools {
		if p != nil {
			objects[p.Name] = p
		}
	}
	out := slices.Clone(m.pools)
	for i := range out {
		out[i].Object = objects[out[i].Object.Name]
	}
	return out
}
