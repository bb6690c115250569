package advice_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

func unplacedOf(p *provisioning.Plan) map[string]bool {
	out := map[string]bool{}
	for _, u := range p.Unplaced {
		out[u.Pod.Namespace+"/"+u.Pod.Name] = true
	}
	return out
}

// requestsIn returns the requests among constraints, sorted.
func requestsIn(list []advice.Constraint) (names []string) {
	for _, c := range list {
		if c.Kind == advice.KindRequest {
			names = append(names, c.String())
		}
	}
	slices.Sort(names)
	return names
}

// requestsAnswered are those that a report says anything of.
func requestsAnswered(r *advice.Report) []string {
	all := slices.Concat(r.Needed, r.NotAsked)
	for _, p := range r.Requests {
		all = append(all, p.Constraints...)
	}
	return requestsIn(all)
}

// TestLawPricesAreBills: what a price says is what Solve finds for the input without the
// constraint, and no pod loses its place.
func TestLawPricesAreBills(t *testing.T) {
	t.Parallel()
	priced, pairs := 0, 0
	for seed := range uint64(seeds(5, 60, 200)) {
		in, opts := randproblem.Draw(seed, randproblem.Config{Without: randproblem.Defaults}), randproblem.DrawOptions(seed, randproblem.Config{})
		in.Nominated = nil
		before, err := provisioning.Solve(t.Context(), in, opts)
		require.NoError(t, err)
		r, err := advice.Ask(t.Context(), in, &advice.Options{Provisioning: opts, Questions: 5})
		require.NoError(t, err)
		require.InDelta(t, before.Cost, r.Cost, 1e-9, "seed %d", seed)
		check := func(p advice.Price) {
			priced++
			without := in
			for _, c := range p.Constraints {
				without = c.Without(without)
			}
			after, err := provisioning.Solve(t.Context(), without, opts)
			require.NoError(t, err)
			require.InDelta(t, before.Cost-after.Cost, p.Saves, 1e-9, "seed %d: %s", seed, p)
			require.LessOrEqual(t, p.AtLeast, p.Saves+1e-9, "seed %d: %s", seed, p)
			require.GreaterOrEqual(t, p.AtMost, p.Saves-1e-9, "seed %d: %s", seed, p)
			had, has := unplacedOf(before), unplacedOf(after)
			for name := range has {
				require.Contains(t, had, name, "seed %d: %s", seed, p)
			}
			require.Len(t, p.Placed, len(had)-len(has), "seed %d: %s", seed, p)
		}
		for _, p := range r.Prices {
			check(p)
		}
		for _, p := range r.Requests {
			check(p)
		}
		require.Equal(t, requestsIn(advice.Constraints(in)), requestsAnswered(r), "seed %d: each request has an answer or is named", seed)
		for _, p := range r.Pairs {
			pairs++
			check(p)
		}
	}
	t.Logf("%d prices, of them %d of pairs", priced, pairs)
	require.Greater(t, priced, seeds(30, 60, 60))
}
