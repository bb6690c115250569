package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// render writes a plan as JSON.
func render(t *testing.T, in provisioning.Input, plan *provisioning.Plan, maxOptions int) string {
	t.Helper()
	opts := PlanOptions{MaxOptions: maxOptions, Notes: []string{"a note"}, Ignored: map[string]int{"Service": 3}}
	text, err := json.MarshalIndent(NewPlan(in, plan, &opts), "", "  ")
	require.NoError(t, err)
	return string(text) + "\n"
}

func TestJSON(t *testing.T) {
	in, plan := handmade()
	golden.Equal(t, render(t, in, plan, 1), "golden", "handmade.json")
}

// TestJSONHasNoNull makes sure that readers need not tell an empty list from a
// missing one.
func TestJSONHasNoNull(t *testing.T) {
	text := render(t, provisioning.Input{}, &provisioning.Plan{}, 0)
	require.NotContains(t, text, "null")
	in, plan := handmade()
	require.NotContains(t, render(t, in, plan, 0), "null")
}

func TestOptionsAreCutButCounted(t *testing.T) {
	in, plan := handmade()
	for limit, want := range []int{2, 1, 2, 2} {
		var r Plan
		require.NoError(t, json.Unmarshal([]byte(render(t, in, plan, limit)), &r))
		require.Len(t, r.NewNodes[0].Options, want)
		require.Equal(t, 2, r.NewNodes[0].OptionCount)
	}
}

func TestACauseOfAnyKindHasWords(t *testing.T) {
	for cause, want := range map[provisioning.Cause]string{
		provisioning.CauseHostPorts: "host ports in use",
		"MaxPodsPerNode":            "max pods per node",
	} {
		require.Equal(t, want, nodeCause(cause))
	}
}
