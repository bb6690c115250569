package compile

import (
	"encoding/binary"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Admission works out which options each class may use. It is safe for concurrent
// use, as several goroutines may solve one Problem: what it keeps is in the Cache.
type Admission struct {
	p       *Problem
	Domains *catalog.Domains
	open    map[string]bool // keys that some useful pool leaves open
	useful  []bool          // by pool: some class may go there
	Suited  [][]bitset.Set  // by class and alternative: options by labels and taints
	asks    []int32         // by class: equal for those that ask the same of a node
	cache   *Cache
}

// looksKey is what decides at which options a spread rule looks.
type looksKey struct {
	ask             int32
	affinity, taint bool
	spans           string
	certain         bool
}

func newAdmission(p *Problem, d *catalog.Domains) *Admission {
	a := &Admission{p: p, Domains: d, open: map[string]bool{}, cache: p.Cache}
	a.useful, a.asks = usefulPools(p), a.numberAsks()
	asked := map[string]map[string]bool{} // by key: the texts
	for c := range p.Classes {
		a.Suited = append(a.Suited, a.suitedTo(&p.Classes[c]))
		for i, alt := range p.Classes[c].Alternatives {
			if a.Suited[c][i].Empty() {
				continue // pods that go nowhere disagree with nobody
			}
			for r := range alt.Set.All() {
				if asked[r.Key()] == nil {
					asked[r.Key()] = map[string]bool{}
				}
				asked[r.Key()][r.String()] = true
			}
		}
	}
	// Two classes may disagree over a label on a node that allows either, if
	// some pool leaves it open and more than one thing is asked of it.
	contested := map[string]bool{}
	for _, key := range p.Table.Keys {
		key = p.Vocabulary.NormalizeKey(key)
		// Classes are pinned to different values of it.
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

// usefulPools says which pools have options and are tolerated by some class.
// The others must have no say in what is open.
func usefulPools(p *Problem) []bool {
	out := make([]bool, len(p.Pools))
	for i := range p.Pools {
		out[i] = len(p.Pools[i].Options) > 0 && slices.ContainsFunc(p.Classes, func(c workload.Class) bool {
			return c.Refusal == nil && len(model.Untolerated(p.Pools[i].Taints, c.Tolerations)) == 0
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

// countsValues says whether some pool wants several values of a label. What a
// class asks of it then narrows what is counted.
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

// touchesOpen says whether a set asks about a label that some pool leaves open
// on options that the class may use. Then the node must promise what is asked,
// so the alternative cannot be merged with others.
func (a *Admission) touchesOpen(s requirements.Set, options bitset.Set) bool {
	for r := range s.All() {
		if !a.open[r.Key()] {
			continue
		}
		for i := range a.p.Pools {
			p := &a.p.Pools[i]
			if !a.Domains.Of(i, r.Key()).Free {
				continue
			}
			if p.All().Overlaps(p.Window(options)) {
				return true
			}
		}
	}
	return false
}

// pinned returns the options that can have what a pin asks for; nil stands for
// all.
func (a *Admission) pinned(pin requirements.Set) bitset.Set {
	if pin.Len() == 0 {
		return nil
	}
	return a.cache.pins.of(pin.String(), func() bitset.Set {
		out := bitset.New(a.Domains.Total)
		for i := range a.p.Pools {
			if p := &a.p.Pools[i]; len(p.Options) > 0 {
				p.Window(out).Or(a.Domains.AdmittingAll(i, pin))
			}
		}
		return out
	})
}

// suitedTo returns, for each alternative of a class, the options whose labels
// and taints suit it.
func (a *Admission) suitedTo(c *workload.Class) []bitset.Set {
	out := make([]bitset.Set, len(c.Alternatives))
	for i, alt := range c.Alternatives {
		out[i] = bitset.New(a.Domains.Total)
		if c.Refusal == nil && workload.AdmitsNewNode(alt) {
			a.addMatching(out[i], c, alt, false)
			a.KeepUnheld(out[i], c)
			a.KeepFromDaemons(out[i], c)
			a.KeepBesideDaemons(out[i], c)
		}
	}
	return out
}

// addMatching adds the options whose labels and taints suit an alternative of
// a class, if certain is set whatever is left open.
func (a *Admission) addMatching(out bitset.Set, c *workload.Class, alt requirements.Alternative, certain bool) {
	for i := range a.p.Pools {
		p := &a.p.Pools[i]
		if len(p.Options) == 0 || len(model.Untolerated(p.Taints, c.Tolerations)) > 0 {
			continue
		}
		if certain {
			p.Window(out).Or(a.Domains.CertainAll(i, alt.Set))
			continue
		}
		here := p.All()
		for r := range alt.Set.All() {
			if Writable(r) {
				here.And(a.Domains.Admitting(i, r))
			} else {
				clear(here)
			}
		}
		p.Window(out).Or(here)
	}
}

// Writable says whether a label can be given a value that a requirement
// admits: no valid label value is below zero.
func Writable(r requirements.Requirement) bool {
	value, ok := r.Any()
	return !ok || r.AllowsAbsent() || len(validation.IsValidLabelValue(value)) == 0
}

// KeepUnheld removes the options where a daemon has what pods of a class hold of their
// node, such as a port. It returns these daemons.
func (a *Admission) KeepUnheld(options bitset.Set, c *workload.Class) []*workload.Daemon {
	if len(c.Holds) == 0 {
		return nil
	}
	return a.keepFrom(options, func(d *workload.Daemon) bool { return kinds.Clash(kinds.Held(d.Pod), c.Holds) })
}

// KeepFromDaemons removes the options where a daemon runs that pods of a class
// may not be with: it is on the node itself, so in every domain of it. It returns these daemons.
func (a *Admission) KeepFromDaemons(options bitset.Set, c *workload.Class) []*workload.Daemon {
	return a.keepFrom(options, func(d *workload.Daemon) bool { return d.KeepsAway(c) })
}

// keepFrom removes the options where some daemons run, and returns those that run on any.
func (a *Admission) keepFrom(options bitset.Set, some func(*workload.Daemon) bool) (out []*workload.Daemon) {
	var all bitset.Set
	for i := range a.p.Daemons {
		d := &a.p.Daemons[i]
		if !some(d) {
			continue
		}
		if all == nil {
			all = options.Clone()
		}
		options.AndNot(a.p.onDaemon[i])
		if all.Overlaps(a.p.onDaemon[i]) {
			out = append(out, d)
		}
	}
	return out
}

// KeepMinValues removes, under the Strict policy, the options of pools of which
// too few values are left for a node with one such pod.
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

// TraitOf is the trait of what a set asks of contested labels.
func (a *Admission) TraitOf(s requirements.Set) int32 { return a.p.Traits.Of(s) }

// Within says whether an amount of each resource is there.
func Within(request, capacity []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}
