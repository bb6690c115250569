package provisioning

import (
	"encoding/binary"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// admission works out which options each class may use. It is safe for
// concurrent use, as several goroutines may solve one Problem.
type admission struct {
	p       *Problem
	domains *domains
	traits  *traits
	open    map[string]bool // keys that some useful pool leaves open
	useful  []bool          // by pool: some class may go there
	suited  [][]bitset.Set  // by class and alternative: options by labels and taints
	asks    []int32         // by class: equal for those that ask the same of a node

	mu        sync.Mutex            // guards the rest
	fitting   map[string]bitset.Set // by request: options with room for one pod
	pins      map[string]bitset.Set // by text: the options that can have them
	low       map[int32]bitset.Set  // by ask, once asked for: the options that hold such a pod
	lowerings map[loweringKey]*lowering
	contents  map[string]int32 // numbers of lowerings
	kinds     map[string]int32 // numbers of sets of options
	looks     map[looksKey]bitset.Set
}

// looksKey is what decides at which options a spread rule looks.
type looksKey struct {
	ask             int32
	affinity, taint bool
	spans           string
	certain         bool
}

func newAdmission(p *Problem, d *domains) *admission {
	a := &admission{p: p, domains: d, open: map[string]bool{}, fitting: map[string]bitset.Set{}, pins: map[string]bitset.Set{},
		low: map[int32]bitset.Set{}, lowerings: map[loweringKey]*lowering{}, contents: map[string]int32{},
		kinds: map[string]int32{}, looks: map[looksKey]bitset.Set{}}
	a.useful, a.asks = usefulPools(p), a.numberAsks()
	asked := map[string]map[string]bool{} // by key: the texts
	for c := range p.classes {
		a.suited = append(a.suited, a.suitedTo(&p.classes[c]))
		for i, alt := range p.classes[c].alternatives {
			if a.suited[c][i].Empty() {
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
	for _, key := range p.table.keys {
		key = p.vocabulary.NormalizeKey(key)
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
	a.traits = newTraits(d, contested, p.minValues)
	return a
}

// usefulPools says which pools have options and are tolerated by some class.
// The others must have no say in what is open.
func usefulPools(p *Problem) []bool {
	out := make([]bool, len(p.pools))
	for i := range p.pools {
		out[i] = len(p.pools[i].options) > 0 && slices.ContainsFunc(p.classes, func(c class) bool {
			return c.refusal == nil && len(untolerated(p.pools[i].taints, c.tolerations)) == 0
		})
	}
	return out
}

func (a *admission) isOpen(key string) bool {
	for i := range a.p.pools {
		if a.useful[i] && a.domains.of(i, key).free {
			return true
		}
	}
	return false
}

// countsValues says whether some pool wants several values of a label. What a
// class asks of it then narrows what is counted.
func (a *admission) countsValues(key string) bool {
	for i := range a.p.pools {
		for _, r := range a.p.pools[i].minValues {
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
func (a *admission) touchesOpen(s requirements.Set, options bitset.Set) bool {
	for r := range s.All() {
		if !a.open[r.Key()] {
			continue
		}
		for i := range a.p.pools {
			p := &a.p.pools[i]
			if !a.domains.of(i, r.Key()).free {
				continue
			}
			if p.all().Overlaps(p.window(options)) {
				return true
			}
		}
	}
	return false
}

// pinned returns the options that can have what a pin asks for; nil stands for
// all.
func (a *admission) pinned(pin requirements.Set) bitset.Set {
	if pin.Len() == 0 {
		return nil
	}
	text := pin.String()
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.pins[text]; ok {
		return known
	}
	out := bitset.New(a.domains.total)
	for i := range a.p.pools {
		p := &a.p.pools[i]
		if len(p.options) == 0 {
			continue
		}
		p.window(out).Or(a.domains.admittingAll(i, pin))
	}
	a.pins[text] = out
	return out
}

// admitsNewNode says whether an alternative can be met by a node whose name is
// not known yet.
func admitsNewNode(alt requirements.Alternative) bool {
	return alt.NodeNames == nil || alt.NodeNames.Has(newHostname)
}

// suitedTo returns, for each alternative of a class, the options whose labels
// and taints suit it.
func (a *admission) suitedTo(c *class) []bitset.Set {
	out := make([]bitset.Set, len(c.alternatives))
	for i, alt := range c.alternatives {
		out[i] = bitset.New(a.domains.total)
		if c.refusal == nil && admitsNewNode(alt) {
			a.addMatching(out[i], c, alt, false)
			a.keepPorts(out[i], c)
			a.keepFromDaemons(out[i], c)
		}
	}
	return out
}

// addMatching adds the options whose labels and taints suit an alternative of
// a class, if certain is set whatever is left open.
func (a *admission) addMatching(out bitset.Set, c *class, alt requirements.Alternative, certain bool) {
	for i := range a.p.pools {
		p := &a.p.pools[i]
		if len(p.options) == 0 || len(untolerated(p.taints, c.tolerations)) > 0 {
			continue
		}
		here := p.all()
		for r := range alt.Set.All() {
			if certain {
				here.And(a.domains.certain(i, r))
			} else if writable(r) {
				here.And(a.domains.admitting(i, r))
			} else {
				clear(here)
			}
		}
		p.window(out).Or(here)
	}
}

// writable says whether a label can be given a value that a requirement
// admits: no valid label value is below zero.
func writable(r requirements.Requirement) bool {
	value, ok := r.Any()
	return !ok || r.AllowsAbsent() || len(validation.IsValidLabelValue(value)) == 0
}

// keepPorts removes the options where a daemon binds a port that pods of a
// class bind, or has a disk of theirs.
func (a *admission) keepPorts(options bitset.Set, c *class) {
	if len(c.ports) == 0 {
		return
	}
	for i := range a.p.daemons {
		if portsClash(held(a.p.daemons[i].pod), c.ports) {
			options.AndNot(a.p.onDaemon[i])
		}
	}
}

// keepFromDaemons removes the options where a daemon runs that pods of a class
// may not be with: it is on the node itself, so in every domain of it.
func (a *admission) keepFromDaemons(options bitset.Set, c *class) {
	for i := range a.p.daemons {
		if a.p.daemons[i].keepsAway(c) {
			options.AndNot(a.p.onDaemon[i])
		}
	}
}

// keepMinValues removes, under the Strict policy, the options of pools of which
// too few values are left for a node with one such pod.
func (a *admission) keepMinValues(options bitset.Set, trait int32) {
	if a.p.opts.MinValues == BestEffort {
		return
	}
	for i := range a.p.pools {
		p := &a.p.pools[i]
		for m, mv := range a.p.minValues[i] {
			here := p.all()
			here.And(p.window(options))
			if mv.MinValue.Distinct(p.first-bitset.Base(p.first), here, a.traits.Values(i, m, trait)) < mv.Need {
				p.window(options).AndNot(here)
				break
			}
		}
	}
}

// fits returns the options with room for one pod of the given request.
func (a *admission) fits(request []int64) bitset.Set {
	key := make([]byte, 0, 8*len(request))
	for _, n := range request {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.fitting[string(key)]; ok {
		return known
	}
	out := bitset.New(a.domains.total)
	out.AddRange(0, a.domains.total)
	a.p.distinct.KeepHolding(out, request, bitset.New(a.domains.total))
	a.fitting[string(key)] = out
	return out
}

// within says whether an amount of each resource is there.
func within(request, capacity []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}
