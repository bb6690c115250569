package budgets_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

var noon = at("2026-03-04T12:00:00Z") // a Wednesday

// allow is budgets.Allow without its error.
func allow(now time.Time, bs []v1.Budget, c budgets.Counts, r budgets.Reason) budgets.Allowance {
	a, _ := budgets.Allow(now, bs, c, r)
	return a
}

// A reason that does not exist is an error, and no budget that does not apply to it lets nodes go.
func TestUnknownReason(t *testing.T) {
	pool := []v1.Budget{budget("0", "", 0, budgets.Drifted)}
	a, err := budgets.Allow(noon, pool, budgets.Counts{Nodes: 5}, "drifted")
	require.EqualError(t, err, `reason: Unsupported value: "drifted": supported values: "Drifted", "Empty", "Underutilized", "Unhealthy", "Expired"`)
	require.Equal(t, budgets.Allowance{Decider: budgets.Decider{Source: budgets.UnknownReason}}, a)
	c, err := budgets.Compile(pool, nil)
	require.NoError(t, err)
	require.Equal(t, []budgets.Window{{From: noon, To: noon.Add(time.Hour), Allowance: a}}, c.Calendar(noon, noon.Add(time.Hour), budgets.Counts{Nodes: 5}, "drifted"))
	require.Zero(t, c.Next(noon, budgets.Counts{Nodes: 5}, "drifted"))
	a, err = budgets.Allow(noon, append(pool, v1.Budget{Nodes: "x"}), budgets.Counts{Nodes: 5}, "Spot")
	require.ErrorContains(t, err, "budgets[1].nodes: Invalid value")
	require.ErrorContains(t, err, `reason: Unsupported value: "Spot"`)
	require.Zero(t, a.Nodes)
}

func TestPercentagesRoundUp(t *testing.T) {
	for _, row := range []struct {
		nodes       string
		pool, wants int
	}{
		{"10%", 0, 0}, {"10%", 1, 1}, {"10%", 10, 1}, {"10%", 11, 2}, {"20%", 19, 4}, {"5%", 10, 1},
		{"0%", 50, 0}, {"0", 50, 0}, {"100%", 7, 7}, {"5", 2, 5}, {"", 21, 3}, {"007", 1, 7},
		{"99%", math.MaxInt, math.MaxInt/100*99 + 7}, {"100%", math.MaxInt, math.MaxInt},
		{"9223372036854775807", 3, math.MaxInt}, {"3000000000", 3, 3_000_000_000}, {"10%", -4, 0},
	} {
		a := allow(noon, []v1.Budget{{Nodes: row.nodes}}, budgets.Counts{Nodes: row.pool}, budgets.Empty)
		require.Equal(t, row.wants, a.Nodes, "%s of %d", row.nodes, row.pool)
		require.False(t, a.Unlimited)
		require.True(t, a.Until.IsZero())
	}
}

func TestSmallestBudgetWins(t *testing.T) {
	pool := []v1.Budget{
		budget("50%", "", 0),
		budget("3", "", 0, budgets.Drifted, budgets.Empty),
		budget("8", "", 0, budgets.Drifted),
		budget("0", "", 0, []v1.DisruptionReason{}...),
		{Nodes: "0", Reasons: []v1.DisruptionReason{}}, // applies to none
	}
	pool[3].Reasons = []v1.DisruptionReason{budgets.Unhealthy}
	ask := func(n int, r budgets.Reason) (int, string) {
		a := allow(noon, pool, budgets.Counts{Nodes: n}, r)
		return a.Nodes, a.Decider.String()
	}
	for _, row := range []struct {
		n       int
		r       budgets.Reason
		want    int
		binding string
	}{
		{10, budgets.Drifted, 3, "budgets[1]"},
		{4, budgets.Drifted, 2, "budgets[0]"},
		{6, budgets.Empty, 3, "budgets[0]"}, // the first of equals
		{10, budgets.Underutilized, 5, "budgets[0]"},
		{10, budgets.Unhealthy, 0, "budgets[3]"},
		{10, "Unheard", 0, "unknown reason"},
	} {
		got, binding := ask(row.n, row.r)
		require.Equal(t, row.want, got, row)
		require.Equal(t, row.binding, binding, row)
	}
}

func TestNoBudgetIsNoBound(t *testing.T) {
	want := budgets.Allowance{Nodes: math.MaxInt, Limit: math.MaxInt, Unlimited: true}
	for _, pool := range [][]v1.Budget{nil, {}, {budget("0", "", 0, budgets.Empty)}, {budget("0", "@daily", 0)}, {budget("0", "0 0 30 2 *", time.Hour)}} {
		require.Equal(t, want, allow(noon, pool, budgets.Counts{Nodes: 5, Disrupting: 5}, budgets.Drifted))
	}
	require.Equal(t, want, allow(noon, documented(), budgets.Counts{Nodes: 5}, budgets.Expired), "expiry")
	require.Equal(t, "none", want.Decider.String())
	var zero budgets.Compiled
	require.Equal(t, want, zero.Allow(noon, budgets.Counts{}, budgets.Empty))
}

// The window is [hit, hit+duration), whatever the location of the clock.
func TestWindowBoundaries(t *testing.T) {
	pool := []v1.Budget{budget("0", "0 9 * * *", 8*time.Hour)}
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, row := range []struct {
		now     string
		blocked bool
		until   string
	}{
		{"2026-03-04T08:59:59.999999999Z", false, "2026-03-04T09:00:00Z"},
		{"2026-03-04T09:00:00Z", true, "2026-03-04T17:00:00Z"},
		{"2026-03-04T16:59:59.999999999Z", true, "2026-03-04T17:00:00Z"},
		{"2026-03-04T17:00:00Z", false, "2026-03-05T09:00:00Z"},
	} {
		for _, loc := range []*time.Location{time.UTC, berlin} {
			a := allow(at(row.now).In(loc), pool, budgets.Counts{Nodes: 5}, budgets.Empty)
			require.Equal(t, row.blocked, !a.Unlimited, row.now)
			require.Equal(t, at(row.until).In(loc), a.Until, row.now)
		}
	}
}

func TestWindowsThatTouchOrOverlap(t *testing.T) {
	for _, row := range []struct {
		schedule string
		length   time.Duration
		now      string
		until    string // "" is never
	}{
		{"@daily", 24 * time.Hour, "2026-03-04T12:00:00Z", ""},
		{"@daily", 24*time.Hour - time.Minute, "2026-03-04T12:00:00Z", "2026-03-04T23:59:00Z"},
		{"@daily", 100 * time.Hour, "2026-03-04T12:00:00Z", ""},
		{"@hourly", time.Hour, "2026-03-04T12:00:00Z", ""},
		{"* * * * *", time.Minute, "2026-03-04T12:00:00Z", ""},
		{"@weekly", 7 * 24 * time.Hour, "2026-03-04T12:00:00Z", ""},
		{"@monthly", 31 * 24 * time.Hour, "2026-03-04T12:00:00Z", ""},
		{"@monthly", 30 * 24 * time.Hour, "2026-02-04T12:00:00Z", "2026-03-31T00:00:00Z"},
		{"@yearly", 366 * 24 * time.Hour, "2026-02-04T12:00:00Z", ""},
		{"0 0 29 2 *", 5 * 365 * 24 * time.Hour, "2026-02-04T12:00:00Z", "2101-02-28T00:00:00Z"},
		{"0 0 29 2 *", 106751 * 24 * time.Hour, "2026-02-04T12:00:00Z", ""},
		{"0 9 * * sat-sun", 24 * time.Hour, "2026-03-07T10:00:00Z", "2026-03-09T09:00:00Z"},
		{"* 9-17 * * mon-fri", time.Minute, "2026-03-04T12:00:00Z", "2026-03-04T18:00:00Z"},
		{"* * 1-27 * *", time.Minute, "2026-03-04T12:00:00Z", "2026-03-28T00:00:00Z"},
		{"0 0 * 1-11 *", 24 * time.Hour, "2026-03-04T12:00:00Z", "2026-12-01T00:00:00Z"},
		{"0,30 9-12 * * *", 30 * time.Minute, "2026-03-04T12:00:00Z", "2026-03-04T13:00:00Z"},
		{"0 22-23,0-5 * * *", 3 * time.Hour, "2026-03-04T23:30:00Z", "2026-03-05T08:00:00Z"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", 24 * time.Hour, "2026-03-04T12:00:00Z", "2026-10-25T22:00:00Z"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", 25 * time.Hour, "2026-03-04T12:00:00Z", ""},
		{"CRON_TZ=Europe/Berlin * * * * *", time.Minute, "2026-03-04T12:00:00Z", ""},
		{"CRON_TZ=Asia/Tokyo 0 0 * * *", 24 * time.Hour, "2026-03-04T12:00:00Z", ""},
	} {
		pool := []v1.Budget{budget("0", row.schedule, row.length)}
		compiled, err := budgets.Compile(pool, nil)
		require.NoError(t, err)
		want := time.Time{}
		if row.until != "" {
			want = at(row.until)
		}
		for _, a := range []budgets.Allowance{
			compiled.Allow(at(row.now), budgets.Counts{Nodes: 5}, budgets.Empty),
			allow(at(row.now), pool, budgets.Counts{Nodes: 5}, budgets.Empty),
		} {
			require.False(t, a.Unlimited, row.schedule)
			require.Equal(t, want, a.Until, "%s for %s", row.schedule, row.length)
		}
	}
}

// Durations are elapsed time also on the days on which the clock moves.
func TestWindowsInTheNightsOfTheClock(t *testing.T) {
	pool := []v1.Budget{budget("0", "CRON_TZ=Europe/Berlin 30 2 * * *", time.Hour)}
	for _, row := range []struct{ from, want string }{
		{"2026-03-28T12:00:00Z", "01:30 02:30"}, // 3:30 to 4:30 by the new clock
		{"2026-10-24T12:00:00Z", "00:30 01:30"}, // the first 2:30, to the second
		{"2026-10-25T00:40:00Z", "00:40 01:30"}, // once only
		{"2026-10-25T01:40:00Z", "01:30 02:30"}, // the day after
	} {
		for _, w := range calendarOf(pool, at(row.from), at(row.from).Add(36*time.Hour), budgets.Counts{Nodes: 1}, budgets.Empty) {
			if !w.Unlimited {
				require.Equal(t, row.want, w.From.Format("15:04 ")+w.To.Format("15:04"))
				break
			}
		}
	}
}

func TestOneMalformedBudgetBlocksWhatItNames(t *testing.T) {
	hourly, length := "@hourly", &metav1.Duration{Duration: time.Hour}
	bad := map[string]v1.Budget{
		"nodes":    {Nodes: "many"},
		"digits":   {Nodes: "99999999999999999999"},
		"schedule": {Nodes: "5", Schedule: new("0 25 * * *"), Duration: length},
		"zone":     {Nodes: "5", Schedule: new("TZ=Mars/Base 0 0 * * *"), Duration: length},
		"duration": {Nodes: "5", Schedule: &hourly, Duration: &metav1.Duration{Duration: time.Second}},
		"negative": {Nodes: "5", Schedule: &hourly, Duration: &metav1.Duration{Duration: -time.Hour}},
		"alone":    {Nodes: "5", Duration: length},
		"other":    {Nodes: "5", Schedule: &hourly},
		"twice":    {Nodes: "5", Reasons: []v1.DisruptionReason{budgets.Drifted, budgets.Drifted}},
	}
	for name, b := range bad {
		if name != "twice" {
			all := allow(noon, []v1.Budget{{Nodes: "2"}, b}, budgets.Counts{Nodes: 9}, budgets.Empty)
			require.Equal(t, "budgets[1] (malformed)", all.Decider.String(), name)
			require.Zero(t, all.Nodes, name)
		}
		b.Reasons = append(b.Reasons, budgets.Drifted)
		pool := []v1.Budget{{Nodes: "2"}, b}
		compiled, err := budgets.Compile(pool, nil)
		require.ErrorContains(t, err, "budgets[1].", name)
		require.Zero(t, compiled.Allow(noon, budgets.Counts{Nodes: 9}, budgets.Drifted).Nodes, name)
		require.Equal(t, 2, compiled.Allow(noon, budgets.Counts{Nodes: 9}, budgets.Empty).Nodes, name)
	}
	misspelled, err := budgets.Compile([]v1.Budget{{Nodes: "2", Reasons: []v1.DisruptionReason{"empty"}}}, nil)
	require.ErrorContains(t, err, `budgets[0].reasons[0]: Unsupported value: "empty"`)
	for _, r := range v1.DisruptionReasons() {
		require.Zero(t, misspelled.Allow(noon, budgets.Counts{Nodes: 9}, r).Nodes, r)
	}
	_, err = budgets.Compile([]v1.Budget{{Nodes: "x"}, {Nodes: "1"}, {Nodes: "y", Schedule: &hourly}}, nil)
	require.EqualError(t, err, `[budgets[0].nodes: Invalid value: "x": want a count such as "5" or a share from "0%" to "100%", `+
		`budgets[2].nodes: Invalid value: "y": want a count such as "5" or a share from "0%" to "100%", `+
		`budgets[2].duration: Required value: a schedule opens a window, say for how long; or remove the schedule for a budget that always applies]`)
}

func TestCount(t *testing.T) {
	fine := budgets.NodeState{Managed: true, Initialized: true, Ready: true}
	with := func(change func(*budgets.NodeState)) budgets.NodeState {
		n := fine
		change(&n)
		return n
	}
	for name, row := range map[string]struct {
		node budgets.NodeState
		want budgets.Counts
	}{
		"in service":      {fine, budgets.Counts{Nodes: 1}},
		"not managed":     {with(func(n *budgets.NodeState) { n.Managed = false }), budgets.Counts{}},
		"not initialized": {with(func(n *budgets.NodeState) { n.Initialized = false }), budgets.Counts{}},
		"terminating":     {with(func(n *budgets.NodeState) { n.InstanceTerminating, n.Disrupting = true, true }), budgets.Counts{}},
		"not ready":       {with(func(n *budgets.NodeState) { n.Ready = false }), budgets.Counts{Nodes: 1, NotReady: 1}},
		"rebooting":       {with(func(n *budgets.NodeState) { n.Ready, n.Initialized, n.Rebooting = false, false, true }), budgets.Counts{Nodes: 1, Rebooting: 1}},
		"both, once": {with(func(n *budgets.NodeState) { n.Ready, n.Disrupting, n.Reason = false, true, budgets.Empty }),
			budgets.Counts{Nodes: 1, Disrupting: 1, By: budgets.ByReason{Empty: 1}}},
	} {
		require.Equal(t, row.want, budgets.Count([]budgets.NodeState{row.node}), name)
	}
}

func TestWhatCountsAgainstABudget(t *testing.T) {
	pool := []v1.Budget{{Nodes: "5"}}
	counts := budgets.Counts{Nodes: 20, Disrupting: 1, Rebooting: 1, NotReady: 2}
	require.Equal(t, 1, allow(noon, pool, counts, budgets.Drifted).Nodes)
	require.Equal(t, 3, allow(noon, pool, counts, budgets.Unhealthy).Nodes, "repair is for what is not ready")
	require.Equal(t, 5, allow(noon, pool, counts, budgets.Drifted).Limit)
	counts.NotReady = math.MaxInt
	a := allow(noon, append(pool, v1.Budget{Nodes: "2"}), counts, budgets.Drifted)
	require.Zero(t, a.Nodes, "never negative")
	require.Equal(t, 1, a.Decider.Index, "the strictest decides below zero too")
	require.Equal(t, 5, allow(noon, pool, budgets.Counts{Nodes: 20, Disrupting: -3}, budgets.Empty).Nodes)
}

// The examples of Karpenter's documentation do what its text says.
func TestDocumentedExamples(t *testing.T) {
	pool := append(documented(), budget("5%", "0 9 * * MON-FRI", 8*time.Hour, budgets.Underutilized))
	for _, row := range []struct {
		now     string
		reason  budgets.Reason
		n, want int
	}{
		{"2026-03-06T12:00:00Z", budgets.Empty, 10, 2},  // Friday: 15%
		{"2026-03-06T12:00:00Z", budgets.Empty, 100, 3}, // 3
		{"2026-03-06T17:00:00Z", budgets.Drifted, 100, 0},
		{"2026-03-06T17:00:00Z", budgets.Empty, 100, 3},
		{"2026-03-07T08:59:00Z", budgets.Drifted, 100, 0}, // Saturday, the rest of Friday's night
		{"2026-03-07T08:59:00Z", budgets.Empty, 100, 3},
		{"2026-03-07T09:00:00Z", budgets.Empty, 100, 0},
		{"2026-03-09T08:59:00Z", budgets.Unhealthy, 100, 0}, // Monday
		{"2026-03-09T09:00:00Z", budgets.Drifted, 100, 3},
		{"2026-03-09T09:00:00Z", budgets.Underutilized, 10, 1},
		{"2026-03-09T17:00:00Z", budgets.Underutilized, 10, 2},
	} {
		a := allow(at(row.now), pool, budgets.Counts{Nodes: row.n}, row.reason)
		require.Equal(t, row.want, a.Nodes, "%+v", row)
	}
}

// Instants that no calendar shows must not hang or panic.
func TestStrangeInstants(t *testing.T) {
	pool := append(documented(), budget("0", "CRON_TZ=Europe/Berlin 0 0 * * *", 24*time.Hour), budget("0", "TZ=America/Lima 0 0 29 2 *", time.Hour))
	for _, now := range []time.Time{{}, time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), time.Unix(1<<55, 0),
		time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(99999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(1883, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, reason := range v1.DisruptionReasons() {
			a := allow(now, pool, budgets.Counts{Nodes: 10}, reason)
			require.True(t, a.Until.IsZero() || a.Until.After(now))
		}
		_ = calendarOf(pool, now, now.AddDate(0, 1, 0), budgets.Counts{Nodes: 10}, budgets.Empty)
	}
}

// A window that outlasts many further hits ends as the last of them says.
func TestLongWindows(t *testing.T) {
	for text, want := range map[string]string{
		"*/30 1-3 1-4 1,6 *":                       "2026-03-05T03:30:00Z", // 60 days from 4 January
		"CRON_TZ=America/New_York */7 3 1-6/2 1 *": "2026-03-06T08:56:00Z", // from 5 January, 3:56
		"CRON_TZ=America/New_York * * * 1 *":       "2026-04-02T04:59:00Z", // from 31 January, 23:59, by the clock of winter
	} {
		c, err := budgets.Compile([]v1.Budget{budget("0", text, 60*24*time.Hour)}, nil)
		require.NoError(t, err)
		a := c.Allow(at("2026-02-10T12:00:00Z"), budgets.Counts{Nodes: 10}, budgets.Drifted)
		require.Equal(t, at(want), a.Until, text)
		require.Zero(t, a.Nodes, text)
		require.True(t, c.Allow(a.Until, budgets.Counts{Nodes: 10}, budgets.Drifted).Unlimited, text)
	}
}
