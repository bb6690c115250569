package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestVerifyUnplacedAmongPods asks for a place for huge, which is 7 CPU here and
// fits a large only, or 100m and fits the existing nodes as well.
func TestVerifyUnplacedAmongPods(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	const fresh = "NodePool general could launch large/"
	large := func(change func(*scene)) func(*scene) {
		return func(s *scene) { s.request(s.huge, "cpu=7"); team("h", s.huge); change(s) }
	}
	little := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			s.request(s.huge, "cpu=100m")
			team("h", s.huge)
			s.in.NodePools = nil
			change(s)
		}
	}
	for _, tc := range []struct {
		name  string
		plant func(s *scene)
		says  string // "" if the pod really has no place
	}{
		{"gated", large(func(s *scene) { s.huge.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }), ""},
		{"another scheduler", large(func(s *scene) {
			s.huge.Spec.SchedulerName = "theirs"
			s.opts = &provisioning.Options{SchedulerNames: []string{"ours"}}
		}), ""},
		{"preferences only", large(func(s *scene) {
			s.huge.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: affinityTerm("rack", "none")},
			}}}
		}), fresh},
		{"spread over hosts", large(func(s *scene) { spread(s.huge, host, 1) }), fresh},
		{"spread over zones, in the emptier", large(func(s *scene) { s.tally("h", 1, 0, 0); spread(s.huge, zone, 1) }), fresh + "b/"},
		{"spread over zones, none empty enough", large(func(s *scene) { s.tally("h", 1, 1, 0); spread(s.huge, zone, 1, minDomains(3)) }), ""},
		{"spread over a label that no node has", large(func(s *scene) { spread(s.huge, "rack", 1) }), ""},
		{"spread that a new node of the plan decides", large(func(s *scene) {
			s.tally("h", 1, 1, 0)
			s.webs[0].Labels = s.huge.Labels
			s.webs[1].Labels = s.huge.Labels
			s.huge.Spec.NodeSelector = map[string]string{zone: "a"}
			spread(s.huge, zone, 1, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignored })
		}), ""},
		{"a host more than a spread can bear", large(func(s *scene) {
			// tiny comes to old where one is already, as every host has one.
			team("t", s.tiny)
			s.tally("t", 1, 1, 1)
			s.webs[0].Labels, s.night.Labels = s.tiny.Labels, s.tiny.Labels
			spread(s.tiny, host, 1)
		}), ""},
		{"affinity in a zone", large(func(s *scene) { team("b", s.old.Pods[0]); follow(s.huge, affinityTerm(zone, "b")) }), fresh + "a/"},
		{"affinity on a full host", large(func(s *scene) { team("b", s.old.Pods[0]); follow(s.huge, affinityTerm(host, "b")) }), ""},
		{"affinity to itself", large(func(s *scene) { follow(s.huge, affinityTerm(zone, "h")) }), fresh},
		{"affinity to nobody", large(func(s *scene) { follow(s.huge, affinityTerm(zone, "none")) }), ""},
		{"affinity to what may be anywhere", large(func(s *scene) { team("w", s.webs...); follow(s.huge, affinityTerm(zone, "w")) }), ""},
		{"anti-affinity in one zone", large(func(s *scene) { team("b", s.old.Pods[0]); avoid(s.huge, affinityTerm(zone, "b")) }), fresh + "b/"},
		{"anti-affinity everywhere", large(func(s *scene) { s.tally("b", 1, 1, 0); avoid(s.huge, affinityTerm(zone, "b")) }), ""},
		{"anti-affinity to what may be anywhere", large(func(s *scene) { team("w", s.webs...); avoid(s.huge, affinityTerm(zone, "w")) }), ""},
		{"anti-affinity to a DaemonSet", large(func(s *scene) { team("d", s.daemon); avoid(s.huge, affinityTerm(host, "d")) }), ""},
		{"anti-affinity of a DaemonSet", large(func(s *scene) { avoid(s.daemon, affinityTerm(host, "h")) }), ""},
		{"anti-affinity of a pod of the plan", large(func(s *scene) { avoid(s.tiny, affinityTerm(zone, "h")) }), fresh + "b/"},
		{"a port", large(func(s *scene) { listen(s.huge, corev1.ContainerPort{HostPort: 80}) }), fresh},
		{"a port of a DaemonSet", large(func(s *scene) {
			listen(s.huge, corev1.ContainerPort{HostPort: 80})
			listen(s.daemon, corev1.ContainerPort{HostPort: 80})
		}), ""},
		{"a port on existing nodes", little(func(s *scene) {
			for _, pod := range []*corev1.Pod{s.huge, s.tiny} {
				listen(pod, corev1.ContainerPort{HostPort: 80})
			}
		}), "on node plain"},
		{"a volume in a zone", large(func(s *scene) { s.volume("v", "", "b", "1Gi"); s.claim("c", "", "v", s.huge) }), fresh + "b/"},
		{"a volume out of reach", large(func(s *scene) { s.volume("v", "", "c", "1Gi"); s.claim("c", "", "v", s.huge) }), ""},
		{"a volume that is not settled", large(func(s *scene) {
			s.volume("v", "", "b", "1Gi")
			s.claim("c", "", "v", s.huge).Annotations = nil
		}), ""},
		{"a volume that is not there", large(func(s *scene) { s.claim("c", "", "v", s.huge); s.in.Volumes.Claims = nil }), ""},
		{"a volume to be made", large(func(s *scene) { s.class("fast", "disk.example.com", waits, "b"); s.claim("c", "fast", "", s.huge) }), fresh + "b/"},
		{"a volume to be made on demand", large(func(s *scene) { s.class("fast", "disk.example.com", waits); s.ephemeral(s.huge) }), ""},
		{"more volumes than go", large(func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			s.claim("c", "fast", "", s.huge)
			s.large.VolumeAttachmentLimits = map[string]int64{"disk.example.com": 0}
		}), ""},
		{"constraints that cannot be read", large(func(s *scene) {
			follow(s.huge, affinityTerm(zone, "h", func(t *corev1.PodAffinityTerm) {
				t.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
			}))
		}), ""},
		{"constraints and minValues", large(func(s *scene) { s.demand(zone, 2); spread(s.huge, host, 1) }), ""},
		{"spread on existing nodes", little(func(s *scene) { s.tally("h", 1, 0, 0); spread(s.huge, zone, 1) }), "on node plain"},
		{"anti-affinity on existing nodes", little(func(s *scene) { s.tally("h", 0, 1, 0); avoid(s.huge, affinityTerm(zone, "h")) }), "on node old"},
		{"anti-affinity on all existing nodes", little(func(s *scene) { s.tally("h", 1, 1, 0); avoid(s.huge, affinityTerm(zone, "h")) }), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.plant(s)
			found := provisioning.VerifyUnplaced(s.in, s.plan, s.opts)
			if tc.says == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, "default/huge", found[0].Pod)
			require.Contains(t, found[0].Message, tc.says)
		})
	}
}

var ignored = corev1.NodeInclusionPolicyIgnore

func minDomains(n int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}
