package rollout_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/rollout"
)

// exampleNow is the instant of the examples.
var exampleNow = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// exampleNodes are five nodes, the oldest first.
func exampleNodes() (out []rollout.Node) {
	for i := range 5 {
		out = append(out, rollout.Node{Name: fmt.Sprint("node-", i), NodePool: "web",
			Created: exampleNow.Add(time.Duration(i-100) * time.Hour)})
	}
	return out
}

func ExampleWaves() {
	waves, err := rollout.Waves(exampleNodes(), nil)
	for _, w := range waves {
		fmt.Println(w.NodePool, w.Number, w.Nodes)
	}
	fmt.Println(err)
	// Output:
	// web 1 [node-0]
	// web 2 [node-1 node-2]
	// web 3 [node-3 node-4]
	// <nil>
}

func ExampleNext() {
	opts := &rollout.Options{Soak: time.Hour}
	waves, err := rollout.Waves(exampleNodes(), opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	status := []rollout.Status{{Node: "node-0", State: rollout.Done, Ended: exampleNow}}
	for _, after := range []time.Duration{time.Minute, time.Hour} {
		turns, err := rollout.Next(exampleNow.Add(after), rollout.Input{Waves: waves, Status: status}, opts)
		fmt.Println(turns[0].Wave, turns[0].Hold, turns[0].Begin, err)
	}
	// Output:
	// 2 soaking [] <nil>
	// 2  [node-1 node-2] <nil>
}

// How long a change of image takes to reach a pool, if its budget lets two
// nodes go at a time and none on Mondays until noon.
func ExamplePreview() {
	monday, morning := "0 0 * * mon", v1.Budget{Nodes: "0"}
	morning.Schedule, morning.Duration = &monday, &metav1.Duration{Duration: 12 * time.Hour}
	compiled, err := budgets.Compile([]v1.Budget{{Nodes: "2"}, morning}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	rollout, err := rollout.Preview(exampleNow, exampleNodes(), &rollout.PreviewOptions{
		Waves:       rollout.Options{Soak: time.Hour},
		Pace:        rollout.BudgetPace(map[string]*budgets.Compiled{"web": compiled}, map[string]budgets.Counts{"web": {Nodes: 5}}, budgets.Drifted),
		Replacement: 10 * time.Minute,
	})
	for _, i := range rollout.Calendar() {
		fmt.Println(i.At.Format("Mon 15:04"), "begin", i.Begin, "end", i.End, "left", i.Left)
	}
	fmt.Println(rollout.Complete, rollout.Finish.Format("Mon 15:04"), err)
	// Output:
	// Mon 12:00 begin [node-0] end [] left 4
	// Mon 12:10 begin [] end [node-0] left 4
	// Mon 13:10 begin [node-1 node-2] end [] left 2
	// Mon 13:20 begin [] end [node-1 node-2] left 2
	// Mon 14:20 begin [node-3 node-4] end [] left 0
	// Mon 14:30 begin [] end [node-3 node-4] left 0
	// true Mon 14:30 <nil>
}

func ExampleRollout_Calendar() {
	rollout, err := rollout.Preview(exampleNow, exampleNodes()[:1], nil)
	fmt.Printf("%+v %v\n", rollout.Calendar()[0], err)
	// Output: {At:2026-03-02 09:00:00 +0000 UTC Begin:[node-0] End:[node-0] Running:0 Left:0} <nil>
}

func ExampleBudgetPace() {
	compiled, err := budgets.Compile([]v1.Budget{{Nodes: "20%"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pace := rollout.BudgetPace(map[string]*budgets.Compiled{"web": compiled}, map[string]budgets.Counts{"web": {Nodes: 10}}, budgets.Drifted)
	more, until := pace("web", exampleNow, 1)
	fmt.Println(more, until.IsZero())
	// Output: 1 true
}

func ExampleBackoff_Wait() {
	b := rollout.Backoff{Base: 30 * time.Second, Max: 3 * time.Minute, Exact: true}
	for level := range 5 {
		fmt.Println(b.Wait("web", level))
	}
	// Output:
	// 0s
	// 30s
	// 1m0s
	// 2m0s
	// 3m0s
}

func ExampleBackoff_Until() {
	b := rollout.Backoff{Exact: true}
	attempts := []rollout.Attempt{{At: exampleNow, Failed: true}, {At: exampleNow.Add(time.Minute), Failed: true}}
	until, level := b.Until("web", attempts)
	fmt.Println(until.Format(time.TimeOnly), level)
	attempts = append(attempts, rollout.Attempt{At: exampleNow.Add(2 * time.Minute)})
	until, level = b.Until("web", attempts)
	fmt.Println(until.IsZero(), level)
	// Output:
	// 09:03:00 2
	// true 0
}
