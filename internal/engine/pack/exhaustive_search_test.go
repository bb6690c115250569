package pack_test

import (
	"math"
	"math/bits"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// oracle finds the least cost of a tiny problem by trying every way to split
// its pods over nodes. It knows one tier, strict MinValues and no existing
// nodes, and shares no code with the engine.
type oracle struct {
	p    *pack.Problem
	pods []int   // the class of each pod
	ways [][]way // by set of pods: how one node can take just them
}

// way is one way to launch a node: some options of a pool.
type way struct {
	pool int
	cost float64 // of the cheapest of the options
	uses []int64 // the most that any of the options takes of each limit
}

func newOracle(p *pack.Problem) *oracle {
	o := &oracle{p: p}
	for c := range p.Classes {
		for range p.Classes[c].Count {
			o.pods = append(o.pods, c)
		}
	}
	o.ways = make([][]way, 1<<len(o.pods))
	for set := 1; set < len(o.ways); set++ {
		for pool := range p.Pools {
			all := bitset.New(len(p.Options))
			all.AddRange(p.Pools[pool].First, p.Pools[pool].Last)
			o.variants(set, pool, set, all, 0)
		}
	}
	return o
}

// variants tries every variant of each pod in rest.
func (o *oracle) variants(set, pool, rest int, options bitset.Set, trait int32) {
	if rest == 0 {
		o.launch(set, pool, options, trait)
		return
	}
	pod := bits.TrailingZeros(uint(rest))
	for _, v := range o.p.Classes[o.pods[pod]].Variants {
		here := options.Clone()
		here.And(v.Options)
		both := trait | v.Trait
		if trait != 0 && v.Trait != 0 {
			both = trait & v.Trait
			if both == 0 {
				continue
			}
		}
		if both != 0 {
			here.Window(o.p.Pools[pool].First, o.p.Pools[pool].Last).And(o.p.Traits.Options(pool, both))
		}
		o.variants(set, pool, rest&(rest-1), here, both)
	}
}

// launch lists the ways to launch a node from those of some options that hold
// a set of pods.
func (o *oracle) launch(set, pool int, options bitset.Set, trait int32) {
	need := make([]int64, o.p.Dims)
	for pod, c := range o.pods {
		if set&(1<<pod) != 0 {
			for r, want := range o.p.Classes[c].Request {
				need[r] += want
			}
		}
	}
	var large []int
	for i := range options.All() {
		if holds(o.p.Options[i].Capacity, need) {
			large = append(large, i)
		}
	}
	for chosen := 1; chosen < 1<<len(large); chosen++ {
		w := way{pool: pool, cost: math.Inf(1), uses: make([]int64, len(o.p.Pools[pool].Limits))}
		some := bitset.New(len(o.p.Options))
		for k, i := range large {
			if chosen&(1<<k) == 0 {
				continue
			}
			some.Add(i)
			w.cost = min(w.cost, o.p.Options[i].Price)
			for l := range w.uses {
				w.uses[l] = max(w.uses[l], o.p.Pools[pool].Uses[i-o.p.Pools[pool].First][l])
			}
		}
		if o.enough(pool, some, trait) {
			o.ways[set] = append(o.ways[set], w)
		}
	}
}

func (o *oracle) enough(pool int, options bitset.Set, trait int32) bool {
	p := &o.p.Pools[pool]
	for i := range p.MinValues {
		if distinct(o.p, pool, i, options, trait) < p.MinValues[i].Need {
			return false
		}
	}
	return true
}

// least returns the least cost of placing just the given pods, infinite if
// that cannot be done.
func (o *oracle) least(set int) float64 {
	room := make([][]int64, len(o.p.Pools))
	for i := range room {
		room[i] = append(room[i], o.p.Pools[i].Limits...)
	}
	best := math.Inf(1)
	o.search(set, room, 0, &best)
	return best
}

// search decides on the node of the first pod in rest.
func (o *oracle) search(rest int, room [][]int64, spent float64, best *float64) {
	if spent >= *best {
		return
	}
	if rest == 0 {
		*best = spent
		return
	}
	lowest := rest & -rest
	others := rest ^ lowest
	for sub := others; ; sub = (sub - 1) & others {
		for _, w := range o.ways[sub|lowest] {
			if !holds(room[w.pool], w.uses) {
				continue
			}
			for l, use := range w.uses {
				room[w.pool][l] -= use
			}
			o.search(others&^sub, room, spent+w.cost, best)
			for l, use := range w.uses {
				room[w.pool][l] += use
			}
		}
		if sub == 0 {
			return
		}
	}
}

// placed returns the pods that a result places, as a set.
func (o *oracle) placed(r *pack.Result) int {
	set, left := 0, append([]int(nil), r.Left...)
	for pod := len(o.pods) - 1; pod >= 0; pod-- {
		if c := o.pods[pod]; left[c] > 0 {
			left[c]--
		} else {
			set |= 1 << pod
		}
	}
	return set
}

// most returns the largest number of pods that can be placed at once.
func (o *oracle) most() int {
	most := 0
	for set := range o.ways {
		if n := bits.OnesCount(uint(set)); n > most && !math.IsInf(o.least(set), 1) {
			most = n
		}
	}
	return most
}
