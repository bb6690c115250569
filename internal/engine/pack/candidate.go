package pack

import (
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
)

// entry is a variant of a class on a candidate.
type entry struct {
	class   int32
	variant int32
	trait   int32
}

// candidate is an option to launch nodes by: no other option of its tier is at least as large,
// admits at least the same groups and costs at most as much.
type candidate struct {
	bin
	price       float64 // with surcharge; never zero
	worth       float64 // the price in the relaxation
	reservation int     // as in Option
	serves      int     // index in tier.serves

	// safe means that the options at least as large, which admit at least the same groups, satisfy
	// every MinValue. So any pattern that fits this option satisfies them.
	safe bool
}

// tier is the pools of one weight compiled together.
type tier struct {
	pools      []int
	candidates []candidate
	entries    [][]entry    // by set of admission groups: the entries that it admits
	takes      [][]int32    // by set: the classes of the entries
	serves     [][]int      // by set: its groups as a list
	admits     []bitset.Set // by set: its groups
	kinds      [][]int      // by set: the kinds of its classes
	largest    []int64      // by resource: the most that any candidate has
	groupOf    []int32      // by class: its admission group, -1 if none
	groups     int
	nobody     bitset.Set // an empty set of groups
	classes    bitset.Set // that have a variant here

	supplies []cover.Supply // the candidates as supplies of the relaxation
	market   *cover.Market  // for the demands of kinds
	free     bool           // some candidate costs nothing
	reserved bool           // some candidate uses a reservation
	unit     []float64      // by resource: the least price of one unit bought alone
}

// admission collects the distinct option sets of the variants of a tier's classes, its admission
// groups.
type admission struct {
	t       *tier
	first   int        // first option of the tier
	last    int        // the option after its last one
	mask    bitset.Set // options of the tier
	sets    []bitset.Set
	entries []entry // of all groups, sorted by class and variant
	groups  []int32 // by entry: its group
	index   bitset.Index
	here    bitset.Set // the options that group was asked about last
}

func newAdmission(p *Problem, pools []int) *admission {
	a := &admission{
		t:     &tier{pools: pools, groupOf: make([]int32, len(p.Classes)), classes: bitset.New(len(p.Classes))},
		mask:  bitset.New(len(p.Options)),
		first: p.Pools[pools[0]].First,
		last:  p.Pools[pools[len(pools)-1]].Last,
	}
	a.mask.AddRange(a.first, a.last)
	for c := range p.Classes {
		a.t.groupOf[c] = -1
		var all bitset.Set
		for v, variant := range p.Classes[c].Variants {
			g := a.group(variant.Options)
			if g < 0 {
				continue
			}
			a.entries, a.groups = append(a.entries, entry{int32(c), int32(v), variant.Trait}), append(a.groups, g)
			a.t.groupOf[c] = g
			a.t.classes.Add(c)
			if len(p.Classes[c].Variants) > 1 {
				if all == nil {
					all = variant.Options.Clone()
				}
				all.Or(variant.Options)
			}
		}
		if all != nil {
			a.t.groupOf[c] = a.group(all)
		}
	}
	a.t.groups, a.t.nobody = len(a.sets), bitset.New(len(a.sets))
	return a
}

// group returns the number of a set of options restricted to the tier, -1 if it is empty.
func (a *admission) group(options bitset.Set) int32 {
	if !options.Overlaps(a.mask) {
		return -1
	}
	a.here = append(a.here[:0], options...)
	a.here.And(a.mask)
	g, fresh := a.index.Of(a.here)
	if fresh {
		a.sets = append(a.sets, a.here.Clone())
	}
	return g
}

// newTier finds the candidates of the pools of one tier. It takes O(groups x options / 64 + options
// x candidates x dims) time.
func newTier(p *Problem, pools []int, capacities *levels.Capacities) *tier {
	a := newAdmission(p, pools)
	masks, ids := a.masks()
	a.t.admits, a.t.serves = masks, make([][]int, len(masks))
	holders := make([][]int, len(a.sets)) // by group: the masks that contain it
	for m, mask := range masks {
		for g := range mask.All() {
			a.t.serves[m] = append(a.t.serves[m], g)
			holders[g] = append(holders[g], m)
		}
	}
	a.t.entries = make([][]entry, len(masks))
	for i, e := range a.entries {
		for _, m := range holders[a.groups[i]] {
			a.t.entries[m] = append(a.t.entries[m], e)
		}
	}
	a.t.takes = make([][]int32, len(masks))
	for m, entries := range a.t.entries {
		a.t.takes[m] = classesOf(entries)
	}
	a.t.kinds = a.kinds(p)
	a.t.candidates = candidates(p, pools, masks, ids, capacities)
	a.t.appraise(p, masks)
	a.t.largest = make([]int64, p.Dims)
	for i := range a.t.candidates {
		for r, c := range a.t.candidates[i].capacity {
			a.t.largest[r] = max(a.t.largest[r], c)
		}
	}
	a.t.setSupplies(p)
	a.t.unit = a.t.unitPrices(p.Dims)
	return a.t
}

// classesOf lists the classes of entries without duplicates. The entries must be sorted by class.
func classesOf(entries []entry) []int32 {
	out := make([]int32, 0, len(entries))
	for _, e := range entries {
		if len(out) == 0 || out[len(out)-1] != e.class {
			out = append(out, e.class)
		}
	}
	return out
}

// kinds lists, by set of groups, the kinds of its classes.
func (a *admission) kinds(p *Problem) [][]int {
	ofGroup := make([]map[int]bool, len(a.sets))
	for c, g := range a.t.groupOf {
		if g >= 0 {
			if ofGroup[g] == nil {
				ofGroup[g] = map[int]bool{}
			}
			ofGroup[g][p.Classes[c].Kind] = true
		}
	}
	out := make([][]int, len(a.t.serves))
	for s, groups := range a.t.serves {
		seen := map[int]bool{}
		for _, g := range groups {
			maps.Copy(seen, ofGroup[g])
		}
		out[s] = slices.Sorted(maps.Keys(seen))
	}
	return out
}

// admittedBy has the set of admission groups that each option of a tier admits.
type admittedBy struct {
	first int
	sets  []int32 // by option from first on: its set, -1 if it admits no group
	count int     // number of options that admit some group
}

func (a *admittedBy) of(option int) int32 { return a.sets[option-a.first] }

// masks returns the distinct sets of groups that options admit, and the set of each option.
func (a *admission) masks() ([]bitset.Set, *admittedBy) {
	if len(a.sets) == 0 {
		return nil, nil
	}
	all, ids := bitset.Holders(a.sets, a.first, a.last), &admittedBy{first: a.first, sets: make([]int32, a.last-a.first)}
	var masks []bitset.Set
	var key []byte
	index := map[string]int32{}
	for o := range ids.sets {
		mask := all(a.first + o)
		if mask.Empty() {
			ids.sets[o] = -1
			continue
		}
		key = mask.AppendKey(key[:0])
		id, ok := index[string(key)]
		if !ok {
			id = int32(len(masks))
			index[string(key)] = id
			masks = append(masks, mask.Clone()) // a copy, so that the masks of all options can be freed
		}
		ids.sets[o] = id
		ids.count++
	}
	return masks, ids
}

// feeShare is the surcharge of an option as a share of the cheapest price. An option carries up to
// as much again for its capacity.
const feeShare = 1e-6

// fees returns a function from capacity to a tiny surcharge that grows with it. The surcharge
// orders options of equal price, or without price: less capacity is better. Options that admit no
// group do not count.
func fees(p *Problem, ids *admittedBy) func([]int64) float64 {
	largest := make([]int64, p.Dims)
	cheapest := 0.0
	for i, id := range ids.sets {
		if id < 0 {
			continue
		}
		o := &p.Options[ids.first+i]
		for r, c := range o.Capacity {
			largest[r] = max(largest[r], c)
		}
		if o.Price > 0 && (cheapest == 0 || o.Price < cheapest) {
			cheapest = o.Price
		}
	}
	if cheapest == 0 {
		cheapest = 1
	}
	unit := cheapest * feeShare / float64(max(p.Dims, 1))
	return func(capacity []int64) float64 {
		fee := float64(cheapest * feeShare)
		for r, c := range capacity {
			if largest[r] > 0 {
				fee += float64(unit * (float64(c) / float64(largest[r])))
			}
		}
		return fee
	}
}

// Distinct counts the distinct values of a set of options, restricted to those allowed; nil allows
// all.
func (m *MinValue) Distinct(first int, options, allowed bitset.Set) int {
	seen := bitset.New(m.Count)
	for o := range options.All() {
		for _, v := range m.Values[o-first] {
			seen.Add(int(v))
		}
	}
	if allowed != nil {
		seen.And(allowed)
	}
	return seen.Len()
}

func fits(request, capacity []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}

func inverse(v []int64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if x > 0 {
			out[i] = 1 / float64(x)
		}
	}
	return out
}
