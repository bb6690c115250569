package disjoint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/disjoint"
)

// No set is of two components, and every item is in one unless it would join two.
func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	several, out := 0, 0
	for range 2000 {
		sets, sizes := make([][]int, 1+rng.IntN(6)), make([]int, 1+rng.IntN(6))
		for s := range sizes {
			sizes[s] = 1 + rng.IntN(3)
		}
		for i := range sets {
			for s := range sizes {
				if rng.IntN(3) == 0 {
					sets[i] = append(sets[i], s)
				}
			}
		}
		for _, narrow := range []bool{false, true} {
			items, ofSet, count := disjoint.Divide(sets, sizes, narrow)
			used := make([]bool, count)
			for i, own := range sets {
				reached := map[int]bool{}
				for _, s := range own {
					reached[ofSet[s]] = true
					if items[i] >= 0 {
						require.Equal(t, items[i], ofSet[s])
						used[items[i]] = true
					}
				}
				if items[i] < 0 && len(own) > 0 {
					require.True(t, narrow)
					delete(reached, -1)
					require.Greater(t, len(reached), 1)
					out++
				}
			}
			require.NotContains(t, used, false)
			if count > 1 {
				several++
			}
		}
	}
	require.Greater(t, several, 500)
	require.Greater(t, out, 100)
}
