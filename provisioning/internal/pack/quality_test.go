package pack_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGap holds the gap between cost and bound on a market like that of a cloud
// to what it was measured to be, with a little room.
func TestGap(t *testing.T) {
	tests := []struct {
		pods        int
		worst, mean float64
	}{
		{100, 0.08, 0.05}, {1000, 0.02, 0.01}, {5000, 0.02, 0.01},
	}
	for _, tt := range tests {
		worst, total := 0.0, 0.0
		const seeds = 10
		for seed := range uint64(seeds) {
			p := generic(seed, tt.pods, 50, 700)
			r := solve(t, p)
			require.Zero(t, left(r))
			gap := cost(r)/r.Bound - 1
			worst, total = max(worst, gap), total+gap
		}
		t.Logf("%d pods: worst gap %.4f, mean %.4f", tt.pods, worst, total/seeds)
		require.LessOrEqual(t, worst, tt.worst, "%d pods", tt.pods)
		require.LessOrEqual(t, total/seeds, tt.mean, "%d pods", tt.pods)
	}
}

// TestManyClasses has pods of which no two are alike: nothing can be done for
// many at once.
func TestManyClasses(t *testing.T) {
	r := solve(t, diverse(1, 5000, 200))
	require.Zero(t, left(r))
	require.Less(t, cost(r), 1.02*r.Bound)
	t.Logf("gap %.4f in %d steps", cost(r)/r.Bound-1, r.Steps)
}
