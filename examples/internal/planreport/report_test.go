package planreport

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// render writes a plan in a format.
func render(t *testing.T, in provisioning.Input, plan *provisioning.Plan, format string, maxOptions int) string {
	t.Helper()
	c := &manifest.Cluster{Notes: []string{"a note"}, Ignored: []manifest.KindCount{{Kind: "Service", Count: 3}}}
	var out bytes.Buffer
	require.NoError(t, command.Print(&out, format, New(c, in, plan, maxOptions), nil))
	return out.String()
}

func TestJSON(t *testing.T) {
	in, plan := handmade()
	golden.Equal(t, render(t, in, plan, "json", 1), "golden", "handmade.json")
}

func TestYAMLSaysTheSameAsJSON(t *testing.T) {
	in, plan := handmade()
	fromYAML, err := yaml.YAMLToJSON([]byte(render(t, in, plan, "yaml", 0)))
	require.NoError(t, err)
	require.JSONEq(t, render(t, in, plan, "json", 0), string(fromYAML))
}

// TestJSONHasNoNull makes sure that readers need not tell an empty list from a
// missing one.
func TestJSONHasNoNull(t *testing.T) {
	text := render(t, provisioning.Input{}, &provisioning.Plan{}, "json", 0)
	require.NotContains(t, text, "null")
	in, plan := handmade()
	require.NotContains(t, render(t, in, plan, "json", 0), "null")
}

func TestOptionsAreCutButCounted(t *testing.T) {
	in, plan := handmade()
	for limit, want := range []int{2, 1, 2, 2} {
		var r Report
		require.NoError(t, json.Unmarshal([]byte(render(t, in, plan, "json", limit)), &r))
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
