package nodefit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// TestOutcomesTellSelectionsApart: whichever value a label may have, some outcome answers
// each selection as a node with that value does.
func TestOutcomesTellSelectionsApart(t *testing.T) {
	const key = "team"
	values := []string{"", "a", "b", "3", "4", "5", "17"} // "" for no label
	var parser nodefit.Parser
	var selections []*nodefit.Selection
	var mentions []nodefit.Mentions
	for _, operator := range []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt} {
		for _, value := range []string{"a", "4"} {
			want := corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: []string{value}}
			if operator == corev1.NodeSelectorOpExists || operator == corev1.NodeSelectorOpDoesNotExist {
				want.Values = nil
			}
			selections = append(selections, parser.OfNodes(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{want}},
			}}))
			mentions = append(mentions, selections[len(selections)-1].Mentions)
		}
	}
	require.Same(t, selections[0], parser.OfNodes(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}},
	}}), "a selection is read once")
	outcomes := nodefit.Join(mentions...).Labels(requirements.DefaultVocabulary()).Outcomes(requirements.NewSet(requirements.NotIn(key)))
	for _, value := range values {
		node := &corev1.Node{}
		if value != "" {
			node.Labels = map[string]string{key: value}
		}
		require.True(t, slices.ContainsFunc(outcomes, func(o *corev1.Node) bool {
			return !slices.ContainsFunc(selections, func(s *nodefit.Selection) bool { return s.Accepts(o) != s.Accepts(node) })
		}), "no outcome stands for a node with %q: %v", value, outcomes)
	}
}

// TestOutcomesHaveValidValues: no node has a value that the API server refuses, whatever pods ask for.
func TestOutcomesHaveValidValues(t *testing.T) {
	mentions := nodefit.Mentions{"team": {"not a label value", "0", "blue"}}
	outcomes := mentions.Labels(requirements.DefaultVocabulary()).Outcomes(requirements.NewSet(requirements.Exists("team")))
	var values []string
	for _, o := range outcomes {
		values = append(values, o.Labels["team"])
	}
	require.ElementsMatch(t, []string{"0", "1", "blue", nodefit.OtherValue}, slices.Compact(values))
}

func TestTolerationsOfDaemon(t *testing.T) {
	pressure := corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule}
	pod := &corev1.Pod{}
	refused, is := nodefit.Tolerations(pod.Spec.Tolerations).Refused([]corev1.Taint{{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}, pressure})
	require.True(t, is)
	require.Equal(t, pressure, refused)
	_, is = nodefit.OfDaemon(pod).Refused([]corev1.Taint{pressure})
	require.False(t, is)
}
