package provisioning

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// inserter finds places for pods that were left over where constraints between
// pods were met for whole groups at a time. It goes pod by pod, by the checks of
// kube-scheduler, over the nodes that exist, those of the plan and nodes to be
// launched for one pod alone.
type inserter struct {
	a      *assembler
	p      *Problem
	ledger *ledger
	left   int     // looks at nodes that it may still take
	order  []int32 // of the pods of the plan

	// What a node of its own for a pod must have room for beside it, and the options
	// that will do for that; nil for nothing.
	beside []int64
	lead   bitset.Set

	lowered int // one more than the class that is kept here
	class   pack.Class
	item    item
}

// mostLooks bounds the work: looks at a node for a pod.
const mostLooks = 1_000_000

// insertRest places what it can of the pods without a place, by priority. They
// come last in the order of the plan, which so far holds without them. Where
// no constraint between pods had a say, the packer has left nothing to find.
func (a *assembler) insertRest(order []int32) []int32 {
	if len(a.p.rules.domain)+len(a.p.rules.node)+len(a.p.extras.attached.ids) == 0 {
		return order
	}
	return a.insert(order)
}

// insert does so whatever constraints there are.
func (a *assembler) insert(order []int32) []int32 {
	g := &inserter{a: a, p: a.p, left: mostLooks, order: order}
	var classes []int
	for c := range g.p.classes {
		class, waits := &g.p.classes[c], a.s.absent[c]
		if class.refusal == nil && (!class.headroom && !waits || waits && a.last) && slices.ContainsFunc(class.pods, a.waits) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return order
	}
	bins := a.bins()
	before := len(bins)
	g.ledger = newLedger(g.p, bins)
	if a.s.raised != nil || a.leant != nil {
		g.ledger.leanAll()
	}
	slices.SortStableFunc(classes, func(x, y int) int {
		a, b := &g.p.classes[x], &g.p.classes[y]
		return cmp.Or(compareBools(a.headroom, b.headroom), -cmp.Compare(a.priority, b.priority))
	})
	for again := true; again; {
		again = false
		for _, c := range classes {
			again = g.placeClass(c) || again
		}
	}
	for i := range a.bound {
		a.bound[i] = bins[i].podIDs
	}
	a.new = append(a.new, g.ledger.bins[before:]...)
	a.leant = g.ledger.leantRules(a.leant)
	return g.order
}

// bins lists the nodes of the plan with what is on them: those that exist in
// the order of the problem, then the new ones.
func (a *assembler) bins() []*bin {
	a.findClasses()
	var out []*bin
	for i := range a.p.nodes {
		s := &bin{node: i, at: a.p.nodeLocations(&a.p.nodes[i])}
		a.p.vacate(s)
		for _, podID := range a.bound[i] {
			a.p.addTo(s, a.classOf[podID], podID)
		}
		out = append(out, s)
	}
	for _, s := range a.new {
		podIDs := s.podIDs
		s.at = a.p.binTypeLocations(s.binType)
		a.p.vacate(s)
		for _, podID := range podIDs {
			a.p.addTo(s, a.classOf[podID], podID)
		}
		out = append(out, s)
	}
	return out
}

// waits says whether a pod has no place so far.
func (a *assembler) waits(podID int32) bool { return !a.placed[podID] }

// placeClass places the pods of a class that wait, until one finds no place, and says
// whether it placed any.
func (g *inserter) placeClass(c int) bool {
	some := false
	var last *bin
	for _, podID := range g.p.classes[c].pods {
		if !g.a.waits(podID) {
			continue
		}
		if last == nil || !g.onto(last, c) {
			if last = g.find(c); last == nil {
				return some
			}
		}
		g.put(last, c, podID)
		some = true
	}
	return some
}

// put places a pod on a bin.
func (g *inserter) put(s *bin, c int, podID int32) {
	g.ledger.lean(c, s)
	g.p.addTo(s, c, podID)
	g.ledger.count(c, 1, s)
	g.a.placed[podID] = true
	g.order = append(g.order, podID)
	s.late = true
}

// find returns the place for a pod of a class: a node that exists; one of the
// plan that costs no more for it, or least more; or a node of its own. It
// returns nil if there is none.
func (g *inserter) find(c int) *bin {
	var best *bin
	var bestBinType *binType
	dearer := math.Inf(1)
	for _, s := range g.ledger.bins {
		if s.node >= 0 {
			if g.onto(s, c) {
				return s
			}
			continue
		}
		sh := g.narrowed(s, c, dearer)
		if sh == nil {
			continue
		}
		best, bestBinType, dearer = s, sh, sh.price()-s.binType.price()
		if dearer <= 0 {
			break
		}
	}
	if dearer > 0 {
		if fresh := g.fresh(c); fresh != nil && (best == nil || fresh.binType.price() < dearer) {
			g.ledger.open(fresh)
			return fresh
		}
	}
	if best != nil {
		g.become(best, bestBinType)
	}
	return best
}

// onto says whether a pod of a class may go to a bin, which it makes ready for
// it if it is a new node and costs no more for it.
func (g *inserter) onto(s *bin, c int) bool {
	if s.node < 0 {
		sh := g.narrowed(s, c, math.SmallestNonzeroFloat64)
		if sh == nil {
			return false
		}
		g.become(s, sh)
		return true
	}
	if g.left <= 0 {
		return false
	}
	g.left--
	n := &g.p.nodes[s.node]
	return within(g.takes(c, s), s.free) && g.p.admits(c, n) && g.ledger.allows(c, s)
}

// takes is what a pod of a class takes of a bin, without slots: what these stand
// for is looked at itself.
func (g *inserter) takes(c int, s *bin) []int64 { return g.p.takes(c, s.attached)[:len(g.p.resources)] }

// become makes a new node of another bin type.
func (g *inserter) become(s *bin, sh *binType) {
	s.binType, s.at = sh, g.p.binTypeLocations(sh)
	g.ledger.reshaped(s)
}

// narrowed returns the bin type of a new node that takes a pod of a class as well, and
// costs less than some amount more for it; nil if there is none. It may become nothing
// that it could not be before, as the pods so far have been let in on that
// understanding.
func (g *inserter) narrowed(s *bin, c int, limit float64) *binType {
	if g.left <= 0 {
		return nil
	}
	g.left--
	takes := g.takes(c, s)
	if !s.binType.mayHold(g.p, takes, s.taken) || !g.p.rules.apartAllow(c, s.apart) {
		return nil
	}
	sum, _ := together(s.taken[:len(g.p.resources)], takes)
	if g.lowered != c+1 {
		g.class, g.item = g.p.admission.lower(c, requirements.Set{})
		g.lowered = c + 1
	}
	var best *binType
	for i, v := range g.class.Variants {
		trait, ok := g.p.traits.Merge(s.binType.pool, s.binType.trait, v.Trait)
		if !ok {
			continue
		}
		options := s.binType.options.Clone()
		options.And(v.Options)
		g.p.pools[s.binType.pool].window(options).And(g.p.traits.Options(s.binType.pool, trait))
		options = g.p.spared(s.binType.pool, g.p.holding(options, sum))
		price := g.p.cheapest(s.binType.pool, options) // before the bin type is made, which takes far longer
		if price-s.binType.price() >= limit || best != nil && best.price() <= price {
			continue
		}
		sh := g.shaped(s, options, trait, s.binType.asked.Intersect(g.item.sources[i]))
		if sh == nil {
			continue
		}
		sh.wide = g.p.widest(s.binType, v.Options, trait)
		there := *s
		there.binType, there.at = sh, g.p.binTypeLocations(sh)
		if inside(there.at, s.at) && g.ledger.seenAlike(s, &there) && g.ledger.allows(c, &there) {
			best = sh
		}
	}
	return best
}

// inside says whether a node that reaches at is nowhere where one that reaches
// before could not be.
func inside(at, before []location) bool {
	for k := range at {
		if !at[k].within(&before[k]) {
			return false
		}
	}
	return true
}

// seenAlike says whether no topology spread constraint looks at a node that was
// none of its nodes before: with a label that it did not have it may be one.
func (l *ledger) seenAlike(before, after *bin) bool {
	for i := range l.counts {
		if rule := &l.p.rules.domain[i]; rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		if may, _ := l.looked(i, after); may {
			if may, _ = l.looked(i, before); !may {
				return false
			}
		}
	}
	for class, n := range l.there {
		if n == 0 || l.p.classes[class].headroom {
			continue
		}
		for _, i := range l.hostsOf(class) {
			if h := &l.hosts.spreads[i]; !h.looks[before.number].may && l.p.looksAtBinType(&h.rule, after.binType).may {
				return false
			}
		}
	}
	return true
}

// shaped returns a bin's bin type with fewer options, nil if these are too few.
func (g *inserter) shaped(s *bin, options bitset.Set, trait int32, asked requirements.Set) *binType {
	switch {
	case options.Empty() || asked.Impossible():
		return nil
	case options.Equal(s.binType.options):
	case !g.p.choice(s.binType.pool, options, trait):
		return nil
	}
	return g.a.newBinType(s.binType.pool, options, trait, asked, s.binType.relaxed)
}

// choice says whether some options show as many values as their pool demands.
func (p *Problem) choice(pool int, options bitset.Set, trait int32) bool {
	for m := range p.minValues[pool] {
		mv := &p.minValues[pool][m].MinValue
		if mv.Distinct(p.pools[pool].first, options, p.traits.Values(pool, m, trait)) < mv.Need {
			return false
		}
	}
	return true
}

// extending returns those options of a new node that would make it a domain more to a
// spread by which some pod of the plan was let in only as no domain was empty.
func (l *ledger) extending(s *bin) bitset.Set {
	out := bitset.New(len(l.p.lowOptions))
	for i := range l.counts {
		rule, c := &l.p.rules.domain[i], &l.counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread || !c.placed || slices.Max(append(c.most, 0)) <= rule.Skew {
			continue
		}
		if may, _ := l.looked(i, s); !may {
			continue
		}
		for _, d := range s.at[rule.Rule.Key].domains {
			if !c.is[d] {
				out.Or(l.p.inPlace(rule.Rule.Key, d))
			}
		}
	}
	out.And(s.binType.options)
	return out
}
