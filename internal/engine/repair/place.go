package repair

import (
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// placer decides where a pod may go, by the checks of kube-scheduler: to an existing node, to a new
// node of the plan, which then has fewer options, or to a node launched for it alone.
type placer struct {
	st     *State
	p      *compile.Problem
	ledger *ledger.Ledger
	left   int // how many more times it may try a node

	// For a pod that gets a node of its own: extra is the room that the node must have for further
	// pods, and lead the options that suit these pods; nil for none. plain leaves out the pod's
	// preferences.
	extra []int64
	lead  bitset.Set
	plain bool

	withoutRules bool // constraints between pods are left out

	// Scratch space of narrowed: two sets of options, and what all pods of a node use.
	scratch, spare bitset.Set
	sum            []int64

	candidate ledger.Bin // the last result of launch
}

// onto says whether a pod of a class may go to a bin. A new node that can take it at no higher cost
// is narrowed to the options that suit the pod.
func (g *placer) onto(s *ledger.Bin, c int) bool {
	if s.Node < 0 {
		sh := g.narrowed(s, c, math.SmallestNonzeroFloat64)
		if sh == nil {
			return false
		}
		g.ledger.Become(s, sh)
		return true
	}
	if g.left <= 0 {
		return false
	}
	g.left--
	n := &g.p.Nodes[s.Node]
	return compile.Within(g.takes(c, s), s.Free) && g.p.Admits(c, n) && (g.withoutRules || g.ledger.Allows(c, s))
}

// HasPlaceWithoutRules says whether a pod of a class would have a place if there were no constraints
// between pods: on one of the nodes that a ledger counts, or on a new node. at is the index of the
// cell in which the place must be, among those of the class; if it is negative, any place will do.
func (st *State) HasPlaceWithoutRules(l *ledger.Ledger, c, at int) bool {
	g := placer{st: st, p: st.p, ledger: l, left: math.MaxInt, plain: true, withoutRules: true}
	var keys, domains []int
	in := []cell{{}}
	if at >= 0 {
		keys, domains, in = st.p.Table.Numbers(st.p.Rules.ByClass[c].Spans), st.p.Cells[c][at].At, st.cells(c)[at:at+1]
	}
	for _, s := range l.Bins {
		if s.Node < 0 {
			if g.narrowedTo(s, c, st.plainIn(c, &in[0]), math.Inf(1)) != nil {
				return true
			}
		} else if compile.IsAt(&st.p.Nodes[s.Node], keys, domains) && g.onto(s, c) {
			return true
		}
	}
	return g.freshIn(c, in, math.Inf(1)) != nil
}

// takes returns what a pod of a class uses of a bin, by resource. Slots are left out: the rules
// that they stand for are checked directly.
func (g *placer) takes(c int, s *ledger.Bin) []int64 {
	return g.p.OfResources(g.p.Takes(c, s.Attached))
}

// put places a pod on a bin, after all pods counted so far.
func (g *placer) put(s *ledger.Bin, podID int32) {
	g.ledger.RecordReliance(g.p.ClassOf[podID], s)
	g.ledger.Place(podID, s)
}

// narrowed returns the bin type of a new node with one more pod of a class, if the node then costs
// less than limit more; nil if there is none. The bin type is never in a domain in which the node
// could not be before, because its pods were admitted on that basis.
func (g *placer) narrowed(s *ledger.Bin, c int, limit float64) *ledger.BinType {
	return g.narrowedTo(s, c, g.st.anywhere(c), limit)
}

// narrowedTo is narrowed for the variants of the class in some cells.
func (g *placer) narrowedTo(s *ledger.Bin, c int, low *lowered, limit float64) *ledger.BinType {
	if g.left <= 0 {
		return nil
	}
	g.left--
	takes := g.takes(c, s)
	if !s.BinType.MayHold(g.p, takes, s.Taken) || !g.withoutRules && g.p.Rules.NodeExcluder(c, s.Apart) != nil {
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
			continue // before the set is computed, which takes far longer
		}
		g.p.Distinct.KeepHoldingIn(pool, options, sum, g.spare)
		options = withoutScarceSpot(g.p, pool, options)
		if sh := g.narrowedIn(s, c, options, trait, s.BinType.AskedWith(&low.item.Sources[i]), dear); sh != nil {
			best = g.st.cloneBinType(sh)
			best.Wide = optionsIgnoringLimits(g.p, s.BinType, v.Options, trait)
		}
	}
	return best
}

// narrowedIn returns the bin type of a new node with some of its options and one more pod of a
// class, in the cheapest cell in which constraints between pods admit the pod. It returns nil if
// there is none, or if it is too expensive. The caller only reads the bin type.
func (g *placer) narrowedIn(s *ledger.Bin, c int, options bitset.Set, trait int32, asked requirements.Set, dear func(price float64) bool) *ledger.BinType {
	parts, asks := []compile.Part{{Options: options}}, []requirements.Set{asked}
	if open := openKeys(s.At, g.ledger.KeysOfCell(c)); len(open) > 0 {
		parts, asks = g.st.cellsOf(options, asked, open)
	}
	for i := range parts {
		options := parts[i].Options
		if len(parts) > 1 {
			options = withoutScarceSpot(g.p, s.BinType.Pool, options)
		}
		if dear(ledger.Cheapest(g.p, s.BinType.Pool, options)) {
			continue
		}
		sh := g.shaped(s, options, trait, asks[i])
		if sh == nil {
			continue
		}
		if inside(ledger.BinTypeLocations(g.p, sh), s.At) && (g.withoutRules || g.ledger.AllowsAs(c, s, sh)) {
			return sh
		}
	}
	return nil
}

// together returns what the pods of a new node and one more pod use, by resource. The next call
// overwrites the result.
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

// inside says whether a node at locations at can be only in domains in which a node at before can
// be.
func inside(at, before []ledger.Location) bool {
	for k := range at {
		if !at[k].Within(&before[k]) {
			return false
		}
	}
	return true
}

// shaped returns the bin type of a bin with fewer options, nil if these are too few. The caller only
// reads the bin type.
func (g *placer) shaped(s *ledger.Bin, options bitset.Set, trait int32, asked requirements.Set) *ledger.BinType {
	switch {
	case options.Empty() || asked.Impossible():
		return nil
	case options.Equal(s.BinType.Options) && trait == s.BinType.Trait && asked.Equal(s.BinType.Asked):
		return s.BinType
	case options.Equal(s.BinType.Options) && (trait == s.BinType.Trait || s.BinType.Relaxed):
	case !g.p.Choice(s.BinType.Pool, options, trait):
		return nil
	}
	return g.st.binType(s.BinType.Pool, options, trait, asked, s.BinType.Relaxed)
}
