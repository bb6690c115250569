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
		a.Suited = append(a.Suited, a.suitedTo(&p.Classes[c]))
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

// pinned returns the options that can satisfy a pin; nil means all.
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

// suitedTo returns, by alternative of a class, the options with suitable labels and taints.
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

// addMatching adds the options whose labels and taints suit an alternative of a class; with
// certain, whichever values open labels get.
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

// Writable says whether a requirement admits a valid label value, or absence. For example no valid
// value is below zero.
func Writable(r requirements.Requirement) bool {
	value, ok := r.Any()
	return !ok || r.AllowsAbsent() || len(validation.IsValidLabelValue(value)) == 0
}

// KeepUnheld removes the options on which a daemon uses something of the node that pods of the
// class need for themselves, such as a host port. It returns these daemons.
func (a *Admission) KeepUnheld(options bitset.Set, c *workload.Class) []*workload.Daemon {
	if len(c.Holds) == 0 {
		return nil
	}
	return a.keepFrom(options, func(d *workload.Daemon) bool { return kinds.Clash(kinds.Held(d.Pod), c.Holds) })
}

// KeepFromDaemons removes the options on which a daemon runs that anti-affinity separates from pods
// of a class. The daemon is in every domain of its node. It returns these daemons.
func (a *Admission) KeepFromDaemons(options bitset.Set, c *workload.Class) []*workload.Daemon {
	return a.keepFrom(options, func(d *workload.Daemon) bool { return d.KeepsAway(c) })
}

// keepFrom removes the options on which the daemons selected by some run, and returns the daemons
// that run on any of them.
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

// TraitOf returns the trait of the requirements of a set on contested labels.
func (a *Admission) TraitOf(s requirements.Set) int32 { return a.p.Traits.Of(s) }

// Within says whether capacity is at least the request for every resource.
func Within(request, capacity []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}
