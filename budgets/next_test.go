package budgets_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func TestNext(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	night := &budgets.Policy{Only: []budgets.Only{{Openings: []budgets.Opening{{"0 22 * * *", 6 * hour}}}}}
	for name, row := range map[string]struct {
		pool   []v1.Budget
		policy *budgets.Policy
		want   string // none if empty
	}{
		"no budget":              {},
		"always":                 {pool: []v1.Budget{budget("10%", "", 0)}},
		"malformed":              {pool: []v1.Budget{{Nodes: "x"}, budget("0", "@daily", 13*hour)}},
		"window closes":          {pool: []v1.Budget{budget("10%", "", 0), budget("0", "0 9 * * *", 8*hour)}, want: "2026-03-04T17:00:00Z"},
		"not by then":            {pool: []v1.Budget{budget("1", "", 0), budget("0", "0 9 * * *", 8*hour), budget("0", "0 16 * * *", 4*hour)}, want: "2026-03-04T20:00:00Z"},
		"an equal one at first":  {pool: []v1.Budget{budget("0", "0 9 * * *", 4*hour), budget("0", "", 0)}},
		"restricts, then closes": {pool: []v1.Budget{budget("5", "0 9 * * *", 8*hour), budget("2", "0 15 * * *", 8*hour)}, want: "2026-03-04T23:00:00Z"},
		"days and weekends":      {pool: []v1.Budget{budget("0", "0 0 * * 1-5", day), budget("0", "0 0 * * 0,6", day)}},
		"two in turn":            {pool: []v1.Budget{budget("0", "*/2 * * * *", time.Minute), budget("0", "1-59/2 * * * *", time.Minute)}},
		"all but 29 February":    {pool: []v1.Budget{budget("0", "0 0 1-28 2 *", day), budget("0", "0 0 * 1,3-12 *", day)}, want: "2028-02-29T00:00:00Z"},
		"only at night":          {policy: night, want: "2026-03-04T22:00:00Z"},
		"only at night, and 0":   {pool: []v1.Budget{budget("0", "0 20 * * *", 3*hour)}, policy: night, want: "2026-03-04T23:00:00Z"},
		"other reasons":          {pool: []v1.Budget{budget("0", "0 9 * * *", 8*hour), budget("0", "", 0, budgets.Drifted)}, want: "2026-03-04T17:00:00Z"},
	} {
		c, _ := budgets.Compile(row.pool, row.policy)
		var want time.Time
		if row.want != "" {
			want = at(row.want)
		}
		require.Equal(t, want, c.Next(noon, budgets.Counts{Nodes: 50}, budgets.Empty), name)
	}
}

// The answer is the beginning of the first window of the calendar with more nodes.
func TestNextAgainstCalendar(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	counts := budgets.Counts{Nodes: 41, Disrupting: 1}
	found := 0
	for range 200 {
		var pool []v1.Budget
		for range 3 {
			schedule, _ := anyPlan(rng, []string{"", "Europe/Berlin"}[rng.IntN(2)])
			pool = append(pool, budget([]string{"0", "2", "5%", "30%"}[rng.IntN(4)], schedule, time.Duration(1+rng.IntN(3000))*time.Minute))
		}
		c, err := budgets.Compile(pool, nil)
		require.NoError(t, err)
		now := noon.Add(time.Duration(rng.IntN(365*24*60)) * time.Minute)
		end := now.AddDate(0, 3, 0)
		nodes := c.Allow(now, counts, budgets.Empty).Nodes
		var want time.Time
		for w := range c.Windows(now, end, counts, budgets.Empty) {
			if w.Nodes > nodes {
				want = w.From
				break
			}
		}
		got := c.Next(now, counts, budgets.Empty)
		if want.IsZero() {
			require.True(t, got.IsZero() || !got.Before(end), "%s after %s: %s", got, now, texts(pool))
			continue
		}
		found++
		require.Equal(t, want, got, "after %s: %s", now, texts(pool))
	}
	require.Greater(t, found, 50)
}
