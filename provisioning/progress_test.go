package provisioning_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Whoever waits is told how the plan comes about: the same each time, the cost of the plan
// last, and the plan is the one that nobody waits for.
func TestSolveTellsHowFarItIs(t *testing.T) {
	in := shop()
	for i := range 300 { // of so many shapes that patterns come by the thousand
		in.Pods = append(in.Pods, shopPod(fmt.Sprintf("batch-%d", i), fmt.Sprintf("cpu=%dm, memory=%dMi", 100+17*(i%60), 100+41*(i%50))))
	}
	told := func() (plan *provisioning.Plan, events []progress.Event) {
		ctx := progress.With(context.Background(), func(e progress.Event) { events = append(events, e) })
		plan, err := provisioning.Solve(ctx, in, nil)
		require.NoError(t, err)
		return plan, events
	}
	plan, events := told()
	_, again := told()
	assert.Equal(t, events, again)
	assert.Equal(t, solveShop(in), plan)

	packing := 0
	for _, e := range events {
		assert.Equal(t, "provisioning.Solve", e.Work)
		if e.Stage == "packing" {
			packing++
			assert.Equal(t, 0, e.Done%1000)
			assert.Equal(t, 1_000_000, e.Total)
		}
	}
	assert.Equal(t, plan.Stats.Steps/1000, packing, "one attempt, an event for each thousand patterns")
	assert.Contains(t, events[len(events)-1].Detail, fmt.Sprintf("%d new nodes at %.4f USD/h, 0 pods without a place", len(plan.Create), plan.Cost))
}
