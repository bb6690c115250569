package repair

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// widener gives new nodes more options.
type widener struct {
	st    *State
	p     *compile.Problem
	known map[string]bitset.Set // by bin type and pods: the options that a node could have
	seen  map[int]bitset.Set    // by bin type: see seenLike

	pool  *pack.Pool
	left  []int64 // by limit of the pool: what is left
	alike []alike
}

// alike are new nodes of one bin type that can have the same options.
type alike struct {
	bins    []*ledger.Bin
	full    bitset.Set // options that they could have if there were no limits
	options bitset.Set // options that they have
	uses    []int64    // by limit: the most that any of options uses
}

// widen adds options that the limits of their pools allow to new nodes, and says whether any node
// got more. In domains and all other respects a node stays what it was.
func (st *State) widen() bool {
	if !slices.ContainsFunc(st.New, func(s *ledger.Bin) bool { return s.BinType.Wide != nil }) {
		return false
	}
	st.Bins() // Bins counts the pods of each new node
	w := &widener{st: st, p: st.p, known: map[string]bitset.Set{}, seen: map[int]bitset.Set{}}
	some := false
	for i := range st.p.LowPools {
		if w.pool = &st.p.LowPools[i]; w.pool.Limits == nil {
			continue
		}
		w.read(i)
		for range mostWidenings {
			if !w.share() {
				break
			}
		}
		w.fill()
		some = w.apply() || some
	}
	return some
}

// mostWidenings is how often the rest of the limits is shared out.
const mostWidenings = 8

// read finds the new nodes of a pool that can have more options, and the remaining amounts of its
// limits.
func (w *widener) read(pool int) {
	type key struct {
		binType *ledger.BinType
		full    string
	}
	index := map[key]int{}
	w.left, w.alike = slices.Clone(w.pool.Limits), nil
	attempt.Subtract(w.left, planned(w.st.p, pool, w.st.New))
	for _, s := range w.st.New {
		if s.BinType.Pool != pool {
			continue
		}
		full := w.couldBe(s)
		if full == nil || full.Equal(s.BinType.Options) {
			continue
		}
		id := key{s.BinType, full.Key()}
		i, known := index[id]
		if !known {
			i = len(w.alike)
			index[id] = i
			w.alike = append(w.alike, alike{full: full, options: s.BinType.Options, uses: mostUses(w.pool, s.BinType.Options)})
		}
		w.alike[i].bins = append(w.alike[i].bins, s)
	}
	for r := range w.left {
		w.left[r] = max(w.left[r], 0)
	}
}

// share gives all nodes an even share of the remaining amounts, and says whether any node used its
// share.
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

// fill gives what is left to some nodes, one group after the other, where it is too little for all.
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

// each returns an even share of the remaining amounts for a number of nodes.
func (w *widener) each(nodes int) []int64 {
	out := make([]int64, len(w.left))
	for r, n := range w.left {
		out[r] = n / int64(nodes)
	}
	return out
}

// grow gives nodes the options that use at most their present amounts plus a share of the remaining
// limits, and says whether that adds options.
func (w *widener) grow(g *alike, each []int64) bool {
	most := make([]int64, len(each))
	for r := range most {
		most[r] = g.uses[r] + min(each[r], math.MaxInt64-g.uses[r])
	}
	options := g.full.Clone()
	w.pool.Levels.KeepWithin(options, most, bitset.New(len(w.p.LowOptions)))
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

// apply gives the nodes the bin types of their new options, and says whether any has more options
// than before.
func (w *widener) apply() (some bool) {
	for i := range w.alike {
		g := &w.alike[i]
		if len(g.bins) == 0 {
			continue
		}
		from := g.bins[0].BinType
		if g.options.Equal(from.Options) {
			continue
		}
		relaxed := from.Relaxed && !w.p.Choice(from.Pool, g.options, from.Trait)
		wider := w.st.NewBinType(from.Pool, g.options, from.Trait, from.Asked, relaxed)
		if !w.seenAlike(from, wider) {
			continue
		}
		for _, s := range g.bins {
			s.BinType = wider
		}
		some = true
	}
	return some
}

// couldBe returns the options that a new node could have if there were no limits, nil if it has all
// it can have. The options suit its pods, have room for them, and leave nothing open that
// constraints between pods depend on and that its current options do not leave open.
func (w *widener) couldBe(s *ledger.Bin) bitset.Set {
	if s.BinType.Wide == nil {
		return nil
	}
	id := binary.AppendVarint(nil, int64(s.BinType.Id))
	for _, m := range s.Pods {
		id = binary.AppendVarint(binary.AppendVarint(id, int64(m.Class)), int64(m.Count))
	}
	for _, volume := range s.Attached {
		id = binary.AppendVarint(id, int64(volume))
	}
	out, known := w.known[string(id)]
	if !known {
		out = w.workOut(s)
		w.known[string(id)] = out
	}
	return out
}

func (w *widener) workOut(s *ledger.Bin) bitset.Set {
	p, from := w.p, s.BinType
	out := w.seenLike(from).Clone()
	for _, m := range s.Pods {
		suited := w.suitedBeside(m.Class, from)
		if suited == nil {
			return nil
		}
		out.And(suited)
	}
	sum := slices.Clone(s.Taken)
	clear(p.OfSlots(sum)) // slots are equal on all options
	p.Distinct.KeepHoldingIn(from.Pool, out, sum, bitset.New(len(p.LowOptions)))
	if (p.Opts.CapacityMix != nil || p.Flexible != nil) && !maySpot(p, from.Options) {
		out = p.SteadyOptions(out)
	}
	out.Or(from.Options)
	return out
}

// suitedBeside returns the options that suit a class by the alternative that its pods use on new
// nodes of a bin type, nil if that alternative is not certain.
func (w *widener) suitedBeside(c int, s *ledger.BinType) bitset.Set {
	for _, v := range w.st.anywhere(c).class.Variants {
		if both, ok := w.p.Traits.Merge(s.Pool, s.Trait, v.Trait); ok && both == s.Trait && s.Options.SubsetOf(v.Options) {
			return v.Options
		}
	}
	return nil
}

// seenLike returns the options that a new node of a bin type could have had, except options in
// other domains than its own, options that topology spread counts differently, and options on which
// other DaemonSets run.
func (w *widener) seenLike(s *ledger.BinType) bitset.Set {
	options, known := w.seen[s.Id]
	if known {
		return options
	}
	p := w.p
	options = s.Wide.Clone()
	at := ledger.BinTypeLocations(p, s)
	for k := range at {
		here := bitset.New(len(p.LowOptions))
		for _, d := range at[k].Domains {
			here.Or(p.InPlace(k, d))
		}
		if at[k].Lacks {
			here.Or(p.Finder.Lacking[k])
		}
		if !at[k].Beyond && p.Table.AllowsBeyond(k, s.Settled) {
			here.AndNot(p.Finder.Beyond[k])
		}
		options.And(here)
	}
	for way := range p.Rules.Ways() {
		rule := p.Rules.OfWay(way)
		switch may, sure := s.Looked(p, rule); {
		case sure:
			options.And(p.LookedAt(rule, true))
		case !may:
			options.AndNot(p.LookedAt(rule, false))
		}
	}
	for i := range p.ByDaemon {
		d := &p.ByDaemon[i]
		switch {
		case s.Options.SubsetOf(d.Sure):
			options.And(d.Sure)
		case !s.Options.Overlaps(d.On):
			options.AndNot(d.On)
		}
	}
	w.seen[s.Id] = options
	return options
}

// seenAlike says whether new nodes of bin type b are in domains in which those of a may be, and
// topology spread counts both alike.
func (w *widener) seenAlike(a, b *ledger.BinType) bool {
	for way := range w.p.Rules.Ways() {
		rule := w.p.Rules.OfWay(way)
		may, sure := a.Looked(w.p, rule)
		if mayThen, sureThen := b.Looked(w.p, rule); may != mayThen || sure != sureThen {
			return false
		}
	}
	return inside(ledger.BinTypeLocations(w.p, b), ledger.BinTypeLocations(w.p, a))
}
