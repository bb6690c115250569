package compile

import (
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Admission computes which options each class may use. It is safe for concurrent use, because
// several goroutines may solve one Problem: its caches are in the Cache.
type Admission struct {
	p       *Problem
	Domains *catalog.Domains
	open    map[string]bool // keys that some useful pool leaves open
	useful  []bool          // by pool: some class may use it
	Suited  [][]bitset.Set  // by class and alternative: options with suitable labels and taints
	asks    []int32         // by class: equal for classes with equal requirements on a node
	cache   *Cache
}

// looksKey identifies the options whose nodes a spread rule counts.
type looksKey struct {
	ask             int32
	affinity, taint bool
	spans           string
	certain         bool
}

// Ask returns a number that is equal for classes with equal requests and requirements on a node.
func (a *Admission) Ask(class int) int32 { return a.asks[class] }

func newAdmission(p *Problem, d *catalog.Domains) *Admission {
	a := &Admission{p: p, Domains: d, open: map[string]bool{}, cache: p.Cache}
	a.useful, a.asks = usefulPools(p), a.numberAsks()
	asked := map[string]map[string]bool{} // by key: texts of the distinct requirements
	for c := range p.Classes {
		a.Suited = append(a.Suited, a.suitedTo(c))
		for i, alt := range p.Classes[c].Alternatives {
			if a.Suited[c][i].Empty() {
				continue // pods without any option are in no conflict
			}
			for r := range alt.Set.All() {
				if asked[r.Key()] == nil {
					asked[r.Key()] = map[string]bool{}
				}
				asked[r.Key()][r.String()] = true
			}
		}
	}
	// Two classes may conflict over a label on a node that allows either, if some pool leaves the
	// label open and the classes require different values.
	contested := map[string]bool{}
	for _, key := range p.Table.Keys {
		key = p.Vocabulary.NormalizeKey(key)
		// Classes are pinned to different values of the key.
		a.open[key] = a.isOpen(key)
		contested[key] = a.open[key]
	}
	for key, texts := range asked {
		if a.isOpen(key) {
			a.open[key] = true
			contested[key] = contested[key] || len(texts) > 1 || a.countsValues(key)
		}
	}
	p.Traits = catalog.NewTraits(d, contested, p.MinValues)
	return a
}

// usefulPools says, by pool, whether it has options and some class tolerates its taints. Other
// pools must not influence which keys are open.
func usefulPools(p *Problem) []bool {
	out := make([]bool, len(p.Pools))
	for i := range p.Pools {
		out[i] = len(p.Pools[i].Options) > 0 && slices.ContainsFunc(p.Classes, func(c workload.Class) bool {
			return c.Refusal == nil && p.tolerates(i, c.Tolerations)
		})
	}
	return out
}

func (a *Admission) isOpen(key string) bool {
	for i := range a.p.Pools {
		if a.useful[i] && a.Domains.Of(i, key).Free {
			return true
		}
	}
	return false
}

// countsValues says whether some pool has minValues for a label. The requirements of a class on the
// label then restrict which values count.
func (a *Admission) countsValues(key string) bool {
	for i := range a.p.Pools {
		for _, r := range a.p.Pools[i].MinValues {
			if a.useful[i] && r.Key() == key {
				return true
			}
		}
	}
	return false
}

// touchesOpen says whether a set has a requirement on a label that some pool leaves open on options
// of the class. Then the node must satisfy the requirement explicitly, so the alternative cannot be
// merged with others.
func (a *Admission) touchesOpen(s requirements.Set, options bitset.Set) bool {
	for r := range s.All() {
		if !a.open[r.Key()] {
			continue
		}
		for i := range a.p.Pools {
			if p := &a.p.Pools[i]; a.Domains.Of(i, r.Key()).Free && p.All().Overlaps(p.Window(options)) {
				return true
			}
		}
	}
	return false
}

// pinned returns the options that can satisfy a pin; nil means all.
func (a *Admission) pinned(pin requirements.Set) bitset.Set {
	if pin.Len() == 0 {
		return nil
	}
	return a.cache.pins.of(pin.String(), func() bitset.Set { return a.p.satisfying(pin) })
}

// suitedTo returns, by alternative of a class, the options that all filters admit which do not count
// pods of the plan.
func (a *Admission) suitedTo(c int) []bitset.Set {
	class := &a.p.Classes[c]
	out := make([]bitset.Set, len(class.Alternatives))
	for i, alt := range class.Alternatives {
		if class.Refusal != nil {
			out[i] = bitset.New(a.Domains.Total)
		} else {
			out[i] = a.p.suiting(&Ask{Alternative: alt, Tolerations: class.Tolerations, Class: c}, MinValues)
		}
	}
	return out
}

// SuitedToAny returns the options that suit a class by any of its alternatives, as a new set.
func (a *Admission) SuitedToAny(c int) bitset.Set {
	out := bitset.New(a.Domains.Total)
	for _, set := range a.Suited[c] {
		out.Or(set)
	}
	return out
}

// KeepMinValues removes, with the Strict policy, the options of pools in which too few values are
// left for a node with one such pod.
func (a *Admission) KeepMinValues(options bitset.Set, trait int32) {
	if a.p.Opts.MinValues == model.BestEffort {
		return
	}
	for i := range a.p.Pools {
		p := &a.p.Pools[i]
		for m, mv := range a.p.MinValues[i] {
			here := p.All()
			here.And(p.Window(options))
			if mv.MinValue.Distinct(p.First-bitset.Base(p.First), here, a.p.Traits.Values(i, m, trait)) < mv.Need {
				p.Window(options).AndNot(here)
				break
			}
		}
	}
}

// ShortOf returns the first minValues of a pool for which some options have too few values, and the
// number they have; nil if they have enough values for each.
func (p *Problem) ShortOf(pool int, options bitset.Set, trait int32) (mv *catalog.MinValue, have int) {
	for m := range p.MinValues[pool] {
		mv = &p.MinValues[pool][m]
		if have = mv.Distinct(p.Pools[pool].First, options, p.Traits.Values(pool, m, trait)); have < mv.Need {
			return mv, have
		}
	}
	return nil, 0
}

// Choice says whether some options have as many values as the minValues of their pool require.
func (p *Problem) Choice(pool int, options bitset.Set, trait int32) bool {
	mv, _ := p.ShortOf(pool, options, trait)
	return mv == nil
}

// Fits returns the options with room for one pod of the given request.
func (a *Admission) Fits(request []int64) bitset.Set {
	key := make([]byte, 0, 8*len(request))
	for _, n := range request {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return ofBytes(&a.cache.fitting, key, func() bitset.Set {
		out := bitset.Full(a.Domains.Total)
		a.p.Distinct.KeepHolding(out, request, bitset.New(a.Domains.Total))
		return out
	})
}

// Within says whether capacity is at least the request for every resource.
func Within(request, capacity []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}
