package convert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// TestPatchesOfWorkloads holds that a patch for kustomize, which has no
// containers, is converted like the object that it is for.
func TestPatchesOfWorkloads(t *testing.T) {
	const from, to = "nodeSelector: {karpenter.sh/provisioner-name: a}", "nodeSelector: {karpenter.sh/nodepool: a}"
	for name, text := range map[string]struct{ before, after string }{
		"Deployment":  {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {", "}}}\n"},
		"CronJob":     {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\nspec: {jobTemplate: {spec: {template: {spec: {", "}}}}}\n"},
		"Pod":         {"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {", "}\n"},
		"PodTemplate": {"apiVersion: v1\nkind: PodTemplate\nmetadata: {name: x}\ntemplate: {spec: {", "}}\n"},
	} {
		out, notes := convert.Bytes([]byte(text.before+from+text.after), nil)
		require.Contains(t, string(out), to, name)
		require.Len(t, notes, 1, name)
		require.Contains(t, notes[0].Message, "is karpenter.sh/nodepool now", name)
	}
	out, _ := convert.Bytes([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, annotations: {karpenter.sh/do-not-evict: \"true\"}}\n"+
		"spec: {template: {metadata: {annotations: {karpenter.sh/do-not-evict: \"true\"}}}}\n"), nil)
	require.Equal(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, annotations: {karpenter.sh/do-not-evict: \"true\"}}\n"+
		"spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: \"true\"}}}}\n", string(out), "those of a Deployment itself are no pod's")
	out, _ = convert.Bytes([]byte("apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: x}\nspec: {"+from+"}\n"), nil)
	require.NotContains(t, string(out), to, "a kind of somebody else's")
}
