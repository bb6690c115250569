package pack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestGap holds the gap between cost and bound on a market like that of a cloud
// to what it was measured to be, with a little room.
func TestGap(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	tests := []struct {
		pods        int
		worst, mean float64
	}{
		{100, 0.08, 0.05}, {1000, 0.02, 0.01}, {5000, 0.02, 0.01},
	}
	for _, tt := range tests {
		worst, total := 0.0, 0.0
		seeds := testlong.Seeds(5, 10)
		for seed := range uint64(seeds) {
			p := generic(seed, tt.pods, 50, 700)
			r := solve(t, p)
			require.Zero(t, left(r))
			gap := cost(r)/r.Bound - 1
			worst, total = max(worst, gap), total+gap
		}
		t.Logf("%d pods: worst gap %.4f, mean %.4f", tt.pods, worst, total/float64(seeds))
		require.LessOrEqual(t, worst, tt.worst, "%d pods", tt.pods)
		require.LessOrEqual(t, total/float64(seeds), tt.mean, "%d pods", tt.pods)
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

// TestQuickIsNotCheaper shows that the search of a problem includes that of its coarse
// version: where it stops before, it is near the bound.
func TestQuickIsNotCheaper(t *testing.T) {
	cheaper, apart := 0, pack.Rule{Kind: pack.Apart}
	for seed := range uint64(5) {
		p := diverse(seed, 150, 80)
		p.Rules = []pack.Rule{apart}
		for c := 0; c < len(p.Classes); c += 4 {
			p.Classes[c].Memberships = []pack.Membership{{Rule: 0, Owners: 1, Members: 1, Both: 1}}
		}
		quick := *p
		quick.Coarse, quick.NoBound = true, true
		coarse, err := pack.New(&quick).Solve(t.Context(), 1)
		require.NoError(t, err)
		full := solve(t, p)
		require.Zero(t, left(full)+left(coarse))
		if cost(coarse) > cost(full)*(1+1e-5) {
			cheaper++
		}
		require.LessOrEqual(t, cost(full), max(cost(coarse), full.Bound*1.015)*(1+1e-5), "seed %d", seed)
	}
	t.Logf("a full search is cheaper for %d", cheaper)
	require.Greater(t, cheaper, 2)
}
