package budgets_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

// The calendar covers the time asked about without gaps, and says at every
// boundary, and between, what Allow says.
func TestCalendarAgreesWithAllow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	zones := []string{"", "Europe/London", "America/Santiago", "Asia/Kolkata"}
	counts := budgets.Counts{Nodes: 30, NotReady: 1}
	for range 60 {
		var pool []v1.Budget
		for range 3 {
			text, _ := anyPlan(rng, zones[rng.IntN(len(zones))])
			pool = append(pool, budget([]string{"0", "4", "20%"}[rng.IntN(3)], text, time.Duration(rng.IntN(40))*time.Hour))
		}
		c, err := budgets.Compile(pool, nil)
		require.NoError(t, err)
		from := noon.Add(time.Duration(rng.Int64N(int64(1e9 * 86400 * 300))))
		to := from.AddDate(0, 1, 0)
		list := c.Calendar(from, to, counts, budgets.Drifted)
		require.Equal(t, from, list[0].From)
		require.Equal(t, to, list[len(list)-1].To)
		for i, w := range list {
			require.True(t, w.From.Before(w.To))
			if i > 0 {
				require.Equal(t, list[i-1].To, w.From)
				require.NotEqual(t, list[i-1].Decider, w.Decider)
			}
			middle := w.From.Add(w.To.Sub(w.From) / 2)
			for _, now := range []time.Time{w.From, middle, w.To.Add(-1)} {
				a := c.Allow(now, counts, budgets.Drifted)
				require.Equal(t, w.Allowance, a)
			}
		}
	}
}

func TestCalendarOfNothing(t *testing.T) {
	require.Empty(t, calendarOf(documented(), noon, noon, budgets.Counts{}, budgets.Empty))
	require.Empty(t, calendarOf(documented(), noon, noon.Add(-1), budgets.Counts{}, budgets.Empty))
	require.Len(t, calendarOf(nil, noon, noon.Add(1), budgets.Counts{}, budgets.Empty), 1)
}

func TestCalendarStopsAtItsLimit(t *testing.T) {
	pool := []v1.Budget{budget("0", "*/2 * * * *", time.Minute)}
	list := calendarOf(pool, noon, noon.AddDate(5, 0, 0), budgets.Counts{}, budgets.Empty)
	require.Len(t, list, budgets.MaxWindows)
	require.Equal(t, noon.Add(budgets.MaxWindows*time.Minute), list[len(list)-1].To)
}

// calendarOf returns the calendar of budgets without a policy.
func calendarOf(bs []v1.Budget, from, to time.Time, n budgets.Counts, r budgets.Reason) []budgets.Window {
	c, _ := budgets.Compile(bs, nil)
	return c.Calendar(from, to, n, r)
}
