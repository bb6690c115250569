package pack_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/levels"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// someVectors returns vectors of options as a catalog has them: many options share
// one, and some amounts are below zero or the same everywhere.
func someVectors(rng *splitmix, n, dims int) [][]int64 {
	var kinds [][]int64
	for range rng.between(1, max(n/3, 1)) {
		v := make([]int64, dims)
		for r := range v[1:] {
			v[r] = int64(rng.between(-1, 9))
		}
		kinds = append(kinds, v)
	}
	out := make([][]int64, n)
	for o := range out {
		out[o] = purchaseOf(rng, kinds)
	}
	return out
}

// someAmounts asks for amounts at and beside those that there are.
func someAmounts(rng *splitmix, dims int) []int64 {
	out := make([]int64, dims)
	for r := range out {
		out[r] = int64(rng.between(-2, 10))
		if rng.chance(10) {
			out[r] = math.MaxInt64
		}
	}
	return out
}

func someSet(rng *splitmix, first, last, total int) bitset.Set {
	out := bitset.New(total)
	for o := first; o < last; o++ {
		if rng.chance(70) {
			out.Add(o)
		}
	}
	return out
}

// TestLevelsFindWhatLookingAtEachFinds holds for sets that end within a word and
// between two levels.
func TestLevelsFindWhatLookingAtEachFinds(t *testing.T) {
	rng := splitmix(5)
	for range 2000 {
		n, dims, first := rng.between(1, 300), rng.between(1, 4), rng.intn(100)
		total := first + n + rng.intn(100)
		vectors, asked := someVectors(&rng, n, dims), someAmounts(&rng, dims)

		options := make([]pack.Option, n)
		for o := range options {
			options[o].Capacity = vectors[o]
		}
		set := someSet(&rng, 0, n, n)
		want := set.Clone()
		for o := range set.All() {
			for r := range asked {
				if vectors[o][r] < asked[r] {
					want.Remove(o)
				}
			}
		}
		firsts := []int{0}
		for range rng.intn(4) {
			firsts = append(firsts, rng.between(firsts[len(firsts)-1], n))
		}
		pack.NewCapacities(options, firsts, dims).KeepHolding(set, asked, bitset.New(n))
		require.Equal(t, want, set, "%v hold %v", vectors, asked)

		set = someSet(&rng, first, first+n, total)
		want = set.Clone()
		for o := range set.All() {
			for r := range asked {
				if vectors[o-first][r] > asked[r] {
					want.Remove(o)
				}
			}
		}
		new(levels.Index).New(vectors, first).KeepWithin(set, asked, bitset.New(total))
		require.Equal(t, want, set, "%v within %v", vectors, asked)
	}
}

func TestLevelsOfNothing(t *testing.T) {
	set := bitset.New(3)
	set.Add(1)
	new(levels.Index).New(nil, 0).KeepWithin(set, []int64{0}, bitset.New(3))
	require.True(t, set.Has(1), "without limits all stay")
	pack.NewCapacities(nil, nil, 2).KeepHolding(bitset.New(0), []int64{1, 1}, bitset.New(0))
	pack.NewCapacities(make([]pack.Option, 3), []int{0}, 0).KeepHolding(set, nil, bitset.New(3))
	require.True(t, set.Has(1), "what asks for nothing is held by all")
}
