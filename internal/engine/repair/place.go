package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// placer judges where a pod may go, by the checks of kube-scheduler: onto a node that
// exists, onto one of the plan, which then names fewer options, or onto a node to be
// launched for it alone.
type placer struct {
	st     *State
	p      *compile.Problem
	ledger *ledger.Ledger
	left   int // looks at nodes that it may still take

	// What a node of its own for a pod must have room for beside it, and the options
	// that will do for that; nil for nothing.
	beside []int64
	lead   bitset.Set

	// Of a look at a node: options, more of them, and what all of its pods take.
	scratch, spare bitset.Set
	sum            []int64
}

// onto says whether a pod of a class may go to a bin, which it makes ready for
// it if it is a new node and costs no more for it.
func (g *placer) onto(s *ledger.Bin, c int) bool {
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
func (g *placer) takes(c int, s *ledger.Bin) []int64 {
	return g.p.OfResources(g.p.Takes(c, s.Attached))
}

// become makes a new node of another bin type.
func (g *placer) become(s *ledger.Bin, sh *ledger.BinType) {
	g.ledger.Become(s, sh)
}

// put places a pod of a class on a bin, after all that are counted.
func (g *placer) put(s *ledger.Bin, c int, podID int32) {
	g.ledger.RecordReliance(c, s)
	ledger.AddTo(g.p, s, c, podID)
	g.ledger.Count(c, 1, s)
	s.Late = true
}

// narrowed returns the bin type of a new node that takes a pod of a class as well, and
// costs less than some amount more for it; nil if there is none. It may become nothing
// that it could not be before, as the pods so far have been let in on that
// understanding.
func (g *placer) narrowed(s *ledger.Bin, c int, limit float64) *ledger.BinType {
	return g.narrowedTo(s, c, g.st.anywhere(c), limit)
}

// narrowedTo returns such a bin type of one of the variants that the class has somewhere.
func (g *placer) narrowedTo(s *ledger.Bin, c int, low *lowered, limit float64) *ledger.BinType {
	if g.left <= 0 {
		return nil
	}
	g.left--
	takes := g.takes(c, s)
	if !s.BinType.MayHold(g.p, takes, s.Taken) || !ledger.NodeAllows(g.p.Rules, c, s.Apart) {
		return nil
	}
	sum := g.together(s, takes)
	pool := s.BinType.Pool
	var best *ledger.BinType
	for i, v := range low.class.Variants {
		trait, ok := g.p.Traits.Merge(pool, s.BinType.Trait, v.Trait)
		if !ok {
			continue
		}
		g.scratch = append(g.scratch[:0], s.BinType.Options...)
		options := g.scratch
		options.And(v.Options)
		g.p.Pools[pool].Window(options).And(g.p.Traits.Options(pool, trait))
		dear := func(price float64) bool {
			return price-s.BinType.Price() >= limit || best != nil && best.Price() <= price
		}
		first := ledger.FirstHolding(g.p, options, g.p.OfResources(sum))
		if first < 0 || dear(g.p.Option(first).Offering.Price) {
			continue // before anything is made, which takes far longer
		}
		g.p.Distinct.KeepHoldingIn(pool, options, sum, g.spare)
		options = spared(g.p, pool, options)
		if sh := g.narrowedIn(s, c, options, trait, s.BinType.Asked.Intersect(low.item.Sources[i]), dear); sh != nil {
			sh.Wide = widest(g.p, s.BinType, v.Options, trait)
			best = sh
		}
	}
	return best
}

// narrowedIn returns the bin type of a new node with some of its options that takes a pod of a
// class as well, in the cheapest cell where constraints between pods allow it; nil if there is
// none, or only one that is too dear.
func (g *placer) narrowedIn(s *ledger.Bin, c int, options bitset.Set, trait int32, asked requirements.Set, dear func(price float64) bool) *ledger.BinType {
	parts, asks := []compile.Part{{Options: options}}, []requirements.Set{asked}
	if open := openKeys(s.At, g.ledger.KeysOfCell(c)); len(open) > 0 {
		parts, asks = g.st.cellsOf(options, asked, open)
	}
	for i := range parts {
		options := parts[i].Options
		if len(parts) > 1 {
			options = spared(g.p, s.BinType.Pool, options)
		}
		if dear(ledger.Cheapest(g.p, s.BinType.Pool, options)) {
			continue
		}
		sh := g.shaped(s, options, trait, asks[i])
		if sh == nil {
			continue
		}
		if inside(ledger.BinTypeLocations(g.p, sh), s.At) && g.ledger.AllowsAs(c, s, sh) {
			return sh
		}
	}
	return nil
}

// together is what the pods of a new node take with a further one. The next look
// overwrites it.
func (g *placer) together(s *ledger.Bin, takes []int64) []int64 {
	if g.sum == nil {
		g.sum = make([]int64, len(g.p.Resources)+len(g.p.Rules.Slots))
		g.spare = bitset.New(len(g.p.LowOptions))
	}
	copy(g.sum, g.p.OfResources(s.Taken))
	for r, n := range takes {
		g.sum[r] += n
	}
	return g.sum
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

// shaped returns a bin's bin type with fewer options, nil if these are too few.
func (g *placer) shaped(s *ledger.Bin, options bitset.Set, trait int32, asked requirements.Set) *ledger.BinType {
	switch {
	case options.Empty() || asked.Impossible():
		return nil
	case options.Equal(s.BinType.Options) && trait == s.BinType.Trait && asked.Equal(s.BinType.Asked):
		return g.st.again(s.BinType)
	case options.Equal(s.BinType.Options) && (trait == s.BinType.Trait || s.BinType.Relaxed):
	case !g.p.Choice(s.BinType.Pool, options, trait):
		return nil
	}
	return g.st.NewBinType(s.BinType.Pool, options, trait, asked, s.BinType.Relaxed)
}
