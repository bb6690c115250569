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

// gleaner finds places for pods that were left over where constraints between
// pods were met for whole groups at a time. It goes pod by pod, by the checks of
// kube-scheduler, over the nodes that exist, those of the plan and nodes to be
// launched for one pod alone.
type gleaner struct {
	a      *assembler
	p      *Problem
	ledger *ledger
	left   int     // looks at nodes that it may still take
	order  []int32 // of the pods of the plan

	lowered int // one more than the class that is kept here
	class   pack.Class
	lot     lot
}

// mostLooks bounds the work: looks at a node for a pod.
const mostLooks = 1_000_000

// gleanRest places what it can of the pods without a place, by priority. They
// come last in the order of the plan, which so far holds without them. Where
// no constraint between pods had a say, the packer has left nothing to find.
func (a *assembler) gleanRest(order []int32) []int32 {
	if len(a.p.rules.domain)+len(a.p.rules.node)+len(a.p.extras.attached.ids) == 0 {
		return order
	}
	return a.glean(order)
}

// glean does so whatever constraints there are.
func (a *assembler) glean(order []int32) []int32 {
	g := &gleaner{a: a, p: a.p, left: mostLooks, order: order}
	var classes []int
	for c := range g.p.classes {
		if class := &g.p.classes[c]; class.refusal == nil && !class.virtual && slices.ContainsFunc(class.pods, a.waits) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return order
	}
	sites := a.sites()
	before := len(sites)
	g.ledger = newLedger(g.p, sites)
	if a.s.raised != nil {
		g.ledger.leanAll()
	}
	slices.SortStableFunc(classes, func(x, y int) int { return -cmp.Compare(g.p.classes[x].priority, g.p.classes[y].priority) })
	for again := true; again; {
		again = false
		for _, c := range classes {
			again = g.placeClass(c) || again
		}
	}
	for i := range a.bound {
		a.bound[i] = sites[i].ranks
	}
	a.new = append(a.new, g.ledger.sites[before:]...)
	a.leant = g.ledger.leantRules(a.leant)
	return g.order
}

// sites lists the nodes of the plan with what is on them: those that exist in
// the order of the problem, then the new ones.
func (a *assembler) sites() []*site {
	a.findClasses()
	var out []*site
	for i := range a.p.nodes {
		s := &site{node: i, at: a.p.nodeReaches(&a.p.nodes[i])}
		a.p.vacate(s)
		for _, rank := range a.bound[i] {
			a.p.addTo(s, a.classOf[rank], rank)
		}
		out = append(out, s)
	}
	for _, s := range a.new {
		ranks := s.ranks
		s.at = a.p.shapeReaches(s.shape)
		a.p.vacate(s)
		for _, rank := range ranks {
			a.p.addTo(s, a.classOf[rank], rank)
		}
		out = append(out, s)
	}
	return out
}

// waits says whether a pod has no place so far.
func (a *assembler) waits(rank int32) bool { return !a.placed[rank] }

// placeClass places the pods of a class that wait, until one finds no place, and says
// whether it placed any.
func (g *gleaner) placeClass(c int) bool {
	some := false
	var last *site
	for _, rank := range g.p.classes[c].pods {
		if !g.a.waits(rank) {
			continue
		}
		if last == nil || !g.onto(last, c) {
			if last = g.find(c); last == nil {
				return some
			}
		}
		g.put(last, c, rank)
		some = true
	}
	return some
}

// put places a pod on a site.
func (g *gleaner) put(s *site, c int, rank int32) {
	g.ledger.lean(c, s)
	g.p.addTo(s, c, rank)
	g.ledger.count(c, 1, s)
	g.a.placed[rank] = true
	g.order = append(g.order, rank)
	s.late = true
}

// find returns the place for a pod of a class: a node that exists; one of the
// plan that costs no more for it, or least more; or a node of its own. It
// returns nil if there is none.
func (g *gleaner) find(c int) *site {
	var best *site
	var bestShape *shape
	dearer := math.Inf(1)
	for _, s := range g.ledger.sites {
		if s.node >= 0 {
			if g.onto(s, c) {
				return s
			}
			continue
		}
		sh := g.narrowed(s, c)
		if sh == nil {
			continue
		}
		if more := sh.price() - s.shape.price(); more < dearer {
			best, bestShape, dearer = s, sh, more
		}
		if dearer <= 0 {
			break
		}
	}
	if dearer > 0 {
		if fresh := g.fresh(c); fresh != nil && (best == nil || fresh.shape.price() < dearer) {
			g.ledger.open(fresh)
			return fresh
		}
	}
	if best != nil {
		g.become(best, bestShape)
	}
	return best
}

// onto says whether a pod of a class may go to a site, which it makes ready for
// it if it is a new node and costs no more for it.
func (g *gleaner) onto(s *site, c int) bool {
	if s.node < 0 {
		sh := g.narrowed(s, c)
		if sh == nil || sh.price() > s.shape.price() {
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

// takes is what a pod of a class takes of a site, without seats: what these stand
// for is looked at itself.
func (g *gleaner) takes(c int, s *site) []int64 { return g.p.takes(c, s.attached)[:len(g.p.resources)] }

// become makes a new node of another shape.
func (g *gleaner) become(s *site, sh *shape) {
	s.shape, s.at = sh, g.p.shapeReaches(sh)
	g.ledger.reshaped(s)
}

// narrowed returns the shape of a new node that takes a pod of a class as well,
// nil if it cannot. It may become nothing that it could not be before, as the
// pods so far have been let in on that understanding.
func (g *gleaner) narrowed(s *site, c int) *shape {
	if g.left <= 0 {
		return nil
	}
	g.left--
	sum, ok := together(s.taken[:len(g.p.resources)], g.takes(c, s))
	if !ok || !s.shape.mayHold(g.p, sum) {
		return nil
	}
	if g.lowered != c+1 {
		g.class, g.lot = g.p.admission.lower(c, requirements.Set{})
		g.lowered = c + 1
	}
	var best *shape
	for i, v := range g.class.Variants {
		trait, ok := g.p.traits.Merge(s.shape.pool, s.shape.trait, v.Trait)
		if !ok {
			continue
		}
		options := s.shape.options.Clone()
		options.And(v.Options)
		options.And(g.p.traits.Options(s.shape.pool, trait))
		sh := g.shaped(s, g.p.spared(s.shape.pool, g.p.holding(options, sum)), trait, s.shape.asked.Intersect(g.lot.sources[i]))
		if sh == nil || best != nil && best.price() <= sh.price() {
			continue
		}
		there := *s
		there.shape, there.at = sh, g.p.shapeReaches(sh)
		if inside(there.at, s.at) && g.ledger.seenAlike(s, &there) && g.ledger.allows(c, &there) {
			best = sh
		}
	}
	return best
}

// inside says whether a node that reaches at is nowhere where one that reaches
// before could not be.
func inside(at, before []reach) bool {
	for k := range at {
		if !at[k].within(&before[k]) {
			return false
		}
	}
	return true
}

// seenAlike says whether no topology spread constraint looks at a node that was
// none of its nodes before: with a label that it did not have it may be one.
func (l *ledger) seenAlike(before, after *site) bool {
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
		if n == 0 || l.p.classes[class].virtual {
			continue
		}
		for _, i := range l.hostsOf(class) {
			if h := &l.hosts.spreads[i]; !h.looks[before.number].may && l.p.looksAtShape(&h.rule, after.shape).may {
				return false
			}
		}
	}
	return true
}

// shaped returns a site's shape with fewer options, nil if these are too few.
func (g *gleaner) shaped(s *site, options bitset.Set, trait int32, asked requirements.Set) *shape {
	switch {
	case options.Empty() || asked.Impossible():
		return nil
	case options.Equal(s.shape.options):
	case !g.p.choice(s.shape.pool, options, trait):
		return nil
	}
	return g.a.newShape(s.shape.pool, options, trait, asked, s.shape.relaxed)
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

// extends says whether a new node would be a domain more to a spread by which
// some pod of the plan was let in only as no domain was empty.
func (l *ledger) extends(s *site) bool {
	for i := range l.counts {
		rule, c := &l.p.rules.domain[i], &l.counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread || !c.placed || slices.Max(append(c.most, 0)) <= rule.Skew {
			continue
		}
		may, _ := l.looked(i, s)
		fresh := func(d int) bool { return !c.is[d] }
		if may && slices.ContainsFunc(s.at[rule.Rule.Key].domains, fresh) {
			return true
		}
	}
	return false
}
