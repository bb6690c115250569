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
	for _, m := range rollout.Moves {
		fmt.Println(m.Node, "in wave", m.Wave, "from", m.Start.Format("Mon 15:04"), "to", m.End.Format("15:04"))
	}
	fmt.Println(rollout.Complete, rollout.Finish.Format("Mon 15:04"), err)
	// Output:
	// node-0 in wave 1 from Mon 12:00 to 12:10
	// node-1 in wave 2 from Mon 13:10 to 13:20
	// node-2 in wave 2 from Mon 13:10 to 13:20
	// node-3 in wave 3 from Mon 14:20 to 14:30
	// node-4 in wave 3 from Mon 14:20 to 14:30
	// true Mon 14:30 <nil>
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
