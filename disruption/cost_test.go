package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
)

func TestEvictionCost(t *testing.T) {
	priority := func(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	deletion := func(s string) func(*corev1.Pod) { return note(v1.PodDeletionCostAnnotationKey, s) }
	own := func(s string) func(*corev1.Pod) { return note(v1.DisruptionCostAnnotationKey, s) }
	tests := []struct {
		name   string
		pod    *corev1.Pod
		ignore bool
		want   float64
	}{
		{"plain", newPod("p"), false, 1},
		{"priority 2^25", newPod("p", priority(1<<25)), false, 2},
		{"priority -2^25", newPod("p", priority(-1<<25)), false, 0},
		{"system-cluster-critical", newPod("p", priority(2_000_000_000)), false, 10},
		{"deletion cost 2^27", newPod("p", deletion("134217728")), false, 2},
		{"deletion cost -2^27", newPod("p", deletion("-134217728")), false, 0},
		{"highest deletion cost", newPod("p", deletion("2147483647")), false, 10},
		{"lowest deletion cost", newPod("p", deletion("-2147483647")), false, -10},
		{"beyond 32 bits", newPod("p", deletion("2147483648")), false, 1},
		{"not a number", newPod("p", deletion("NaN")), false, 1},
		{"infinite", newPod("p", deletion("Inf")), false, 1},
		{"fraction", newPod("p", deletion("1.5")), false, 1},
		{"own cost wins", newPod("p", own("134217728"), deletion("2147483647")), false, 2},
		{"malformed own cost does not fall through", newPod("p", own("dear"), deletion("2147483647")), false, 1},
		{"empty own cost does not fall through", newPod("p", own(""), deletion("2147483647")), false, 1},
		{"deletion cost ignored", newPod("p", deletion("2147483647")), true, 1},
		{"own cost is not ignored", newPod("p", own("134217728")), true, 2},
		{"no pod", nil, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, disruption.EvictionCost(tt.pod, tt.ignore))
		})
	}
}

func TestWarningsNameWhatWasPassedOver(t *testing.T) {
	in := newInput(newNode("n", "web", withPods(
		newPod("b", note(v1.DoNotDisruptAnnotationKey, "1d")),
		newPod("a", note(v1.DisruptionCostAnnotationKey, "1.5")))))
	var got []string
	for _, w := range observe(t, in, nil).Warnings() {
		got = append(got, w.Error())
	}
	require.Equal(t, []string{
		`Pod "shop/a": metadata.annotations[karpenter.sh/disruption-cost]: "1.5" counts as 0; write an integer of 32 bits`,
		`Pod "shop/b": metadata.annotations[karpenter.sh/do-not-disrupt]: "1d" counts for nothing; write true, or a duration above zero such as 30m`,
	}, got)
}
