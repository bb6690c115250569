package deletioncost

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRankCosts(t *testing.T) {
	for _, c := range []struct {
		name          string
		present, want []int32
	}{
		{"nothing", nil, []int32{}},
		{"anew", []int32{0, 0, 0}, []int32{-3072, -2048, -1024}},
		{"as they are", []int32{-9, -8, -1}, []int32{-9, -8, -1}},
		{"one between two", []int32{-9, 0, -1}, []int32{-9, -5, -1}},
		{"one at the front", []int32{0, -9, -1}, []int32{-1033, -9, -1}},
		{"one at the end", []int32{-9, -5, 0}, []int32{-9, -5, -2}},
		{"one has moved", []int32{-90, -2, -80, -70}, []int32{-90, -85, -80, -70}},
		{"no room between two", []int32{-2, 0, -1}, []int32{-3072, -2048, -1024}},
		{"no room at the end", []int32{-1, 0}, []int32{-2048, -1024}},
		{"no room at the front", []int32{0, math.MinInt32 + 1}, []int32{-2048, -1024}},
	} {
		require.Equal(t, c.want, Ranks(c.present), c.name)
	}
}

// TestLawRankCosts: numbers ascend below zero, and where there is room as many as
// possible are kept.
func TestLawRankCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		present := make([]int32, r.IntN(9))
		for i := range present {
			present[i] = []int32{0, -int32(r.IntN(12)), -int32(r.Int32N(1 << 20)), -int32(r.Int32())}[r.IntN(4)]
		}
		got := Ranks(present)
		require.Len(t, got, len(present))
		kept := 0
		for i, n := range got {
			require.Negative(t, n, "%v to %v", present, got)
			require.NotEqual(t, int32(math.MinInt32), n)
			if i > 0 {
				require.Greater(t, n, got[i-1], "%v to %v", present, got)
			}
			if n == present[i] {
				kept++
			}
		}
		if fresh := freshRanks(len(present)); !slices.Equal(got, fresh) {
			require.GreaterOrEqual(t, kept, longestAscent(present), "%v to %v", present, got)
		}
	}
}

// longestAscent returns the length of a longest ascending sequence of numbers other than
// zero, by trying all.
func longestAscent(numbers []int32) int {
	best := 0
	for set := range 1 << len(numbers) {
		count, last, ok := 0, int64(math.MinInt64), true
		for i, n := range numbers {
			if set&(1<<i) == 0 {
				continue
			}
			ok = ok && n != 0 && int64(n) > last
			last = int64(n)
			count++
		}
		if ok {
			best = max(best, count)
		}
	}
	return best
}
