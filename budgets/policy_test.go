package budgets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func with(t *testing.T, rules ...budgets.Rule) *budgets.Compiled {
	c, err := budgets.Compile([]v1.Budget{{Nodes: "10%"}}, &budgets.Policy{Rules: rules})
	require.NoError(t, err)
	return c
}

func TestRate(t *testing.T) {
	c := with(t, budgets.Rate{Nodes: "2", Per: 24 * time.Hour}, budgets.Rate{Nodes: "1", Per: time.Hour, Reasons: []budgets.Reason{budgets.Empty}})
	counts := budgets.Counts{Nodes: 100, History: []budgets.Past{
		{At: noon.Add(-2 * time.Hour), Reason: budgets.Drifted},
		{At: noon.Add(-24 * time.Hour)}, // is forgotten at this instant
	}}
	a := c.Allow(noon, counts, budgets.Drifted)
	require.Equal(t, budgets.Allowance{Nodes: 1, Limit: 2, Binding: budgets.Binding{Source: budgets.FromRules}, Until: noon.Add(22 * time.Hour)}, a)
	require.Equal(t, 0, c.Allow(noon.Add(-1), counts, budgets.Drifted).Nodes)
	counts.History = append(counts.History, budgets.Past{At: noon.Add(time.Minute), Reason: budgets.Empty}) // the future counts
	a = c.Allow(noon, counts, budgets.Empty)
	require.Equal(t, 0, a.Nodes)
	require.Equal(t, "rules[0]", a.Binding.String())
	a = c.Allow(noon.Add(23*time.Hour), counts, budgets.Drifted)
	require.Equal(t, 1, a.Nodes)
}

func TestOnly(t *testing.T) {
	c := with(t, budgets.Only{Openings: []budgets.Opening{{"0 2 * * mon-fri", 3 * time.Hour}, {"0 0 * * sat-sun", 24 * time.Hour}}})
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

func TestFreeze(t *testing.T) {
	c := with(t, budgets.Freeze{From: noon, To: noon.Add(time.Hour)}, budgets.Freeze{From: noon.Add(30 * time.Minute), To: noon.Add(2 * time.Hour), Nodes: "1"})
	var got []int
	for _, w := range c.Calendar(noon.Add(-time.Hour), noon.Add(3*time.Hour), budgets.Counts{Nodes: 30}, budgets.Empty) {
		got = append(got, int(w.To.Sub(w.From).Minutes()), w.Nodes)
	}
	require.Equal(t, []int{60, 3, 60, 0, 60, 1, 60, 3}, got)
}

func TestKeep(t *testing.T) {
	c := with(t, budgets.Keep{Nodes: "1"}, budgets.Keep{Nodes: "50%", Reasons: []budgets.Reason{budgets.Drifted}})
	allow := func(n, disrupting int, r budgets.Reason) int {
		return c.Allow(noon, budgets.Counts{Nodes: n, Disrupting: disrupting}, r).Nodes
	}
	require.Equal(t, 0, allow(1, 0, budgets.Empty), "10% of one is one, but one is kept")
	require.Equal(t, 1, allow(2, 0, budgets.Empty))
	require.Equal(t, 0, allow(2, 1, budgets.Empty))
	require.Equal(t, 0, allow(0, 0, budgets.Empty))
	require.Equal(t, 1, allow(3, 0, budgets.Drifted))
	require.Equal(t, 0, allow(1, 0, budgets.Expired))
}

func TestExpiryUnderBudgets(t *testing.T) {
	pool := []v1.Budget{budget("5", "", 0), budget("2", "", 0, budgets.Drifted), budget("1", "", 0, budgets.Empty)}
	c, err := budgets.Compile(pool, &budgets.Policy{ExpiryUnderBudgets: true})
	require.NoError(t, err)
	require.Equal(t, 2, c.Allow(noon, budgets.Counts{Nodes: 50}, budgets.Expired).Nodes)
	c, err = budgets.Compile(pool, &budgets.Policy{Rules: []budgets.Rule{budgets.Rate{Nodes: "4", Per: time.Hour}}})
	require.NoError(t, err)
	require.Equal(t, "rules[0]", c.Allow(noon, budgets.Counts{Nodes: 50}, budgets.Expired).Binding.String())
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

func TestFaultyRulesBlock(t *testing.T) {
	empty := []budgets.Reason{budgets.Empty}
	for want, rule := range map[string]budgets.Rule{
		`rules[0].nodes: Invalid value: "": want a count such as "5" or a share from "0%" to "100%"`:                                                                                  budgets.Rate{Per: time.Hour, Reasons: empty},
		`rules[0].per: Invalid value: "0s": want a positive length of time such as 24h`:                                                                                               budgets.Rate{Nodes: "1", Reasons: empty},
		`rules[0].nodes: Invalid value: "-1": want a count such as "5" or a share from "0%" to "100%"`:                                                                                budgets.Keep{Nodes: "-1", Reasons: empty},
		`rules[0].to: Invalid value: "2026-03-04T12:00:00Z": want an instant after from`:                                                                                              budgets.Freeze{From: noon, To: noon, Reasons: empty},
		`rules[0].nodes: Invalid value: "x": want a count such as "5" or a share from "0%" to "100%"`:                                                                                 budgets.Freeze{From: noon, To: noon.Add(1), Nodes: "x", Reasons: empty},
		`rules[0].openings: Required value: say when disruption is allowed; to forbid it always use a budget of 0`:                                                                    budgets.Only{Reasons: empty},
		`rules[0].openings[0].duration: Invalid value: "0s": want whole minutes, more than none`:                                                                                      budgets.Only{Openings: []budgets.Opening{{Schedule: "@daily"}}, Reasons: empty},
		`rules[0].openings[0].schedule: Invalid value: "@never": "@never" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`: budgets.Only{Openings: []budgets.Opening{{"@never", time.Hour}}, Reasons: empty},
		`rules[0].reasons[1]: Unsupported value: "Odd": supported values: "Drifted", "Empty", "Underutilized", "Unhealthy", "Expired"`:                                                budgets.Keep{Nodes: "0", Reasons: []budgets.Reason{budgets.Empty, "Odd"}},
		`rules[0]: Invalid value: "<nil>": want a value of type Rate, Only, Freeze or Keep`:                                                                                           nil,
	} {
		c, err := budgets.Compile(nil, &budgets.Policy{Rules: []budgets.Rule{rule}})
		require.EqualError(t, err, want)
		require.Equal(t, "rules[0] (malformed)", c.Allow(noon, budgets.Counts{Nodes: 5}, budgets.Empty).Binding.String())
		require.Equal(t, rule != nil, c.Allow(noon, budgets.Counts{Nodes: 5}, budgets.Drifted).Unlimited, want)
	}
}

func TestGroups(t *testing.T) {
	groups, err := budgets.NewGroups([]budgets.Group{
		{Name: "all", Budgets: []v1.Budget{{Nodes: "3"}}},
		{Name: "web", Pools: []string{"web"}, Budgets: []v1.Budget{{Nodes: "2"}}},
		{Name: "zones", Each: "zone", Budgets: []v1.Budget{{Nodes: "1"}}},
		{Name: "gpu", Labels: map[string]string{"gpu": "true"}, Budgets: []v1.Budget{{Nodes: "0"}}},
	})
	require.NoError(t, err)
	node := func(name, pool, zone string) budgets.Node {
		return budgets.Node{Name: name, Pool: pool, Labels: map[string]string{"zone": zone},
			NodeState: budgets.NodeState{Managed: true, Initialized: true, Ready: true}}
	}
	nodes := []budgets.Node{node("a1", "web", "a"), node("a2", "web", "a"), node("b1", "web", "b"), node("c1", "web", "c"),
		node("d1", "db", "d"), node("e1", "db", "e"), node("g1", "db", "g"), node("x1", "db", "x")}
	nodes[6].Labels["gpu"] = "true"
	nodes[7].Disrupting = true
	decide := func() (texts []string) {
		for _, d := range groups.Admit(noon, nodes, nil, []string{"a1", "a2", "a1", "b1", "c1", "g1", "none", "d1", "x1"}, budgets.Drifted) {
			switch {
			case d.Allowed:
				texts = append(texts, d.Node)
			default:
				texts = append(texts, "not "+d.Node+" "+d.Group)
			}
		}
		return texts
	}
	require.Equal(t, []string{"a1", "not a2 zones[a]", "not a1 ", "b1", "not c1 all", "not g1 all", "not none ", "not d1 all", "not x1 "}, decide())
	nodes[7].Disrupting = false
	require.Equal(t, []string{"a1", "not a2 zones[a]", "not a1 ", "b1", "not c1 web", "not g1 gpu", "not none ", "d1", "not x1 all"}, decide())

	_, err = budgets.NewGroups([]budgets.Group{{Name: "a", Each: "zone of it", Pools: []string{"web", ""}, Labels: map[string]string{"te am": "x", "team": "a b"}}})
	require.ErrorContains(t, err, `groups[0].pools[1]: Required value: name a NodePool, or remove the entry`)
	require.ErrorContains(t, err, `groups[0].labels: Invalid value: "te am": not a label key: name part must consist`)
	require.ErrorContains(t, err, `groups[0].labels[team]: Invalid value: "a b": not a label value: a valid label must be`)
	require.ErrorContains(t, err, `groups[0].each: Invalid value: "zone of it": not a label key: name part must consist`)

	_, err = budgets.NewGroups([]budgets.Group{{}, {Name: "a", Budgets: []v1.Budget{{Nodes: "x"}}}, {Name: "a"}})
	require.EqualError(t, err, `[groups[0].name: Required value: decisions name the group that blocks, `+
		`groups[1].budgets[0].nodes: Invalid value: "x": want a count such as "5" or a share from "0%" to "100%", groups[2].name: Duplicate value: "a"]`)
}
