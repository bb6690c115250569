package budgets_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func TestOnly(t *testing.T) {
	c, err := budgets.Compile([]v1.Budget{{Nodes: "10%"}}, &budgets.Policy{Only: []budgets.Only{
		{Openings: []budgets.Opening{{"0 2 * * mon-fri", 3 * time.Hour}, {"0 0 * * sat-sun", 24 * time.Hour}}},
		{Openings: []budgets.Opening{{"@daily", time.Hour}}, Reasons: []budgets.Reason{budgets.Drifted}},
	}})
	require.NoError(t, err)
	for _, row := range []struct {
		now   string
		want  int
		until string
	}{
		{"2026-03-04T01:59:00Z", 0, "2026-03-04T02:00:00Z"},
		{"2026-03-04T02:00:00Z", 3, "2026-03-04T05:00:00Z"},
		{"2026-03-04T05:00:00Z", 0, "2026-03-05T02:00:00Z"},
		{"2026-03-08T05:00:00Z", 3, "2026-03-09T00:00:00Z"},
	} {
		a := c.Allow(at(row.now), budgets.Counts{Nodes: 30}, budgets.Empty)
		require.Equal(t, row.want, a.Nodes, row.now)
		if row.want == 0 {
			require.Equal(t, at(row.until), a.Until, row.now)
		}
	}
	week := c.Calendar(at("2026-03-02T00:00:00Z"), at("2026-03-09T00:00:00Z"), budgets.Counts{Nodes: 30}, budgets.Empty)
	require.Len(t, week, 12, "five nights with time around them, and the weekend")
	require.Equal(t, at("2026-03-07T00:00:00Z"), week[11].From)
}

func TestExpiryUnderBudgets(t *testing.T) {
	pool := []v1.Budget{budget("5", "", 0), budget("2", "", 0, budgets.Drifted), budget("1", "", 0, budgets.Empty)}
	c, err := budgets.Compile(pool, &budgets.Policy{ExpiryUnderBudgets: true})
	require.NoError(t, err)
	require.Equal(t, 2, c.Allow(noon, budgets.Counts{Nodes: 50}, budgets.Expired).Nodes)
	c, err = budgets.Compile(pool, &budgets.Policy{Only: []budgets.Only{{Openings: []budgets.Opening{{"@daily", time.Hour}}}}})
	require.NoError(t, err)
	require.Equal(t, "only[0]", c.Allow(noon, budgets.Counts{Nodes: 50}, budgets.Expired).Decider.String())
}

func TestSeparateReasons(t *testing.T) {
	pool := []v1.Budget{budget("9", "", 0), budget("3", "", 0, budgets.Drifted), budget("3", "", 0, budgets.Empty)}
	c, err := budgets.Compile(pool, &budgets.Policy{SeparateReasons: true})
	require.NoError(t, err)
	counts := budgets.Counts{Nodes: 50, Disrupting: 3, By: budgets.ByReason{Drifted: 2, Underutilized: 1}}
	require.Equal(t, 1, c.Allow(noon, counts, budgets.Drifted).Nodes)
	require.Equal(t, 3, c.Allow(noon, counts, budgets.Empty).Nodes)
	require.Equal(t, 6, c.Allow(noon, counts, budgets.Underutilized).Nodes)
	counts.Disrupting++ // nobody knows why
	counts.NotReady = 1
	require.Equal(t, 1, c.Allow(noon, counts, budgets.Empty).Nodes)
}

func TestFaultyPolicyBlocks(t *testing.T) {
	empty := []budgets.Reason{budgets.Empty}
	daily := []budgets.Opening{{"@daily", time.Hour}}
	for want, only := range map[string]budgets.Only{
		`only[0].openings: Required value: say when disruption is allowed; to forbid it always use a budget of 0`:                                                                    {Reasons: empty},
		`only[0].openings[0].duration: Invalid value: "0s": want whole minutes, more than none`:                                                                                      {Openings: []budgets.Opening{{Schedule: "@daily"}}, Reasons: empty},
		`only[0].openings[0].schedule: Invalid value: "@never": "@never" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`: {Openings: []budgets.Opening{{"@never", time.Hour}}, Reasons: empty},
		`only[0].reasons[1]: Unsupported value: "Odd": supported values: "Drifted", "Empty", "Underutilized", "Unhealthy", "Expired"`:                                                {Openings: daily, Reasons: []budgets.Reason{budgets.Empty, "Odd"}},
	} {
		c, err := budgets.Compile(nil, &budgets.Policy{Only: []budgets.Only{only}})
		require.EqualError(t, err, want)
		require.Equal(t, "only[0] (malformed)", c.Allow(noon, budgets.Counts{Nodes: 5}, budgets.Empty).Decider.String())
		require.Equal(t, !slices.Contains(only.Reasons, "Odd"), c.Allow(noon, budgets.Counts{Nodes: 5}, budgets.Drifted).Unlimited, want)
	}
}

func TestValidateGroups(t *testing.T) {
	require.NoError(t, budgets.ValidateGroups(nil))
	require.NoError(t, budgets.ValidateGroups([]budgets.Group{
		{Name: "web", Pools: []string{"web"}, Budgets: []v1.Budget{{Nodes: "2"}}},
		{Name: "zones", Each: "zone", Labels: map[string]string{"gpu": "true"}, Budgets: []v1.Budget{{Nodes: "1"}}},
	}))
	err := budgets.ValidateGroups([]budgets.Group{{Name: "a", Each: "zone of it", Pools: []string{"web", ""}, Labels: map[string]string{"te am": "x", "team": "a b"}}})
	require.ErrorContains(t, err, `groups[0].pools[1]: Required value: name a NodePool, or remove the entry`)
	require.ErrorContains(t, err, `groups[0].labels: Invalid value: "te am": not a label key: name part must consist`)
	require.ErrorContains(t, err, `groups[0].labels[team]: Invalid value: "a b": not a label value: a valid label must be`)
	require.ErrorContains(t, err, `groups[0].each: Invalid value: "zone of it": not a label key: name part must consist`)

	err = budgets.ValidateGroups([]budgets.Group{{}, {Name: "a", Budgets: []v1.Budget{{Nodes: "x"}}}, {Name: "a"}})
	require.EqualError(t, err, `[groups[0].name: Required value: decisions name the group that blocks, `+
		`groups[1].budgets[0].nodes: Invalid value: "x": want a count such as "5" or a share from "0%" to "100%", groups[2].name: Duplicate value: "a"]`)
}
