package budgets_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

func ExampleAllow() {
	night := "CRON_TZ=Europe/Berlin 0 22 * * *"
	pool := []v1.Budget{
		{Nodes: "10%"},
		{
			Nodes:    "0",
			Reasons:  []v1.DisruptionReason{budgets.Drifted},
			Schedule: &night,
			Duration: &metav1.Duration{Duration: 8 * time.Hour},
		},
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	a, _ := budgets.Allow(now, pool, budgets.Counts{Nodes: 42, Disrupting: 1}, budgets.Drifted)
	fmt.Println(a.Nodes, "more nodes, because of", a.Decider, "until", a.Until.Format(time.RFC3339))
	// Output: 4 more nodes, because of budgets[0] until 2026-03-04T21:00:00Z
}

func ExampleCompile() {
	c, err := budgets.Compile([]v1.Budget{
		{Nodes: "20%"},
		{Nodes: "half", Reasons: []v1.DisruptionReason{budgets.Drifted}},
	}, nil)
	fmt.Println(err)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, reason := range []budgets.Reason{budgets.Empty, budgets.Drifted} {
		a := c.Allow(now, budgets.Counts{Nodes: 10}, reason)
		fmt.Println(reason, a.Nodes, a.Decider)
	}
	// Output:
	// budgets[1].nodes: Invalid value: "half": want a count such as "5" or a share from "0%" to "100%"
	// Empty 2 budgets[0]
	// Drifted 0 budgets[1] (malformed)
}

func ExamplePolicy() {
	c, _ := budgets.Compile([]v1.Budget{{Nodes: "10%"}}, &budgets.Policy{
		ExpiryUnderBudgets: true,
		Only:               []budgets.Only{{Openings: []budgets.Opening{{Schedule: "0 1 * * *", Duration: 4 * time.Hour}}}},
	})
	counts := budgets.Counts{Nodes: 50}
	for _, hour := range []int{2, 12} {
		a := c.Allow(time.Date(2026, 11, 27, hour, 0, 0, 0, time.UTC), counts, budgets.Expired)
		fmt.Println(a.Nodes, a.Decider)
	}
	// Output:
	// 5 budgets[0]
	// 0 only[0]
}

func ExampleCompiled_Next() {
	c, _ := budgets.Compile(documented(), nil)
	saturday := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
	fmt.Println("more nodes from", c.Next(saturday, budgets.Counts{Nodes: 40}, budgets.Empty).Format("Mon 15:04"))
	// Output: more nodes from Mon 09:00
}

func ExampleCompiled_Calendar() {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	c, _ := budgets.Compile(documented(), nil)
	for _, w := range c.Calendar(monday, monday.AddDate(0, 0, 7), budgets.Counts{Nodes: 40}, budgets.Empty) {
		fmt.Println(w.From.Format("Mon 15:04"), "to", w.To.Format("Mon 15:04"), w.Nodes, w.Decider)
	}
	// Output:
	// Mon 00:00 to Mon 09:00 0 budgets[2]
	// Mon 09:00 to Sat 09:00 3 budgets[1]
	// Sat 09:00 to Mon 00:00 0 budgets[2]
}

// A group bounds nodes of all pools, here one at a time in each zone, beside the
// budgets of the pools. It goes into the field Groups of disruption.Options.
func ExampleValidateGroups() {
	groups := []budgets.Group{{
		Name: "one in each zone", Labels: map[string]string{"team": "data"},
		Each: "topology.kubernetes.io/zone", Budgets: []v1.Budget{{Nodes: "1"}},
	}}
	fmt.Println(budgets.ValidateGroups(groups))
	groups[0].Budgets[0].Nodes = "one"
	fmt.Println(budgets.ValidateGroups(groups))
	// Output:
	// <nil>
	// groups[0].budgets[0].nodes: Invalid value: "one": want a count such as "5" or a share from "0%" to "100%"
}

func ExampleCompiled_Windows() {
	c, _ := budgets.Compile(documented(), nil)
	friday := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for w := range c.Windows(friday, friday.AddDate(1, 0, 0), budgets.Counts{Nodes: 40}, budgets.Drifted) {
		if w.Nodes == 0 {
			fmt.Println("blocked from", w.From.Format("Mon 15:04"))
			break
		}
	}
	// Output: blocked from Fri 17:00
}

func ExampleLint() {
	for _, f := range budgets.Lint([]v1.Budget{
		{Nodes: "0"},
		budget("20%", "0 1 * * *", 4*time.Hour),
	}) {
		fmt.Printf("budgets[%d] %s: %s\n", f.Budget, f.Fault, f.Why)
	}
	// Output:
	// budgets[0] BlocksForever: it allows no node at any time for any reason
	// budgets[1] Inverted: the window never allows more than 0 of budgets[0], which always holds: the smallest budget wins
}

func ExampleCount() {
	c := budgets.Count([]budgets.NodeState{
		{Managed: true, Initialized: true, Ready: true},
		{Managed: true, Initialized: true, Ready: false},
		{Managed: true, Initialized: true, Ready: true, Disrupting: true},
		{Managed: true}, // on its way up
	})
	fmt.Println(c.Nodes, c.Consuming(budgets.Drifted), c.Consuming(budgets.Unhealthy))
	// Output: 3 2 1
}

func ExampleParseSchedule() {
	s, _ := budgets.ParseSchedule("CRON_TZ=Europe/Berlin 30 2 * * sun")
	berlin, _ := time.LoadLocation("Europe/Berlin")
	t := time.Date(2026, 3, 20, 0, 0, 0, 0, berlin)
	for range 3 { // on the 29th there is no 2:30
		t = s.Next(t)
		fmt.Println(t)
	}
	_, err := budgets.ParseSchedule("0 24 * * *")
	fmt.Println(err)
	// Output:
	// 2026-03-22 02:30:00 +0100 CET
	// 2026-03-29 03:30:00 +0200 CEST
	// 2026-04-05 02:30:00 +0200 CEST
	// schedule "0 24 * * *": field 2 (hour): "24" is not a number from 0 to 23
}
