package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// TestWords: the words of old versions are replaced in documents of any kind, also in patches
// and in custom resources with pods, and nothing else in them changes.
func TestWords(t *testing.T) {
	for name, text := range map[string]string{
		"Deployment":      "apiVersion: apps/v1\nkind: Deployment\nmetadata:   {name: x} # odd\nspec: {template: {spec: {nodeSelector: {WORD: a}}}}\n",
		"CronJob":         "apiVersion: batch/v1\r\nkind: CronJob\r\nspec: {jobTemplate: {spec: {template: {spec: {topologySpreadConstraints: [{topologyKey: 'WORD'}]}}}}}\r\n",
		"Rollout":         "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec:\n  template:\n    spec:\n      affinity:\n        - key: WORD # why\n",
		"JSON":            `{"apiVersion": "v1", "kind":"Pod", "spec": {"nodeSelector":{"WORD":"a"}}}`,
		"a script":        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.sh: |\n    kubectl get nodes -l WORD=a\n",
		"an item":         "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Pod, metadata: {labels: {WORD: a}}}\n",
		"no known object": "values:\n  WORD: a\n",
	} {
		t.Run(name, func(t *testing.T) {
			out, notes := convertText(strings.Replace(text, "WORD", "karpenter.sh/provisioner-name", 1), nil)
			if name == "no known object" {
				require.Equal(t, strings.Replace(text, "WORD", "karpenter.sh/nodepool", 1), out)
			}
			require.Equal(t, strings.Replace(text, "WORD", "karpenter.sh/nodepool", 1), out)
			require.Len(t, notes, 1)
			require.Equal(t, 1+strings.Count(text[:strings.Index(text, "WORD")], "\n"), notes[0].Line)
			require.Contains(t, notes[0].Message, "karpenter.sh/provisioner-name is karpenter.sh/nodepool now")
		})
	}
	out, notes := convertText("a: my-karpenter.sh/do-not-evict-all\nb: karpenter.sh/nodepool\n", nil)
	require.Equal(t, "a: my-karpenter.sh/do-not-evict-all\nb: karpenter.sh/nodepool\n", out)
	require.Empty(t, notes)
}

// TestWordsThatStay: a key cannot be there twice, and the taint had a value.
func TestWordsThatStay(t *testing.T) {
	for annotations, message := range map[string]string{
		`{karpenter.sh/do-not-evict: "true", karpenter.sh/do-not-disrupt: "false"}`:     "keep one of the two of each",
		`{karpenter.sh/do-not-evict: "true", karpenter.sh/do-not-consolidate: "false"}`: "keep one of the two of each",
		`{a: karpenter.sh/disruption}`: "karpenter.sh/disruption is karpenter.sh/disrupted now, a taint without a value",
	} {
		text := fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {annotations: %s}\n", annotations)
		out, notes := convertText(text, nil)
		require.Equal(t, text, out)
		require.Len(t, notes, 1)
		require.Equal(t, convert.Action, notes[0].Severity)
		require.Contains(t, notes[0].Message, message)
	}
}
