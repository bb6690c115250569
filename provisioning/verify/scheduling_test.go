package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func TestScheduling(t *testing.T) {
	ours := &provisioning.Options{SchedulerNames: []string{"default-scheduler", "ours"}}
	broken := rules(verify.RuleScheduling)
	judge(t, []verdict{
		{"gated on an existing node", func(s *scene) { s.Tiny.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }, broken,
			"node old: pod default/tiny: it waits for scheduling gate g"},
		{"gated on a new node", func(s *scene) { s.Night.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }, broken, "node batch-1: pod default/night-1"},
		{"on its way out", func(s *scene) { s.Tiny.DeletionTimestamp = &metav1.Time{} }, broken, "it is being deleted"},
		{"gated and pending", func(s *scene) {
			s.Huge.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
			s.Plan.Unplaced[0].Explanation.Cause = provisioning.CauseUnsupported
		}, nil, ""},
		{"any scheduler", func(s *scene) { s.Tiny.Spec.SchedulerName = "theirs" }, nil, ""},
		{"another scheduler", func(s *scene) { s.Tiny.Spec.SchedulerName, s.Opts = "theirs", ours }, broken, "it is for scheduler theirs"},
		{"one of several schedulers", func(s *scene) { s.Tiny.Spec.SchedulerName, s.Opts = "ours", ours }, nil, ""},
		{"no scheduler means the default", func(s *scene) { s.Opts = ours }, nil, ""},
	})
}

func TestTurns(t *testing.T) {
	broken := rules(verify.RuleOrder)
	judge(t, []verdict{
		{"any order without constraints", func(s *scene) { slices.Reverse(s.Plan.Order) }, nil, ""},
		{"no order", func(s *scene) { s.Plan.Order = nil }, broken, "pod default/night-1: it has a place, but Order does not list it (so do 4 pods in all)"},
		{"a pod is missing", func(s *scene) { s.Plan.Order = s.Plan.Order[1:] }, broken, "default/web-1: it has a place, but Order does not list it"},
		{"a pod comes twice", func(s *scene) { s.Plan.Order = append(s.Plan.Order, s.Tiny) }, broken, "default/tiny: Order lists it too often"},
		{"a pod that stays pending", func(s *scene) { s.Plan.Order = append(s.Plan.Order, s.Huge) }, broken, "default/huge: Order lists it, but neither Create nor Bind does"},
		{"a pod that nobody asked for", func(s *scene) { s.Plan.Order = append(s.Plan.Order, &corev1.Pod{}) }, broken, "/: Order lists it"},
		{"a nil pod", func(s *scene) { s.Plan.Order = append(s.Plan.Order, nil) }, broken, "the pod at index 4 of Order is nil"},
	})
}

// TestSupports uses what an engine is to model and that asks for nothing.
func TestSupports(t *testing.T) {
	term := scenes.AffinityTerm(corev1.LabelHostname, "none")
	weighted := []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}
	features := map[string]func(*corev1.PodSpec){
		"soft spread": func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.ScheduleAnyway, TopologyKey: "rack"}}
		},
		"preferred pod affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
		},
		"preferred pod anti-affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
		},
		"preferred node affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}}
		},
		"anti-affinity to nobody": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		},
		"host port": func(s *corev1.PodSpec) { s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} },
	}
	for feature, use := range features {
		t.Run(feature, func(t *testing.T) {
			s := newScene()
			use(&s.Webs[0].Spec)
			use(&s.Tiny.Spec)
			require.Empty(t, verify.Plan(s.In, s.Plan, nil))
		})
	}
}
