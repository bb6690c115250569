package v1_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestBudgetNodes(t *testing.T) {
	for _, nodes := range []string{"", "0", "5", "0%", "7%", "10%", "99%", "100%", "00%", "007", "3000000000"} {
		require.Empty(t, (&v1.Budget{Nodes: nodes}).Validate(), nodes)
	}
	for _, nodes := range []string{"-1", "101%", "100.0%", "1.5", "010%", "%", "ten", " 5", "5 %", "+5", "99999999999999999999"} {
		require.Equal(t, []string{`nodes: Invalid value: "` + nodes + `": want a count such as "5" or a share from "0%" to "100%"`},
			messages((&v1.Budget{Nodes: nodes}).Validate()))
	}
}

func TestBudgetWindow(t *testing.T) {
	window := func(schedule string, length time.Duration) *v1.Budget {
		return &v1.Budget{Nodes: "0", Schedule: &schedule, Duration: &metav1.Duration{Duration: length}}
	}
	require.Empty(t, window("@daily", time.Hour).Validate())
	require.Empty(t, window("@daily", 0).Validate())
	require.Equal(t, []string{`duration: Invalid value: "1m30s": want whole hours and minutes, not negative, such as 8h or 1h30m`},
		messages(window("@daily", 90*time.Second).Validate()))
	require.Equal(t, []string{`duration: Invalid value: "-1h0m0s": want whole hours and minutes, not negative, such as 8h or 1h30m`},
		messages(window("@daily", -time.Hour).Validate()))
	require.Equal(t, []string{`duration: Required value: a schedule opens a window, say for how long; or remove the schedule for a budget that always applies`},
		messages((&v1.Budget{Schedule: new("@daily")}).Validate()))
	require.Equal(t, []string{`schedule: Required value: a duration needs the time at which it begins; or remove the duration for a budget that always applies`},
		messages((&v1.Budget{Duration: &metav1.Duration{Duration: time.Hour}}).Validate()))
}

func TestBudgetReasons(t *testing.T) {
	require.Empty(t, (&v1.Budget{Reasons: v1.DisruptionReasons()}).Validate())
	require.Empty(t, (&v1.Budget{Reasons: []v1.DisruptionReason{}}).Validate())
	require.True(t, slices.IsSorted(v1.DisruptionReasons()))
	require.Equal(t, []string{
		`reasons[1]: Duplicate value: "Empty": remove it, a reason counts once`,
		`reasons[2]: Unsupported value: "Expired": supported values: "Drifted", "Empty", "Underutilized", "Unhealthy"`,
	}, messages((&v1.Budget{Reasons: []v1.DisruptionReason{"Empty", "Empty", "Expired"}}).Validate()))
	many := &v1.Budget{Reasons: make([]v1.DisruptionReason, 51)}
	require.Contains(t, messages(many.Validate()), `reasons: Too many: 51: must have at most 50 items`)
}

func TestBudgetsInAPool(t *testing.T) {
	p := pool()
	p.Spec.Disruption.Budgets = make([]v1.Budget, 51)
	p.Spec.Disruption.Budgets[7].Nodes = "many"
	require.Equal(t, []string{
		`spec.disruption.budgets: Too many: 51: must have at most 50 items`,
		`spec.disruption.budgets[7].nodes: Invalid value: "many": want a count such as "5" or a share from "0%" to "100%"`,
	}, messages(p.Validate()))
}

func TestBudgetSchedules(t *testing.T) {
	good := []string{
		"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly",
		"* * * * *", "? ? ? ? ?", "0 9 * * mon-fri", "0 9 * * MON-FRI", "0 9 * * sat-sun", "0 9 * * 7", "0 0 * * 5-7", "0 0 * * fri-mon",
		"*/15 0-6/2 1,15 jan-mar,dec 0", "5/20 * * Feb *", "0 0 30 2 *", "59 23 31 12 6", "  0  9 * * *  ", "0 9 *\t* *",
		"1,,2 * * * *", "*/100 * * * *", "* * * * sun,MON,6",
		"CRON_TZ=Europe/Berlin 0 9 * * *", "@daily \n", "\n0 0\n* * * ", "CRON_TZ=America/Argentina/Buenos_Aires 0 0 * * *", "CRON_TZ=Etc/GMT+5 0 0 * * *",
	}
	for _, text := range good {
		require.Empty(t, schedule(text).Validate(), text)
	}
	for text, want := range map[string]string{
		"":                             `want five fields (minute, hour, day of month, month, day of week) or a macro such as @daily, got 0`,
		"0 9 * *":                      `want five fields (minute, hour, day of month, month, day of week) or a macro such as @daily, got 4`,
		"0 0 9 * * *":                  `want five fields (minute, hour, day of month, month, day of week) or a macro such as @daily, got 6`,
		"@Daily":                       `"@Daily" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`,
		"@every 1h":                    `"@every 1h" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`,
		"@dailyfoo":                    `"@dailyfoo" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`,
		"60 * * * *":                   `field 1 (minute): "60" is not a number from 0 to 59`,
		"* 24 * * *":                   `field 2 (hour): "24" is not a number from 0 to 23`,
		"* * 0 * *":                    `field 3 (day of month): "0" is not a number from 1 to 31`,
		"* * * 13 *":                   `field 4 (month): "13" is neither a number from 1 to 12 nor one of jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec`,
		"* * * * 8":                    `field 5 (day of week): "8" is neither a number from 0 to 7 nor one of sun, mon, tue, wed, thu, fri, sat`,
		"* * L * *":                    `field 3 (day of month): "L" is not a number from 1 to 31`,
		"* * * * mon#1":                `field 5 (day of week): "mon#1" is neither a number from 0 to 7 nor one of sun, mon, tue, wed, thu, fri, sat`,
		"*/0 * * * *":                  `field 1 (minute): "*/0": a step is a whole number of 1 or more`,
		"1/2/3 * * * *":                `field 1 (minute): "1/2/3": a step is a whole number of 1 or more`,
		"1-2-3 * * * *":                `field 1 (minute): "2-3" is not a number from 0 to 59`,
		"-5 * * * *":                   `field 1 (minute): "" is not a number from 0 to 59`,
		"* 22-6 * * *":                 `field 2 (hour): "22-6": a range goes upwards; write two ranges, separated by a comma`,
		"CRON_TZ= 0 9 * * *":           `the time zone is empty; use a name of the time zone database such as Europe/Berlin`,
		"CRON_TZ=Local 0 9 * * *":      `the time zone Local is not the same everywhere; use a name of the time zone database such as Europe/Berlin`,
		"CRON_TZ=UTC @daily":           `the API server takes no time zone in front of a macro; write @daily as five cron fields`,
		" @daily":                      `the API server takes no space in front of a macro; remove it`,
		"TZ=Nowhere/City 0 0 * * *":    `the time zone database has no zone "Nowhere/City"; correct the name, or give the program time zone data`,
		"TZ=Europe 0 0 * * *":          `the time zone database has no zone "Europe"; correct the name, or give the program time zone data`,
		"TZ=../../etc/passwd @daily":   `"../../etc/passwd" is not a time zone; use a name of the time zone database such as Europe/Berlin`,
		"CRON_TZ=Europe/Berlin":        `want five fields (minute, hour, day of month, month, day of week) or a macro such as @daily, got 0`,
		"CRON_TZ=Europe/Berlin @never": `"@never" is not a macro; use @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly, or five cron fields`,
	} {
		require.Equal(t, []string{`schedule: Invalid value: "` + text + `": ` + want}, messages(schedule(text).Validate()))
	}
}

func schedule(text string) *v1.Budget {
	return &v1.Budget{Nodes: "0", Schedule: &text, Duration: &metav1.Duration{Duration: time.Hour}}
}
