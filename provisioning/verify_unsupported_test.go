package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestVerifyUnsupported(t *testing.T) {
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}}
	weighted := []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}
	always := corev1.ContainerRestartPolicyAlways
	ports := []corev1.ContainerPort{{HostPort: 80}}
	features := map[string]func(*corev1.PodSpec){
		"topology spread constraints": func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.ScheduleAnyway}}
		},
		"pod affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		},
		"preferred pod affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
		},
		"pod anti-affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
		},
		"preferred pod anti-affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}
		},
		"preferred node affinity": func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}}
		},
		"host ports":        func(s *corev1.PodSpec) { s.Containers[0].Ports = ports },
		"host ports, twice": func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Ports: ports, RestartPolicy: &always}} },
		"persistent": func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}}}
		},
		"ephemeral volumes": func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		},
		"resource claims":  func(s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{Name: "c"}} },
		"scheduling gates": func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} },
	}
	for feature, use := range features {
		t.Run(feature, func(t *testing.T) {
			for _, where := range []string{"new", "existing", "pending"} {
				s := newScene()
				pod := map[string]*corev1.Pod{"new": s.webs[0], "existing": s.tiny, "pending": s.huge}[where]
				use(&pod.Spec)
				s.plan.Unplaced[0].Reason.Cause = provisioning.CauseUnsupported
				if where != "pending" {
					s.plan.Unplaced[0].Reason.Cause = provisioning.CauseNodePools
					found := provisioning.Verify(s.in, s.plan, nil)
					require.Len(t, found, 1)
					require.Equal(t, provisioning.RuleUnsupported, found[0].Rule)
					require.Equal(t, "default/"+pod.Name, found[0].Pod)
					continue
				}
				require.Empty(t, provisioning.Verify(s.in, s.plan, nil))
			}
		})
	}
	judge(t, []verdict{
		{"port of an init container that ends", func(s *scene) { s.tiny.Spec.InitContainers = []corev1.Container{{Ports: ports}} }, nil, ""},
		{"affinity without terms", func(s *scene) {
			s.tiny.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
		}, nil, ""},
		{"volume without a claim", func(s *scene) {
			s.tiny.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, nil, ""},
	})
}

func TestVerifyBoundAntiAffinity(t *testing.T) {
	apart := func(app string, change func(*corev1.PodAffinityTerm)) func(*scene) {
		return func(s *scene) {
			term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
			if change != nil {
				change(&term)
			}
			s.old.Pods[0].Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term},
			}}
		}
	}
	broken := rules(provisioning.RuleUnsupported)
	judge(t, []verdict{
		{"same node", apart("tiny", nil), broken, "node old: pod default/tiny: the anti-affinity of default/bound, which runs in topology.kubernetes.io/zone=a, keeps it out"},
		{"same zone by some option", apart("web-1", nil), broken, "node general-1: pod default/web-1"},
		{"other zone by every option", func(s *scene) {
			apart("web-1", nil)(s)
			s.first().Options = slices.DeleteFunc(s.first().Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.Zone == "a" })
		}, nil, ""},
		{"new host", apart("web-1", func(t *corev1.PodAffinityTerm) { t.TopologyKey = corev1.LabelHostname }), nil, ""},
		{"same host", apart("tiny", func(t *corev1.PodAffinityTerm) { t.TopologyKey = corev1.LabelHostname }), broken, ""},
		{"key the node lacks", apart("tiny", func(t *corev1.PodAffinityTerm) { t.TopologyKey = "rack" }), nil, ""},
		{"pods of other apps", apart("else", nil), nil, ""},
		{"other namespace", apart("tiny", func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"prod"} }), nil, ""},
		{"any namespace", apart("tiny", func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} }), broken, ""},
		{"no selector", apart("tiny", func(t *corev1.PodAffinityTerm) { t.LabelSelector = nil }), nil, ""},
		{"the other pod is done", func(s *scene) { apart("tiny", nil)(s); s.old.Pods[0].Status.Phase = corev1.PodFailed }, nil, ""},
		{"selected pods may be refused", func(s *scene) {
			apart("huge", nil)(s)
			s.plan.Unplaced[0].Reason.Cause = provisioning.CauseUnsupported
		}, nil, ""},
	})
}
