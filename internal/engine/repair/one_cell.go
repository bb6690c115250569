package repair

import (
	"encoding/binary"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// A new node is in one cell over the labels for which a required constraint counts its pods: its
// options are limited to that cell, and stay open over all other labels. So constraints count pods
// in domains that are certain.

// openKeys lists those keys for which the domain of a node is not certain.
func openKeys(at []ledger.Location, keys []int) (out []int) {
	for _, k := range keys {
		if !at[k].Certain() && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// cellsOf divides the options of a pool that satisfy requirements by their cells over some keys,
// the cheapest cell first, and returns the requirements of a node in each cell. Where constraints
// between pods count DaemonSet pods, options that run a DaemonSet and options that do not are in
// different cells. The result is kept, as passes repeat a few calls many times: the caller only
// reads it.
func (st *State) cellsOf(options bitset.Set, asked requirements.Set, keys []int) (parts []compile.Part, asks []requirements.Set) {
	st.key = options.AppendKey(st.key[:0])
	for _, k := range keys {
		st.key = binary.AppendUvarint(st.key, uint64(k))
	}
	known := st.splits[string(st.key)]
	for i := range known {
		if known[i].asked.Equal(asked) {
			return known[i].parts, known[i].asks
		}
	}
	for _, part := range st.p.SplitByDaemons(st.p.Finder.Split(keys, options)) {
		if there := asked.Intersect(attempt.PinOf(st.p, keys, part.At)); !there.Impossible() {
			parts, asks = append(parts, part), append(asks, there)
		}
	}
	st.splits[string(st.key)] = append(known, split{asked, parts, asks})
	return parts, asks
}

// split is the result of cellsOf for the requirements asked.
type split struct {
	asked requirements.Set
	parts []compile.Part
	asks  []requirements.Set
}

// open returns the keys over which a new node must be in one cell, given the keys over which
// constraints count its pods. several says whether its options are in several cells.
func (st *State) open(s *ledger.BinType, keys []int) (open []int, several bool) {
	for _, d := range s.DaemonsOn(st.p) {
		several = several || !s.Options.SubsetOf(d.Rules.On)
		for _, r := range slices.Concat(d.Rules.Joins, d.Rules.Owns) {
			if k := st.p.Rules.Domain[r].Key; k >= 0 {
				keys = append(slices.Clip(keys), k)
			}
		}
	}
	open = openKeys(ledger.BinTypeLocations(st.p, s), keys)
	return open, several || len(open) > 0
}

// InOneCell returns the bin type of new nodes with pods of some classes: the given one if its
// options are in one cell, or else that of its cheapest cell with the values that minValues require.
// If no cell has them, it is the cheapest cell where minValues may be missed, and the given bin type
// where not.
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
	in := func(i int, options bitset.Set, relaxed bool) *ledger.BinType {
		out := st.NewBinType(s.Pool, options, s.Trait, asks[i], relaxed)
		out.Wide = s.Wide
		return out
	}
	for i := range parts {
		options := withoutScarceSpot(st.p, s.Pool, parts[i].Options)
		if s.Relaxed || st.p.Choice(s.Pool, options, s.Trait) {
			return in(i, options, s.Relaxed)
		}
	}
	if st.p.Opts.MinValues == model.BestEffort && len(parts) > 0 {
		return in(0, withoutScarceSpot(st.p, s.Pool, parts[0].Options), true)
	}
	return s
}
