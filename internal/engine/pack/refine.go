package pack

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// refine improves a fill by exchanges: it removes one or two pods, fills the room again by worth,
// and keeps the result if it is worth more. A greedy fill of a small node leaves room in which no
// single pod fits; an exchange often uses it.
//
// It tries O(shares^2 x entries) exchanges in a round, and stops after a few rounds. Large nodes
// waste little and are not changed, and neither are pods with traits.
func (f *filler) refine(left []int, w *worth, out *pattern) {
	const rounds, many = 3, 40
	pods := 0
	for i := range f.shares {
		pods += f.shares[i].Count
	}
	if pods > many {
		return
	}
	f.rankByWorth(w)
	for range rounds {
		if !f.improve(left, w, out) {
			return
		}
	}
}

// ranked is an entry that an exchange may add.
type ranked struct {
	entry
	value float64
	needs []need
}

// rankByWorth lists the compared entries that an exchange may add, by descending worth, and
// computes the highest ratio of worth to price of the room requested.
func (f *filler) rankByWorth(w *worth) {
	value := w.value
	f.ranked, f.dear = f.ranked[:0], 1
	for _, e := range f.weighed {
		if e.trait != 0 {
			continue
		}
		needs := f.needsOf(int(e.class))
		f.ranked = append(f.ranked, ranked{e, value[e.class], needs})
		asked := 0.0
		for _, need := range needs {
			asked += float64(w.highest[need.resource] * float64(need.want))
		}
		if value[e.class] > float64(f.dear*asked) {
			f.dear = min(value[e.class]/asked, math.MaxFloat64)
		}
	}
	slices.SortFunc(f.ranked, func(x, y ranked) int {
		switch {
		case x.value > y.value:
			return -1
		case x.value < y.value:
			return 1
		}
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.variant, y.variant))
	})
}

// improve makes every exchange that gains, and says whether there was any.
func (f *filler) improve(left []int, w *worth, out *pattern) bool {
	found := false
	const pairsUpTo = 10
	for i := 0; i < len(f.shares); i++ {
		last := len(f.shares)
		if last > pairsUpTo {
			last = i // one pod at a time
		}
		for j := i - 1; j < last; j++ {
			// j < i means to remove one pod only.
			if f.exchange(i, j, left, w, out) {
				found = true
			}
		}
	}
	return found
}

// exchange removes a pod of share i and, unless j < i, a pod of share j, and adds the pods that are
// worth most. It undoes the exchange unless it gains.
func (f *filler) exchange(i, j int, left []int, w *worth, out *pattern) bool {
	value := w.value
	first, second := i, -1
	if j >= i {
		second = j
	}
	if !f.removable(first, second) {
		return false
	}
	loss := f.move(f.shares[first].Class, -1, value)
	if second >= 0 {
		loss += f.move(f.shares[second].Class, -1, value)
	}
	gain, most := 0.0, f.dear*f.gap(w.highest)*(1+1e-9)
	f.added = f.added[:0]
	// Pods that fit are worth at most most, each and together.
	from := sort.Search(len(f.ranked), func(i int) bool { return f.ranked[i].value <= most })
	for i := from; i < len(f.ranked) && gain+most > loss; i++ {
		e := &f.ranked[i]
		for c := int(e.class); holds(f.room, e.needs) && int(f.used[c]) < left[c] && f.tally.most(c, 1) == 1; {
			gain += f.move(c, 1, value)
			f.added = append(f.added, e.entry)
			most = f.dear * f.gap(w.highest) * (1 + 1e-9)
		}
	}
	if gain > loss*(1+1e-9) {
		f.writeExchange(first, second)
		out.value += gain - loss
		return true
	}
	for _, e := range f.added {
		f.move(int(e.class), -1, value)
	}
	f.move(f.shares[first].Class, 1, value)
	if second >= 0 {
		f.move(f.shares[second].Class, 1, value)
	}
	return false
}

// removable says whether a pod of each share can be removed.
func (f *filler) removable(first, second int) bool {
	need := 1
	if second == first {
		need = 2
	}
	if f.shares[first].Count < need || f.traitOf(first) != 0 {
		return false
	}
	return second < 0 || f.shares[second].Count >= 1 && f.traitOf(second) == 0
}

func (f *filler) traitOf(share int) int32 {
	s := &f.shares[share]
	return f.p.Classes[s.Class].Variants[s.Variant].Trait
}

// move adds n pods of a class, or removes them if n is negative, and returns their worth.
func (f *filler) move(c, n int, value []float64) float64 {
	if f.used[c] == 0 {
		f.touched = append(f.touched, int32(c))
	}
	f.used[c] += int32(n)
	f.tally.add(f.p.Classes[c].Memberships, n)
	for _, need := range f.needsOf(c) {
		f.room[need.resource] -= need.want * int64(n)
	}
	return value[c]
}

// writeExchange applies an exchange to the shares.
func (f *filler) writeExchange(first, second int) {
	f.shares[first].Count--
	if second >= 0 {
		f.shares[second].Count--
	}
	for _, e := range f.added {
		f.addShare(e, 1)
	}
}

// addShare adds n pods of an entry to the shares.
func (f *filler) addShare(e entry, n int) {
	for i := range f.shares {
		if s := &f.shares[i]; s.Class == int(e.class) && s.Variant == int(e.variant) {
			s.Count += n
			return
		}
	}
	f.shares = append(f.shares, Share{Class: int(e.class), Variant: int(e.variant), Count: n})
}
