package provisioning

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// What a new node takes of the limits of its pool is set aside as it is bought: what
// the option takes that it is bought as. With options that take more it would have to
// be more, and there might be none left for other nodes. So nodes keep to what was set
// aside until all have been bought; then they share what is left over, and get back
// the options that it bears.

// bindable says whether the new nodes of a pool can reach its limits at all, whatever
// they are launched as: none is without a pod.
func (p *Problem) bindable(i int) bool {
	most := p.catalog.mostUses[i]
	for r, left := range p.pools[i].remaining {
		if r < len(most) && most[r] > 0 && left/most[r] < int64(len(p.pods)) {
			return true
		}
	}
	return false
}

// mostOf is the most that any of some launches takes of each limit.
func mostOf(uses [][]int64) []int64 {
	var most []int64
	for j, use := range uses {
		if j == 0 {
			most = slices.Clone(use)
		}
		for r, n := range use {
			most[r] = max(most[r], n)
		}
	}
	return most
}

// widest are the options that a new node which takes a pod as well could have but for
// limits, given those that suit the pod.
func (p *Problem) widest(s *binType, suited bitset.Set, trait int32) bitset.Set {
	if s.wide == nil {
		return nil
	}
	out := s.wide.Clone()
	out.And(suited)
	p.pools[s.pool].window(out).And(p.traits.Options(s.pool, trait))
	return out
}

// widestAlone are the options that a new node for a pod alone could have but for
// limits and reservations, given those that suit the pod.
func (p *Problem) widestAlone(pool int, suited bitset.Set) bitset.Set {
	low := &p.lowPools[pool]
	if low.Limits == nil {
		return nil
	}
	out := bitset.New(len(p.lowOptions))
	out.AddRange(low.First, low.Last)
	out.And(suited)
	for o := range out.All() {
		if p.lowOptions[o].Reservation != 0 {
			out.Remove(o)
		}
	}
	return out
}

// widener gives new nodes more options.
type widener struct {
	a       *assembler
	p       *Problem
	spreads []domainRule          // the topology spread constraints
	known   map[string]bitset.Set // by bin type and pods: what a node could be

	pool  *pack.Pool
	left  []int64 // of each limit of the pool
	alike []alike
}

// alike are new nodes of one bin type that can have the same options.
type alike struct {
	bins    []*bin
	full    bitset.Set // that they can have as far as all but limits goes
	options bitset.Set // that they have
	uses    []int64    // the most that any of those takes of each limit
}

// widen gives new nodes back the options that the limits of their pools bear. In no
// other respect does a node become what it could not be before.
func (a *assembler) widen() {
	if !slices.ContainsFunc(a.new, func(s *bin) bool { return s.binType.wide != nil }) {
		return
	}
	a.bins() // counts the pods of each
	w := &widener{a: a, p: a.p, spreads: a.p.spreads(), known: map[string]bitset.Set{}}
	for i := range a.p.lowPools {
		if w.pool = &a.p.lowPools[i]; w.pool.Limits == nil {
			continue
		}
		w.read(i)
		for range mostWidenings {
			if !w.share() {
				break
			}
		}
		w.fill()
		w.settle()
	}
}

// mostWidenings bounds how often what is left is shared out.
const mostWidenings = 8

// read finds the new nodes of a pool that can have more options, and what is left of
// its limits.
func (w *widener) read(pool int) {
	type key struct {
		binType *binType
		full    string
	}
	index := map[key]int{}
	w.left, w.alike = slices.Clone(w.pool.Limits), nil
	for _, s := range w.a.new {
		if s.binType.pool != pool {
			continue
		}
		uses := mostUses(w.pool, s.binType.options)
		subtract(w.left, uses)
		full := w.couldBe(s)
		if full == nil || full.Equal(s.binType.options) {
			continue
		}
		id := key{s.binType, full.Key()}
		i, known := index[id]
		if !known {
			i = len(w.alike)
			index[id] = i
			w.alike = append(w.alike, alike{full: full, options: s.binType.options, uses: uses})
		}
		w.alike[i].bins = append(w.alike[i].bins, s)
	}
	for r := range w.left {
		w.left[r] = max(w.left[r], 0)
	}
}

// share gives all nodes an even share of what is left, and says whether one made use
// of it.
func (w *widener) share() bool {
	nodes := 0
	for i := range w.alike {
		if !w.alike[i].options.Equal(w.alike[i].full) {
			nodes += len(w.alike[i].bins)
		}
	}
	if nodes == 0 {
		return false
	}
	some, each := false, w.each(nodes)
	for i := range w.alike {
		some = w.grow(&w.alike[i], each) || some
	}
	return some
}

// fill gives what is too little for all to some, one after the other.
func (w *widener) fill() {
	var grown []alike
	for i := range w.alike {
		g := &w.alike[i]
		for n := len(g.bins); n > 0; n = min(n/2, len(g.bins)) {
			some := *g
			some.bins = g.bins[:n]
			if w.grow(&some, w.each(n)) {
				grown, g.bins = append(grown, some), g.bins[n:]
			}
		}
	}
	w.alike = append(w.alike, grown...)
}

// each is an even share of what is left for a number of nodes.
func (w *widener) each(nodes int) []int64 {
	out := make([]int64, len(w.left))
	for r, n := range w.left {
		out[r] = n / int64(nodes)
	}
	return out
}

// grow gives nodes the options that take no more of the limits than they do already
// and a share of what is left, and says whether that is of use.
func (w *widener) grow(g *alike, each []int64) bool {
	most := make([]int64, len(each))
	for r := range most {
		most[r] = g.uses[r] + min(each[r], math.MaxInt64-g.uses[r])
	}
	options := g.full.Clone()
	w.pool.Levels.KeepWithin(options, most, bitset.New(len(w.p.lowOptions)))
	options.Or(g.options)
	if options.Equal(g.options) {
		return false
	}
	uses := mostUses(w.pool, options)
	for r := range uses {
		w.left[r] -= (uses[r] - g.uses[r]) * int64(len(g.bins))
	}
	g.options, g.uses = options, uses
	return true
}

// settle makes the nodes what they can be.
func (w *widener) settle() {
	for i := range w.alike {
		g := &w.alike[i]
		if len(g.bins) == 0 {
			continue
		}
		from := g.bins[0].binType
		if g.options.Equal(from.options) {
			continue
		}
		relaxed := from.relaxed && !w.p.choice(from.pool, g.options, from.trait)
		wider := w.a.newBinType(from.pool, g.options, from.trait, from.asked, relaxed)
		if !w.seenAlike(from, wider) {
			continue
		}
		for _, s := range g.bins {
			s.binType = wider
		}
	}
}

// couldBe are the options that a new node can have as far as all but limits goes, nil
// if it has what it can: they suit its pods and have room for them, and leave open
// nothing that constraints between pods look at and its options do not.
func (w *widener) couldBe(s *bin) bitset.Set {
	if s.binType.wide == nil {
		return nil
	}
	id := binary.AppendVarint(nil, int64(s.binType.id))
	for _, m := range s.pods {
		id = binary.AppendVarint(binary.AppendVarint(id, int64(m.class)), int64(m.count))
	}
	for _, volume := range s.attached {
		id = binary.AppendVarint(id, int64(volume))
	}
	out, known := w.known[string(id)]
	if !known {
		out = w.workOut(s)
		w.known[string(id)] = out
	}
	return out
}

func (w *widener) workOut(s *bin) bitset.Set {
	p, from := w.p, s.binType
	out := from.wide.Clone()
	for _, m := range s.pods {
		suited := p.suitedBeside(m.class, from)
		if suited == nil {
			return nil
		}
		out.And(suited)
	}
	sum := slices.Clone(s.taken)
	clear(sum[len(p.resources):]) // slots are alike on all options
	p.distinct.KeepHolding(out, sum, bitset.New(len(p.lowOptions)))
	if (p.opts.CapacityMix != nil || p.flexible != nil) && !p.maySpot(from.options) {
		out = p.steadyOptions(out)
	}
	w.keepSeen(out, from)
	out.Or(from.options)
	return out
}

// suitedBeside are the options that suit a class by the alternative by which its pods
// are on new nodes of a bin type, nil if it is not known which that is.
func (p *Problem) suitedBeside(c int, s *binType) bitset.Set {
	class, _ := p.admission.lower(c, requirements.Set{})
	for _, v := range class.Variants {
		if both, ok := p.traits.Merge(s.pool, s.trait, v.Trait); ok && both == s.trait && s.options.SubsetOf(v.Options) {
			return v.Options
		}
	}
	return nil
}

// keepSeen removes the options that are in other domains than new nodes of a bin type
// may be, or that topology spread looks at otherwise than at these.
func (w *widener) keepSeen(options bitset.Set, s *binType) {
	p := w.p
	at := p.binTypeLocations(s)
	for k := range at {
		here := bitset.New(len(p.lowOptions))
		for _, d := range at[k].domains {
			here.Or(p.inPlace(k, d))
		}
		if at[k].lacks {
			here.Or(p.finder.lacking[k])
		}
		options.And(here)
	}
	for i := range w.spreads {
		switch seen := p.looksAtBinType(&w.spreads[i], s); {
		case seen.sure:
			options.And(p.lookedAt(&w.spreads[i], true))
		case !seen.may:
			options.AndNot(p.lookedAt(&w.spreads[i], false))
		}
	}
}

// seenAlike says whether new nodes of one bin type are where those of another may be, and
// topology spread looks at both alike.
func (w *widener) seenAlike(a, b *binType) bool {
	for i := range w.spreads {
		x, y := w.p.looksAtBinType(&w.spreads[i], a), w.p.looksAtBinType(&w.spreads[i], b)
		if x.may != y.may || x.sure != y.sure {
			return false
		}
	}
	return inside(w.p.binTypeLocations(b), w.p.binTypeLocations(a))
}

// spreads lists the topology spread constraints, over domains and over nodes.
func (p *Problem) spreads() []domainRule {
	var out []domainRule
	for i := range p.rules.domain {
		if rule := &p.rules.domain[i]; rule.Rule.Key >= 0 && rule.Kind == topology.Spread {
			out = append(out, *rule)
		}
	}
	return append(out, slices.Concat(p.hostSpreads()...)...)
}
