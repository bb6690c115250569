package bitset_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// universes are sizes on both sides of the borders of words.
var universes = []int{0, 1, 5, 63, 64, 65, 127, 128, 129, 1000}

func of(n int, members ...int) bitset.Set {
	s := bitset.New(n)
	for _, i := range members {
		s.Add(i)
	}
	return s
}

func list(s bitset.Set) []int {
	out := slices.Collect(s.All())
	if out == nil {
		out = []int{}
	}
	return out
}

func TestNewIsEmpty(t *testing.T) {
	for _, n := range universes {
		s := bitset.New(n)
		require.True(t, s.Empty(), "n=%d", n)
		require.Zero(t, s.Len(), "n=%d", n)
		require.Empty(t, list(s), "n=%d", n)
		for i := range n {
			require.False(t, s.Has(i), "n=%d i=%d", n, i)
		}
	}
}

func TestAddRange(t *testing.T) {
	tests := []struct{ n, lo, hi int }{
		{10, 0, 0}, {10, 3, 3}, {10, 5, 3}, {10, 0, 10}, {10, 9, 10},
		{64, 0, 64}, {64, 1, 63}, {128, 0, 64}, {128, 64, 128}, {128, 63, 65}, {128, 1, 128},
		{200, 60, 70}, {200, 64, 192}, {200, 63, 193}, {200, 0, 200}, {200, 199, 200},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("n=%d/[%d,%d)", tt.n, tt.lo, tt.hi), func(t *testing.T) {
			s := of(tt.n, 0) // what was there stays
			s.AddRange(tt.lo, tt.hi)
			want := []int{0}
			for i := max(tt.lo, 1); i < tt.hi; i++ {
				want = append(want, i)
			}
			require.Equal(t, want, list(s))
		})
	}
}

func TestAll(t *testing.T) {
	s := of(300, 299, 0, 64, 63, 128, 7)
	require.Equal(t, []int{0, 7, 63, 64, 128, 299}, list(s))
	require.Equal(t, 0, s.First())
	require.Equal(t, 299, of(300, 299).First())
	require.Equal(t, -1, bitset.New(300).First())

	var seen []int
	for i := range s.All() {
		seen = append(seen, i)
		if i == 63 {
			break
		}
	}
	require.Equal(t, []int{0, 7, 63}, seen, "the caller may stop")

	// Whoever walks a set may remove what he is at, and sees the rest.
	seen = nil
	for i := range s.All() {
		seen = append(seen, i)
		s.Remove(i)
	}
	require.Equal(t, []int{0, 7, 63, 64, 128, 299}, seen)
	require.True(t, s.Empty())
}

func TestCloneSharesNothing(t *testing.T) {
	s := of(100, 1, 99)
	c := s.Clone()
	require.True(t, c.Equal(s))
	c.Add(5)
	s.Remove(99)
	require.Equal(t, []int{1}, list(s))
	require.Equal(t, []int{1, 5, 99}, list(c))
	require.Empty(t, bitset.New(0).Clone())
}

func TestKey(t *testing.T) {
	for _, n := range []int{1, 64, 65, 130} {
		known := map[string]int{"": -1}
		for i := range n {
			known[of(n, i).Key()] = i
		}
		require.Len(t, known, n+1, "sets that differ have keys that differ")
		for i := range n {
			require.Equal(t, i, known[of(n, i).Key()], "equal sets share a key")
		}
	}
	require.Empty(t, bitset.New(0).Key())
}

// model is the same as a set, in the plainest way.
type model map[int]bool

func (m model) list() []int { return append([]int{}, slices.Sorted(maps.Keys(m))...) }

// TestAgainstMap makes random sets by random operations and compares every
// answer with that of a map.
func TestAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := universes[rng.IntN(len(universes))]
		a, am := random(rng, n)
		b, bm := random(rng, n)
		if rng.IntN(4) == 0 { // near relatives: b within a
			b.And(a)
			maps.DeleteFunc(bm, func(i int, _ bool) bool { return !am[i] })
		}
		compare(t, a, am, b, bm)
		switch rng.IntN(3) {
		case 0:
			a.And(b)
			maps.DeleteFunc(am, func(i int, _ bool) bool { return !bm[i] })
		case 1:
			a.Or(b)
			maps.Copy(am, bm)
		case 2:
			a.AndNot(b)
			maps.DeleteFunc(am, func(i int, _ bool) bool { return bm[i] })
		}
		compare(t, a, am, b, bm)
	}
}

func random(rng *rand.Rand, n int) (bitset.Set, model) {
	s, m := bitset.New(n), model{}
	if n == 0 {
		return s, m
	}
	for range rng.IntN(20) {
		i := rng.IntN(n)
		switch rng.IntN(4) {
		case 0:
			s.Remove(i)
			delete(m, i)
		case 1:
			hi := i + rng.IntN(n-i+1)
			s.AddRange(i, hi)
			for ; i < hi; i++ {
				m[i] = true
			}
		default:
			s.Add(i)
			m[i] = true
		}
	}
	return s, m
}

func compare(t *testing.T, a bitset.Set, am model, b bitset.Set, bm model) {
	t.Helper()
	require.Equal(t, am.list(), list(a))
	require.Equal(t, bm.list(), list(b))
	require.Equal(t, len(am), a.Len())
	require.Equal(t, len(am) == 0, a.Empty())
	subset, overlaps := true, false
	for i := range am {
		require.True(t, a.Has(i))
		subset = subset && bm[i]
		overlaps = overlaps || bm[i]
	}
	require.Equal(t, subset, a.SubsetOf(b))
	require.Equal(t, overlaps, a.Overlaps(b))
	require.Equal(t, maps.Equal(am, bm), a.Equal(b))
	require.Equal(t, maps.Equal(am, bm), a.Key() == b.Key())
}

// TestWindow: a window is the words that a range lies in, and shares them.
func TestWindow(t *testing.T) {
	for _, n := range universes {
		for lo := range n {
			for _, hi := range []int{lo, lo + 1, (lo + n + 1) / 2, n} {
				all, here := bitset.New(n), bitset.NewWindow(lo, hi)
				all.AddRange(0, n)
				here.AddRange(lo-bitset.Base(lo), hi-bitset.Base(lo))
				require.Len(t, all.Window(lo, hi), len(here))
				all.Window(lo, hi).AndNot(here)
				want := bitset.New(n)
				want.AddRange(0, lo)
				want.AddRange(hi, n)
				require.Equal(t, want, all, "[%d, %d) of %d", lo, hi, n)
			}
		}
	}
}

// TestAndWindow: integers outside of the window stay, also those that share a word with it.
func TestAndWindow(t *testing.T) {
	for _, r := range [][2]int{{0, 0}, {0, 200}, {3, 5}, {60, 70}, {64, 128}, {65, 65}, {70, 190}, {128, 130}} {
		lo, hi := r[0], r[1]
		s, want := bitset.Full(200), bitset.Full(200)
		keep := bitset.NewWindow(lo, hi)
		for i := lo; i < hi; i++ {
			if i%3 == 0 {
				keep.Add(i - bitset.Base(lo))
			} else {
				want.Remove(i)
			}
		}
		s.AndWindow(lo, hi, keep)
		require.True(t, want.Equal(s), "[%d, %d)", lo, hi)
	}
}

func TestHolders(t *testing.T) {
	holders := bitset.Holders([]bitset.Set{of(70, 3, 65), of(70, 65)}, 3, 70)
	for i, want := range map[int][]int{3: {0}, 4: {}, 65: {0, 1}} {
		require.Equal(t, want, list(holders(i)))
	}
}

// TestIndex: equal sets have equal numbers, in the order in which they come.
func TestIndex(t *testing.T) {
	var x bitset.Index
	for _, row := range []struct {
		set    bitset.Set
		number int32
		fresh  bool
	}{{of(300, 1), 0, true}, {of(300, 1, 299), 1, true}, {of(300, 1), 0, false}, {of(300), 2, true}, {of(300, 299, 1), 1, false}} {
		number, fresh := x.Of(row.set)
		require.Equal(t, row.number, number)
		require.Equal(t, row.fresh, fresh)
	}
	require.Equal(t, 3, x.Len())
}
