package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestFiltersAgree: the options that explanations read for a pod alone are those that the packer gets,
// and existing nodes that admit a pod with the pods that run there admit it without them.
func TestFiltersAgree(t *testing.T) {
	t.Parallel()
	seeds, compared, excluded := 0, 0, 0
	for seed := range testlong.Problems(4000, 100) {
		seeds++
		in, opts := richProblem(seed, everything)
		p := problemOf(t, in, opts, "seed %d", seed)
		p.CompareFilters(func(class, pool int, explained, packed []int) {
			require.Equal(t, packed, explained, "seed %d: class %d, pool %d", seed, class, pool)
			compared += len(packed)
		}, func(class int, node, cause string, admits bool) {
			require.True(t, admits || cause != "", "seed %d: class %d, node %s", seed, class, node)
			if !admits {
				excluded++
			}
		})
	}
	require.Greater(t, compared, 10*seeds)
	require.Greater(t, excluded, seeds)
}
