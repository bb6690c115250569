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
		"documented":            {documented(), nil},
		"none":                  {nil, nil},
		"default":               {[]v1.Budget{{}}, nil},
		"malformed":             {[]v1.Budget{{Nodes: "x"}, {Nodes: "5", Schedule: new("TZ=No/Where 0 0 * * *"), Duration: documented()[2].Duration}}, []string{"0 nodes Malformed", "1 schedule Malformed"}},
		"empty reasons":         {[]v1.Budget{{Nodes: "0", Reasons: []v1.DisruptionReason{}}}, []string{"0 reasons AppliesToNothing"}},
		"30 February":           {[]v1.Budget{budget("0", "0 0 30 2 *", day)}, []string{"0 schedule NeverFires"}},
		"no length":             {[]v1.Budget{budget("0", "@daily", 0)}, []string{"0 duration NeverFires"}},
		"zero":                  {[]v1.Budget{budget("0%", "", 0)}, []string{"0 nodes BlocksForever"}},
		"zero for one":          {[]v1.Budget{budget("0", "", 0, budgets.Drifted)}, []string{"0 nodes BlocksForever"}},
		"zero, window":          {[]v1.Budget{budget("0", "@daily", day)}, []string{"0 nodes BlocksForever"}},
		"zero, Tokyo":           {[]v1.Budget{budget("0", "TZ=Asia/Tokyo 0 0 * * *", day)}, []string{"0 nodes BlocksForever"}},
		"zero together":         {[]v1.Budget{budget("0", "0 0 * * mon-fri", day), budget("1", "", 0), budget("0", "0 0 * * sat-sun", day)}, []string{"2 schedule BlocksForever"}},
		"zero not together":     {[]v1.Budget{budget("0", "0 0 * * mon-fri", day), budget("0", "0 0 * * sat-sun", 23*time.Hour)}, nil},
		"only at night, wrong":  {[]v1.Budget{budget("0", "", 0), budget("20%", "0 1 * * *", 4*time.Hour)}, []string{"0 nodes BlocksForever", "1 schedule Inverted"}},
		"only at night, 100%":   {[]v1.Budget{budget("100%", "0 1 * * *", 4*time.Hour)}, []string{"0 nodes Inverted"}},
		"more at night":         {[]v1.Budget{budget("10%", "", 0), budget("50%", "0 1 * * *", 4*time.Hour)}, []string{"1 schedule Inverted"}},
		"100%":                  {[]v1.Budget{budget("100%", "", 0)}, []string{"0 nodes NeverBinds"}},
		"hidden percentage":     {[]v1.Budget{budget("50%", "", 0), budget("1", "", 0)}, []string{"0 nodes HiddenPercentage"}},
		"percentage in use":     {[]v1.Budget{budget("50%", "", 0), budget("2", "", 0)}, nil},
		"larger":                {[]v1.Budget{budget("5", "", 0), budget("7", "", 0, budgets.Empty)}, []string{"1 nodes NeverBinds"}},
		"larger, other reasons": {[]v1.Budget{budget("5", "", 0, budgets.Drifted), budget("7", "", 0)}, nil},
		"twice":                 {[]v1.Budget{budget("5", "", 0), budget("5", "", 0)}, []string{"1 nodes NeverBinds"}},
		"larger in window":      {[]v1.Budget{budget("5", "0 9 * * 1-5", 8*time.Hour), budget("7", "0 9 * * mon-fri", 4*time.Hour)}, []string{"1 nodes NeverBinds"}},
		"hole in autumn":        {[]v1.Budget{budget("1", "TZ=Europe/Berlin 0 9 * * sat-sun", day)}, []string{"0 duration ClockGap"}},
		"no hole in autumn":     {[]v1.Budget{budget("1", "TZ=Europe/Berlin 0 9 * * sat-sun", 25*time.Hour)}, nil},
		"no hole by design":     {[]v1.Budget{budget("1", "TZ=Europe/Berlin 0 9 * * *", 8*time.Hour)}, nil},
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
