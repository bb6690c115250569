package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// A new node is in one cell over the labels for which a hard constraint counts its pods: its
// options are limited to that cell, and stay open over all other labels. So constraints count
// what is there, and not what may be.

// openKeys lists those of some keys of which it is open in which domain a node is.
func openKeys(at []ledger.Location, keys []int) (out []int) {
	for _, k := range keys {
		if !at[k].Certain() && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// cellsOf lists the cells over some keys in which options of a pool are that meet
// requirements, the cheapest first, each with what a node in it asks for. Where constraints
// between pods take notice of DaemonSets, options with the pod of one and options without it are
// in different cells.
func (st *State) cellsOf(options bitset.Set, asked requirements.Set, keys []int) (parts []compile.Part, asks []requirements.Set) {
	for _, part := range st.p.SplitByDaemons(st.p.Finder.Split(keys, options)) {
		if there := asked.Intersect(attempt.PinOf(st.p, keys, part.At)); !there.Impossible() {
			parts, asks = append(parts, part), append(asks, there)
		}
	}
	return parts, asks
}

// open lists the keys over which a node to be launched has to be in one cell, given those over
// which constraints count its pods, and says whether it is in several cells so far.
func (st *State) open(s *ledger.BinType, keys []int) (open []int, several bool) {
	for _, d := range s.DaemonsOn(st.p) {
		several = several || !s.Options.SubsetOf(d.Duty.On)
		for _, r := range slices.Concat(d.Duty.Joins, d.Duty.Owns) {
			if k := st.p.Rules.Domain[r].Rule.Key; k >= 0 {
				keys = append(slices.Clip(keys), k)
			}
		}
	}
	open = openKeys(ledger.BinTypeLocations(st.p, s), keys)
	return open, several || len(open) > 0
}

// InOneCell returns the bin type of new nodes with pods of some classes: the one given, or, where
// that leaves open in which cell its nodes are, the one of the cheapest cell.
func (st *State) InOneCell(s *ledger.BinType, classes []int) *ledger.BinType {
	var keys []int
	for _, c := range classes {
		keys = append(keys, st.p.Counted[c]...)
	}
	open, several := st.open(s, keys)
	if !several {
		return s
	}
	parts, asks := st.cellsOf(s.Options, s.Asked, open)
	for i := range parts {
		options := spared(st.p, s.Pool, parts[i].Options)
		if s.Relaxed || st.p.Choice(s.Pool, options, s.Trait) {
			out := st.NewBinType(s.Pool, options, s.Trait, asks[i], s.Relaxed)
			out.Wide = s.Wide
			return out
		}
	}
	return s
}
