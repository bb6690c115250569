package solve

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
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
	p      *compile.Problem
	ledger *ledger.Ledger
	left   int     // looks at nodes that it may still take
	order  []int32 // of the pods of the plan

	// What a node of its own for a pod must have room for beside it, and the options
	// that will do for that; nil for nothing.
	beside []int64
	lead   bitset.Set

	lowered int // one more than the class that is kept here
	class   pack.Class
	item    attempt.Item
}

// mostLooks bounds the work: looks at a node for a pod.
const mostLooks = 1_000_000

// insertRest places what it can of the pods without a place, by priority. They
// come last in the order of the plan, which so far holds without them. Where
// no constraint between pods had a say, the packer has left nothing to find.
func (a *assembler) insertRest(order []int32) []int32 {
	if len(a.p.Rules.Domain)+len(a.p.Rules.Node)+len(a.p.Extras.Attached.Ids) == 0 {
		return order
	}
	return a.insert(order)
}

// insert does so whatever constraints there are.
func (a *assembler) insert(order []int32) []int32 {
	g := &inserter{a: a, p: a.p, left: mostLooks, order: order}
	var classes []int
	for c := range g.p.Classes {
		class, waits := &g.p.Classes[c], a.s.Absent[c]
		if class.Refusal == nil && (!class.Headroom && !waits || waits && a.last) && slices.ContainsFunc(class.Pods, a.waits) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		return order
	}
	bins := a.bins()
	before := len(bins)
	g.ledger = ledger.New(g.p, bins)
	if a.s.Raised != nil || a.leant != nil {
		g.ledger.LeanAll()
	}
	slices.SortStableFunc(classes, func(x, y int) int {
		a, b := &g.p.Classes[x], &g.p.Classes[y]
		return cmp.Or(model.CompareBools(a.Headroom, b.Headroom), -cmp.Compare(a.Priority, b.Priority))
	})
	for again := true; again; {
		again = false
		for _, c := range classes {
			again = g.placeClass(c) || again
		}
	}
	for i := range a.bound {
		a.bound[i] = bins[i].PodIDs
	}
	a.new = append(a.new, g.ledger.Bins[before:]...)
	a.leant = g.ledger.LeantRules(a.leant)
	return g.order
}

// bins lists the nodes of the plan with what is on them: those that exist in
// the order of the problem, then the new ones.
func (a *assembler) bins() []*ledger.Bin {
	var out []*ledger.Bin
	for i := range a.p.Nodes {
		s := &ledger.Bin{Node: i, At: ledger.NodeLocations(a.p, &a.p.Nodes[i])}
		ledger.Vacate(a.p, s)
		for _, podID := range a.bound[i] {
			ledger.AddTo(a.p, s, a.p.ClassOf[podID], podID)
		}
		out = append(out, s)
	}
	for _, s := range a.new {
		podIDs := s.PodIDs
		s.At = ledger.BinTypeLocations(a.p, s.BinType)
		ledger.Vacate(a.p, s)
		for _, podID := range podIDs {
			ledger.AddTo(a.p, s, a.p.ClassOf[podID], podID)
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
	var last *ledger.Bin
	for _, podID := range g.p.Classes[c].Pods {
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
func (g *inserter) put(s *ledger.Bin, c int, podID int32) {
	g.ledger.Lean(c, s)
	ledger.AddTo(g.p, s, c, podID)
	g.ledger.Count(c, 1, s)
	g.a.placed[podID] = true
	g.order = append(g.order, podID)
	s.Late = true
}

// find returns the place for a pod of a class: a node that exists; one of the
// plan that costs no more for it, or least more; or a node of its own. It
// returns nil if there is none.
func (g *inserter) find(c int) *ledger.Bin {
	var best *ledger.Bin
	var bestBinType *ledger.BinType
	dearer := math.Inf(1)
	for _, s := range g.ledger.Bins {
		if s.Node >= 0 {
			if g.onto(s, c) {
				return s
			}
			continue
		}
		sh := g.narrowed(s, c, dearer)
		if sh == nil {
			continue
		}
		best, bestBinType, dearer = s, sh, sh.Price()-s.BinType.Price()
		if dearer <= 0 {
			break
		}
	}
	if dearer > 0 {
		if fresh := g.fresh(c); fresh != nil && (best == nil || fresh.BinType.Price() < dearer) {
			g.ledger.Open(fresh)
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
func (g *inserter) onto(s *ledger.Bin, c int) bool {
	if s.Node < 0 {
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
	n := &g.p.Nodes[s.Node]
	return compile.Within(g.takes(c, s), s.Free) && g.p.Admits(c, n) && g.ledger.Allows(c, s)
}

// takes is what a pod of a class takes of a bin, without slots: what these stand
// for is looked at itself.
func (g *inserter) takes(c int, s *ledger.Bin) []int64 {
	return g.p.Takes(c, s.Attached)[:len(g.p.Resources)]
}

// become makes a new node of another bin type.
func (g *inserter) become(s *ledger.Bin, sh *ledger.BinType) {
	s.BinType, s.At = sh, ledger.BinTypeLocations(g.p, sh)
	g.ledger.Reshaped(s)
}

// narrowed returns the bin type of a new node that takes a pod of a class as well, and
// costs less than some amount more for it; nil if there is none. It may become nothing
// that it could not be before, as the pods so far have been let in on that
// understanding.
func (g *inserter) narrowed(s *ledger.Bin, c int, limit float64) *ledger.BinType {
	if g.left <= 0 {
		return nil
	}
	g.left--
	takes := g.takes(c, s)
	if !s.BinType.MayHold(g.p, takes, s.Taken) || !ledger.ApartAllow(g.p.Rules, c, s.Apart) {
		return nil
	}
	sum, _ := attempt.Together(s.Taken[:len(g.p.Resources)], takes)
	if g.lowered != c+1 {
		g.class, g.item = attempt.Lower(g.p.Admission, c, requirements.Set{})
		g.lowered = c + 1
	}
	var best *ledger.BinType
	for i, v := range g.class.Variants {
		trait, ok := g.p.Traits.Merge(s.BinType.Pool, s.BinType.Trait, v.Trait)
		if !ok {
			continue
		}
		options := s.BinType.Options.Clone()
		options.And(v.Options)
		g.p.Pools[s.BinType.Pool].Window(options).And(g.p.Traits.Options(s.BinType.Pool, trait))
		options = spared(g.p, s.BinType.Pool, ledger.Holding(g.p, options, sum))
		price := ledger.Cheapest(g.p, s.BinType.Pool, options) // before the bin type is made, which takes far longer
		if price-s.BinType.Price() >= limit || best != nil && best.Price() <= price {
			continue
		}
		sh := g.shaped(s, options, trait, s.BinType.Asked.Intersect(g.item.Sources[i]))
		if sh == nil {
			continue
		}
		sh.Wide = widest(g.p, s.BinType, v.Options, trait)
		there := *s
		there.BinType, there.At = sh, ledger.BinTypeLocations(g.p, sh)
		if inside(there.At, s.At) && seenAlike(g.ledger, s, &there) && g.ledger.Allows(c, &there) {
			best = sh
		}
	}
	return best
}

// inside says whether a node that reaches at is nowhere where one that reaches
// before could not be.
func inside(at, before []ledger.Location) bool {
	for k := range at {
		if !at[k].Within(&before[k]) {
			return false
		}
	}
	return true
}

// seenAlike says whether no topology spread constraint looks at a node that was
// none of its nodes before: with a label that it did not have it may be one.
func seenAlike(l *ledger.Ledger, before, after *ledger.Bin) bool {
	for i := range l.Counts {
		if rule := &l.P.Rules.Domain[i]; rule.Rule.Key < 0 || rule.Kind != topology.Spread {
			continue
		}
		if may, _ := l.Looked(i, after); may {
			if may, _ = l.Looked(i, before); !may {
				return false
			}
		}
	}
	for class, n := range l.There {
		if n == 0 || l.P.Classes[class].Headroom {
			continue
		}
		for _, i := range l.HostsOf(class) {
			if h := &l.Hosts.Spreads[i]; !h.Looks[before.Number].May && ledger.LooksAtBinType(l.P, &h.Rule, after.BinType).May {
				return false
			}
		}
	}
	return true
}

// shaped returns a bin's bin type with fewer options, nil if these are too few.
func (g *inserter) shaped(s *ledger.Bin, options bitset.Set, trait int32, asked requirements.Set) *ledger.BinType {
	switch {
	case options.Empty() || asked.Impossible():
		return nil
	case options.Equal(s.BinType.Options):
	case !g.p.Choice(s.BinType.Pool, options, trait):
		return nil
	}
	return g.a.newBinType(s.BinType.Pool, options, trait, asked, s.BinType.Relaxed)
}

// extending returns those options of a new node that would make it a domain more to a
// spread by which some pod of the plan was let in only as no domain was empty.
func extending(l *ledger.Ledger, s *ledger.Bin) bitset.Set {
	out := bitset.New(len(l.P.LowOptions))
	for i := range l.Counts {
		rule, c := &l.P.Rules.Domain[i], &l.Counts[i]
		if rule.Rule.Key < 0 || rule.Kind != topology.Spread || !c.Placed || slices.Max(append(c.Most, 0)) <= rule.Skew {
			continue
		}
		if may, _ := l.Looked(i, s); !may {
			continue
		}
		for _, d := range s.At[rule.Rule.Key].Domains {
			if !c.Is[d] {
				out.Or(l.P.InPlace(rule.Rule.Key, d))
			}
		}
	}
	out.And(s.BinType.Options)
	return out
}
