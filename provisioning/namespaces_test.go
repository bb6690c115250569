package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestNamespacesThatSomeKubeSchedulersSelect: kube-scheduler v1.34 to v1.36 reads a
// namespaceSelector of NotIn as all namespaces while it places the pod, others do not.
// A pod goes where both accept it.
func TestNamespacesThatSomeKubeSchedulersSelect(t *testing.T) {
	t.Parallel()
	const zone = corev1.LabelTopologyZone
	for _, tt := range []struct {
		name  string
		plant func(tiny, neighbour *corev1.Pod)
		want  string // the node, or none
		moved string // the node where the neighbour is on the other one
	}{
		{"kept away from a namespace that only some select", func(tiny, _ *corev1.Pod) {
			scenes.Avoid(tiny, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
		}, "plain", "old"},
		{"a bound pod keeps away whom it selects", func(tiny, neighbour *corev1.Pod) {
			scenes.Team("t", tiny)
			scenes.Avoid(neighbour, scenes.AffinityTerm(zone, "t", scenes.Outside("prod")))
		}, "plain", "old"},
		{"no company in a namespace that only some select", func(tiny, _ *corev1.Pod) {
			scenes.Follow(tiny, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
		}, "", ""},
		{"company in a namespace that all select", func(tiny, _ *corev1.Pod) {
			scenes.Follow(tiny, scenes.AffinityTerm(zone, "b", scenes.Outside("test")))
		}, "old", "plain"},
		{"the first of its kind, but for some", func(tiny, _ *corev1.Pod) {
			scenes.Team("b", tiny)
			scenes.Follow(tiny, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
		}, "old", "plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for moved, want := range map[bool]string{false: tt.want, true: tt.moved} {
				s := newScene()
				neighbour := s.Old.Pods[0]
				neighbour.Namespace = "prod"
				scenes.Team("b", neighbour)
				tt.plant(s.Tiny, neighbour)
				if moved {
					s.Plain.Pods, s.Old.Pods = s.Old.Pods, nil
				}
				in := provisioning.Input{
					Nodes: []provisioning.Node{*s.Old, *s.Plain}, Pods: []*corev1.Pod{s.Tiny},
					Namespaces: []*corev1.Namespace{scenes.InSpace("prod")},
				}
				plan := solved(t, in, nil)
				require.Empty(t, verify.Plan(in, plan, nil))
				if want == "" {
					require.Len(t, plan.Unplaced, 1)
					continue
				}
				require.Empty(t, plan.Unplaced)
				require.Len(t, plan.Bind, 1)
				require.Equal(t, want, plan.Bind[0].Node)
			}
		})
	}
	t.Run("a bound pod keeps nobody away whom it does not select", func(t *testing.T) {
		t.Parallel()
		s := newScene()
		neighbour := s.Old.Pods[0]
		scenes.Team("t", s.Tiny)
		neighbour.Namespace = "prod"
		scenes.Avoid(neighbour, scenes.AffinityTerm(zone, "t", scenes.Outside("default")))
		in := provisioning.Input{Nodes: []provisioning.Node{*s.Old}, Pods: []*corev1.Pod{s.Tiny}, Namespaces: []*corev1.Namespace{scenes.InSpace("default")}}
		plan := solved(t, in, nil)
		require.Empty(t, plan.Unplaced)
		require.Empty(t, verify.Plan(in, plan, nil))
	})
}
