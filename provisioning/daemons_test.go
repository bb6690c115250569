package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestDaemonsCount: where DaemonSets have labels that other pods select, constraints between pods
// hold with the pods of DaemonSets on every node, new ones too, and no pod is left over that has a
// place.
func TestDaemonsCount(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	for seed := range testlong.Problems(3000, 150) {
		in, opts := richProblem(seed, randproblem.Config{With: randproblem.DaemonLabels})
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		require.Empty(t, verify.Unplaced(in, plan, opts), "seed %d", seed)
	}
}

// TestDaemonsOverlookNobodyOnHardSeeds: pods were left over on these for whom there was a place, as a
// DaemonSet pod counted as there and as missing on one node, the DaemonSet pods of a further node
// excluded pods that were not placed again, or a pod had to move to another node.
func TestDaemonsOverlookNobodyOnHardSeeds(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1318, 1937, 2224, 3317, 3816, 3897, 4110} {
		in, opts := richProblem(seed, randproblem.Config{With: randproblem.DaemonLabels})
		require.Empty(t, verify.Unplaced(in, solved(t, in, opts), opts), "seed %d", seed)
	}
}
