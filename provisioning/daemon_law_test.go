package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestDaemonsCount: where DaemonSets have labels that other pods select, constraints between pods
// hold with the pods of DaemonSets on every node, new ones too, and in at most one of 500 problems
// pods are left over that have a place.
func TestDaemonsCount(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	overlooked := 0
	seeds := testlong.Problems(3000, 150)
	for seed := range seeds {
		in, opts := richProblem(seed, randproblem.Config{With: randproblem.DaemonLabels})
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		if len(verify.Unplaced(in, plan, opts)) > 0 {
			overlooked++
		}
	}
	require.LessOrEqual(t, overlooked, int(seeds)/500)
}
