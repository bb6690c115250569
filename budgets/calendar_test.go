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
				require.NotEqual(t, list[i-1].Binding, w.Binding)
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
	require.Empty(t, budgets.Calendar(noon, noon, documented(), budgets.Counts{}, budgets.Empty))
	require.Empty(t, budgets.Calendar(noon, noon.Add(-1), documented(), budgets.Counts{}, budgets.Empty))
	require.Len(t, budgets.Calendar(noon, noon.Add(1), nil, budgets.Counts{}, budgets.Empty), 1)
}

func TestCalendarStopsAtItsLimit(t *testing.T) {
	pool := []v1.Budget{budget("0", "*/2 * * * *", time.Minute)}
	list := budgets.Calendar(noon, noon.AddDate(5, 0, 0), pool, budgets.Counts{}, budgets.Empty)
	require.Len(t, list, budgets.MaxWindows)
	require.Equal(t, noon.Add(budgets.MaxWindows*time.Minute), list[len(list)-1].To)
}

func forecast(t *testing.T, pool []v1.Budget, policy *budgets.Policy, w budgets.Work) budgets.Timetable {
	c, err := budgets.Compile(pool, policy)
	require.NoError(t, err)
	table, err := c.Forecast(noon, w)
	require.NoError(t, err)
	total := 0
	for _, b := range table.Batches {
		total += b.Nodes
		require.Equal(t, w.Each, b.End.Sub(b.Start))
	}
	require.LessOrEqual(t, total, w.Nodes)
	if !table.Done.IsZero() {
		require.Equal(t, w.Nodes, total)
		require.Equal(t, w.Nodes, table.Replaced)
	}
	return table
}

func TestForecast(t *testing.T) {
	work := func(k, n int, each time.Duration) budgets.Work {
		return budgets.Work{Nodes: k, Each: each, Counts: budgets.Counts{Nodes: n}, Reason: budgets.Drifted}
	}
	// Two at a time: five batches.
	table := forecast(t, []v1.Budget{{Nodes: "2"}}, nil, work(10, 10, 20*time.Minute))
	require.Equal(t, noon.Add(100*time.Minute), table.Done)
	require.Len(t, table.Batches, 5)

	// The documented budgets: three at a time, working hours only. It is
	// Wednesday noon; five hours give 15 nodes, and the next day the last five.
	table = forecast(t, documented(), nil, work(20, 100, time.Hour))
	require.Equal(t, at("2026-03-05T11:00:00Z"), table.Done)
	require.Len(t, table.Batches, 7)
	require.Equal(t, at("2026-03-05T09:00:00Z"), table.Batches[5].Start)

	// One that begins before the window closes is finished after, and is no
	// reason to stop counting it.
	table = forecast(t, documented(), nil, work(4, 100, 10*time.Hour))
	require.Equal(t, at("2026-03-05T19:00:00Z"), table.Done)

	// Without budgets all at once.
	require.Equal(t, noon.Add(time.Minute), forecast(t, nil, nil, work(1e18, 1e18, time.Minute)).Done)
	require.Equal(t, noon, forecast(t, nil, nil, work(0, 5, time.Minute)).Done)

	// One a day.
	policy := &budgets.Policy{Rules: []budgets.Rule{budgets.Rate{Nodes: "1", Per: 24 * time.Hour}}}
	require.Equal(t, noon.Add(6*24*time.Hour+time.Minute), forecast(t, nil, policy, work(7, 50, time.Minute)).Done)

	// Three a day and two an hour: two, one an hour later, and so on each day.
	policy.Rules = []budgets.Rule{budgets.Rate{Nodes: "3", Per: 24 * time.Hour}, budgets.Rate{Nodes: "2", Per: time.Hour}}
	table = forecast(t, nil, policy, work(6, 50, time.Minute))
	require.Equal(t, noon.Add(25*time.Hour+time.Minute), table.Done)
	require.Len(t, table.Batches, 4)

	// What is disrupted already takes its time, too.
	busy := work(2, 10, time.Hour)
	busy.Counts.Disrupting, busy.Counts.Rebooting = 1, 1
	require.Equal(t, noon.Add(2*time.Hour), forecast(t, []v1.Budget{{Nodes: "2"}}, nil, busy).Done)
}

func TestForecastOfNever(t *testing.T) {
	w := budgets.Work{Nodes: 3, Each: time.Hour, Counts: budgets.Counts{Nodes: 9}, Reason: budgets.Empty}
	require.Equal(t, budgets.Timetable{Never: true, Blocked: budgets.Binding{Source: budgets.FromBudgets}},
		forecast(t, []v1.Budget{{Nodes: "0"}}, nil, w))
	w.Counts.NotReady = 2
	require.True(t, forecast(t, []v1.Budget{{Nodes: "2"}}, nil, w).Never, "nodes that are not ready stay so")
	w.Counts.NotReady = 0
	w.Horizon = 2 * time.Hour
	table := forecast(t, []v1.Budget{{Nodes: "1"}}, nil, w)
	require.True(t, table.Done.IsZero())
	require.False(t, table.Never)
	require.Equal(t, 2, table.Replaced)
	table = forecast(t, []v1.Budget{budget("0", "0 0 1 * *", 28*24*time.Hour)}, nil, w)
	require.Equal(t, budgets.Timetable{Blocked: budgets.Binding{Source: budgets.FromBudgets}}, table)
}

func TestForecastOfWrongWork(t *testing.T) {
	_, err := budgets.Forecast(noon, nil, budgets.Work{Nodes: 3, Horizon: -1})
	require.EqualError(t, err, `[nodes: Invalid value: 3: want a number from 0 to that of counts.nodes, `+
		`each: Invalid value: "0s": want a minute or more, and no more than five years, horizon: Invalid value: "-1ns": want five years at the most, or 0 for one year]`)
}
