package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// buffer asks for spare room for two pods of 100m, one of which is on node old.
func (s *scene) buffer() {
	b := provisioning.Buffer{Namespace: "default", Name: "spare", Replicas: 2}
	b.Template.Labels = map[string]string{"app": "spare"}
	b.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=100m, memory=64Mi").ResourceList(),
	}}}
	s.In.Buffers = []provisioning.Buffer{b}
	pods := b.Pods()
	s.Plan.Bind[0].Pods = []*corev1.Pod{pods[0], s.Tiny}
	s.Reorder()
	s.Plan.Order = []*corev1.Pod{s.Webs[0], s.Webs[1], s.Night, s.Tiny, pods[0]}
	s.Plan.Buffers = []provisioning.BufferStatus{{Namespace: "default", Name: "spare", Existing: 1, Unplaced: 1, Explanation: s.Plan.Unplaced[0].Explanation}}
}

func TestBuffers(t *testing.T) {
	plant := func(change func(*scene)) func(*scene) {
		return func(s *scene) { s.buffer(); change(s) }
	}
	accounts := rules(verify.RuleAccounts)
	judge(t, []verdict{
		{"one placed, one not", plant(func(*scene) {}), nil, ""},
		{"no word on it", plant(func(s *scene) { s.Plan.Buffers = nil }), accounts, "Buffers does not say how buffer default/spare fares"},
		{"a wrong count", plant(func(s *scene) { s.Plan.Buffers[0].Existing, s.Plan.Buffers[0].Fresh = 0, 1 }), accounts,
			"0 pods on existing nodes, 1 on new ones and 1 on none, but they are 1, 0 and 1"},
		{"no reason", plant(func(s *scene) { s.Plan.Buffers[0].Explanation = nil }), rules(verify.RuleReason), "1 pods without a place"},
		{"another buffer", plant(func(s *scene) {
			s.Plan.Buffers = append(s.Plan.Buffers, provisioning.BufferStatus{Namespace: "prod", Name: "spare"})
		}), accounts, "buffer prod/spare fares, which is not in the input"},
		{"twice", plant(func(s *scene) { s.Plan.Buffers = append(s.Plan.Buffers, s.Plan.Buffers[0]) }), accounts, "twice"},
		{"before a real pod", plant(func(s *scene) {
			s.Plan.Order[3], s.Plan.Order[4] = s.Plan.Order[4], s.Plan.Order[3]
		}), rules(verify.RuleOrder), "default/tiny: it comes after default/capacity-buffer-spare-0, which stands for a buffer"},
		{"where there is no room", plant(func(s *scene) {
			s.In.Buffers[0].Template.Spec.Containers[0].Resources.Requests = resources.MustParse("cpu=800m, memory=64Mi").ResourceList()
		}), rules(verify.RuleResources), "node old"},
		{"where a pod keeps it out", plant(func(s *scene) {
			scenes.Avoid(s.Old.Pods[0], corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spare"}}})
		}), rules(verify.RuleAntiAffinity), "capacity-buffer-spare-0"},
		{"listed as pending", plant(func(s *scene) {
			s.Plan.Unplaced = append(s.Plan.Unplaced, provisioning.Unplaced{Pod: s.In.Buffers[0].Pods()[1], Explanation: s.Plan.Unplaced[0].Explanation})
			s.Plan.Unplaced[0], s.Plan.Unplaced[1] = s.Plan.Unplaced[1], s.Plan.Unplaced[0]
		}), rules(verify.RuleCompleteness), "Buffers counts it"},
	})
}
