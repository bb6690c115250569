package provisioning_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// buffer asks for spare room for two pods of 100m, one of which is on node old.
func (s *scene) buffer() {
	b := provisioning.Buffer{Namespace: "default", Name: "spare", Replicas: 2}
	b.Template.Labels = map[string]string{"app": "spare"}
	b.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=100m, memory=64Mi").ResourceList(),
	}}}
	s.in.Buffers = []provisioning.Buffer{b}
	pods := b.Pods()
	s.plan.Bind[0].Pods = []*corev1.Pod{pods[0], s.tiny}
	s.reorder()
	s.plan.Order = []*corev1.Pod{s.webs[0], s.webs[1], s.night, s.tiny, pods[0]}
	s.plan.Buffers = []provisioning.BufferStatus{{Namespace: "default", Name: "spare", Existing: 1, Unplaced: 1, Reason: s.plan.Unplaced[0].Reason}}
}

func TestVerifyBuffers(t *testing.T) {
	plant := func(change func(*scene)) func(*scene) {
		return func(s *scene) { s.buffer(); change(s) }
	}
	accounts := rules(provisioning.RuleAccounts)
	judge(t, []verdict{
		{"one placed, one not", plant(func(*scene) {}), nil, ""},
		{"no word on it", plant(func(s *scene) { s.plan.Buffers = nil }), accounts, "Buffers does not say how buffer default/spare fares"},
		{"a wrong count", plant(func(s *scene) { s.plan.Buffers[0].Existing, s.plan.Buffers[0].Fresh = 0, 1 }), accounts,
			"0 pods on existing nodes, 1 on new ones and 1 on none, but they are 1, 0 and 1"},
		{"no reason", plant(func(s *scene) { s.plan.Buffers[0].Reason = nil }), rules(provisioning.RuleReason), "1 pods without a place"},
		{"another buffer", plant(func(s *scene) {
			s.plan.Buffers = append(s.plan.Buffers, provisioning.BufferStatus{Namespace: "prod", Name: "spare"})
		}), accounts, "buffer prod/spare fares, which is not in the input"},
		{"twice", plant(func(s *scene) { s.plan.Buffers = append(s.plan.Buffers, s.plan.Buffers[0]) }), accounts, "twice"},
		{"before a real pod", plant(func(s *scene) {
			s.plan.Order[3], s.plan.Order[4] = s.plan.Order[4], s.plan.Order[3]
		}), rules(provisioning.RuleOrder), "default/tiny: it comes after default/capacity-buffer-spare-0, which stands for a buffer"},
		{"where there is no room", plant(func(s *scene) {
			s.in.Buffers[0].Template.Spec.Containers[0].Resources.Requests = resources.MustParse("cpu=800m, memory=64Mi").ResourceList()
		}), rules(provisioning.RuleResources), "node old"},
		{"where a pod keeps it out", plant(func(s *scene) {
			avoid(s.old.Pods[0], corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: appSelector("spare")})
		}), rules(provisioning.RuleAntiAffinity), "capacity-buffer-spare-0"},
		{"listed as pending", plant(func(s *scene) {
			s.plan.Unplaced = append(s.plan.Unplaced, provisioning.Unplaced{Pod: s.in.Buffers[0].Pods()[1], Reason: s.plan.Unplaced[0].Reason})
			s.plan.Unplaced[0], s.plan.Unplaced[1] = s.plan.Unplaced[1], s.plan.Unplaced[0]
		}), rules(provisioning.RuleCompleteness), "Buffers counts it"},
	})
}
