package budgets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func TestLint(t *testing.T) {
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		pool []v1.Budget
		want []string // "index field fault"
	}{
		"documented":            {documented(), []string{"2 schedule UnreadableToKarpenter"}},
		"none":                  {nil, nil},
		"default":               {[]v1.Budget{{}}, nil},
		"malformed":             {[]v1.Budget{{Nodes: "x"}, {Nodes: "5", Schedule: new("TZ=No/Where 0 0 * * *"), Duration: documented()[2].Duration}}, []string{"0 nodes Malformed", "1 schedule Malformed"}},
		"empty reasons":         {[]v1.Budget{{Nodes: "0", Reasons: []v1.DisruptionReason{}}}, []string{"0 reasons AppliesToNothing"}},
		"30 February":           {[]v1.Budget{budget("0", "0 0 30 2 *", day)}, []string{"0 schedule NeverFires"}},
		"no length":             {[]v1.Budget{budget("0", "@daily", 0)}, []string{"0 duration NeverFires"}},
		"zero":                  {[]v1.Budget{budget("0%", "", 0)}, []string{"0 nodes BlocksForever"}},
		"zero for one":          {[]v1.Budget{budget("0", "", 0, budgets.Drifted)}, []string{"0 nodes BlocksForever"}},
		"zero, window":          {[]v1.Budget{budget("0", "@daily", day)}, []string{"0 nodes BlocksForever"}},
		"zero, Tokyo":           {[]v1.Budget{budget("0", "TZ=Asia/Tokyo 0 0 * * *", day)}, []string{"0 schedule UnreadableToKarpenter", "0 nodes BlocksForever"}},
		"zero together":         {[]v1.Budget{budget("0", "0 0 * * mon-fri", day), budget("1", "", 0), budget("0", "0 0 * * sat,sun", day)}, []string{"2 schedule BlocksForever"}},
		"zero not together":     {[]v1.Budget{budget("0", "0 0 * * mon-fri", day), budget("0", "0 0 * * sat,sun", 23*time.Hour)}, nil},
		"only at night, wrong":  {[]v1.Budget{budget("0", "", 0), budget("20%", "0 1 * * *", 4*time.Hour)}, []string{"0 nodes BlocksForever", "1 schedule Inverted"}},
		"only at night, 100%":   {[]v1.Budget{budget("100%", "0 1 * * *", 4*time.Hour)}, []string{"0 nodes Inverted"}},
		"more at night":         {[]v1.Budget{budget("10%", "", 0), budget("50%", "0 1 * * *", 4*time.Hour)}, []string{"1 schedule Inverted"}},
		"only in windows":       {[]v1.Budget{budget("80%", "0 * * * *", 15*time.Minute)}, []string{"0 schedule Inverted"}},
		"only in two windows":   {[]v1.Budget{budget("0", "@daily", time.Hour), budget("1", "0 3 * * *", time.Hour), budget("50%", "0 9 * * 0", time.Hour)}, []string{"1 schedule Inverted"}},
		"only for one reason":   {[]v1.Budget{budget("1", "", 0, budgets.Drifted), budget("2", "@daily", time.Hour, budgets.Drifted, budgets.Empty)}, []string{"1 schedule Inverted"}},
		"no gap":                {[]v1.Budget{budget("5", "@daily", 12*time.Hour), budget("1", "0 12 * * *", 12*time.Hour)}, nil},
		"no limit outside":      {[]v1.Budget{budget("100%", "", 0), budget("2", "@daily", time.Hour)}, nil},
		"nothing in windows":    {[]v1.Budget{budget("0", "@daily", time.Hour)}, nil},
		"100%":                  {[]v1.Budget{budget("100%", "", 0)}, nil},
		"100% for one":          {[]v1.Budget{budget("100%", "", 0, budgets.Empty), budget("1", "", 0, budgets.Drifted)}, nil},
		"100%, 5":               {[]v1.Budget{budget("100%", "", 0), budget("5", "", 0)}, []string{"0 nodes NeverBinds"}},
		"100% twice":            {[]v1.Budget{budget("100%", "", 0), budget("100%", "", 0)}, []string{"1 nodes NeverBinds"}},
		"not for Karpenter":     {[]v1.Budget{budget("10%", "", 0), budget("0", "30 10 * * 1-7", 2*time.Hour), budget("0", "CRON_TZ=UTC 0 0 * * *", time.Hour)}, []string{"1 schedule UnreadableToKarpenter", "2 schedule UnreadableToKarpenter"}},
		"hidden percentage":     {[]v1.Budget{budget("50%", "", 0), budget("1", "", 0)}, []string{"0 nodes HiddenPercentage"}},
		"percentage in use":     {[]v1.Budget{budget("50%", "", 0), budget("2", "", 0)}, nil},
		"larger":                {[]v1.Budget{budget("5", "", 0), budget("7", "", 0, budgets.Empty)}, []string{"1 nodes NeverBinds"}},
		"larger, other reasons": {[]v1.Budget{budget("5", "", 0, budgets.Drifted), budget("7", "", 0)}, nil},
		"twice":                 {[]v1.Budget{budget("5", "", 0), budget("5", "", 0)}, []string{"1 nodes NeverBinds"}},
		"larger in window":      {[]v1.Budget{budget("5", "0 9 * * 1-5", 8*time.Hour), budget("7", "0 9 * * mon-fri", 4*time.Hour)}, []string{"0 schedule Inverted", "1 nodes NeverBinds"}},
		"hole in autumn":        {[]v1.Budget{budget("0", "TZ=Europe/Berlin 0 9 * * sat-sun", day)}, []string{"0 schedule UnreadableToKarpenter", "0 duration ClockGap"}},
		"no hole in autumn":     {[]v1.Budget{budget("0", "TZ=Europe/Berlin 0 9 * * sat-sun", 25*time.Hour)}, []string{"0 schedule UnreadableToKarpenter"}},
		"a minute an hour":      {[]v1.Budget{budget("0", "TZ=Europe/Berlin 0 * * * *", time.Minute)}, []string{"0 schedule UnreadableToKarpenter"}},
		"no hole by design":     {[]v1.Budget{budget("0", "TZ=Europe/Berlin 0 9 * * *", 8*time.Hour)}, []string{"0 schedule UnreadableToKarpenter"}},
	} {
		var got []string
		for _, f := range budgets.Lint(row.pool) {
			require.NotEmpty(t, f.Why, name)
			require.NotEmpty(t, f.Remedy, name)
			got = append(got, string(rune('0'+f.Budget))+" "+f.Field+" "+string(f.Fault))
		}
		require.Equal(t, row.want, got, name)
	}
}

// The remedies of what a stranger got wrong can be copied.
func TestLintRemedies(t *testing.T) {
	for schedule, want := range map[string]string{
		"0 0 * * sat-sun":                 `budgets[1].schedule: UnreadableToKarpenter: Karpenter 1.15 cannot read the schedule (beginning of range (6) beyond end of range (0): sat-sun), and then lets no node of the pool go at any time; write "0 0 * * 6,0", which means the same`,
		"30 10 * * 1-7":                   `budgets[1].schedule: UnreadableToKarpenter: Karpenter 1.15 cannot read the schedule (end of range (7) above maximum (6): 1-7), and then lets no node of the pool go at any time; write "30 10 * * 1,2,3,4,5,6,0", which means the same`,
		"CRON_TZ=Europe/Berlin 0 9 * * 7": `budgets[1].schedule: UnreadableToKarpenter: Karpenter 1.15 cannot read the schedule (expected exactly 5 fields, found 6: [CRON_TZ=Europe/Berlin 0 9 * * 7]), and then lets no node of the pool go at any time; write it without the zone, and with the hours of Europe/Berlin in UTC: "0 9 * * 0" with other hours`,
	} {
		found := budgets.Lint([]v1.Budget{{Nodes: "10%"}, budget("0", schedule, time.Hour)})
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].String())
	}
	window := budgets.Lint([]v1.Budget{budget("80%", "0 * * * *", 15*time.Minute)})
	require.Equal(t, "budgets[0].schedule: Inverted: outside of the windows no budget holds for any reason, not even the default of 10%, so that all nodes may go at once; "+
		"to allow disruption in the window only, block the time outside with a budget of 0, or use Policy.Only; "+
		"if there is to be no limit outside, say so with a further budget of 100%", window[0].String())
	window = budgets.Lint([]v1.Budget{budget("1", "", 0, budgets.Drifted, budgets.Unhealthy), budget("2", "@daily", time.Hour)})
	require.Contains(t, window[0].Why, "outside of the windows no budget holds for Empty, Underutilized, not")
	require.Equal(t, "remove the list to apply it to all reasons, or remove the budget, after which the default of 10% holds",
		budgets.Lint([]v1.Budget{{Nodes: "1", Reasons: []v1.DisruptionReason{}}})[0].Remedy)
}
