package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestUnplacedAmongPods asks for a place for huge, which is 7 CPU here and
// fits a large only, or 100m and fits the existing nodes as well.
func TestUnplacedAmongPods(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	const fresh = "NodePool general could launch large/"
	large := func(change func(*scene)) func(*scene) {
		return func(s *scene) { s.request(s.Huge, "cpu=7"); scenes.Team("h", s.Huge); change(s) }
	}
	little := func(change func(*scene)) func(*scene) {
		return func(s *scene) {
			s.request(s.Huge, "cpu=100m")
			scenes.Team("h", s.Huge)
			s.In.NodePools = nil
			change(s)
		}
	}
	for _, tc := range []struct {
		name  string
		plant func(s *scene)
		says  string // "" if the pod really has no place
	}{
		{"gated", large(func(s *scene) { s.Huge.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }), ""},
		{"another scheduler", large(func(s *scene) {
			s.Huge.Spec.SchedulerName = "theirs"
			s.Opts = &provisioning.Options{SchedulerNames: []string{"ours"}}
		}), ""},
		{"preferences only", large(func(s *scene) {
			s.Huge.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: scenes.AffinityTerm("rack", "none")},
			}}}
		}), fresh},
		{"spread over hosts", large(func(s *scene) { spread(s.Huge, host, 1) }), fresh},
		{"spread over zones, in the emptier", large(func(s *scene) { s.tally("h", 1, 0, 0); spread(s.Huge, zone, 1) }), fresh + "b/"},
		{"spread over zones, none empty enough", large(func(s *scene) { s.tally("h", 1, 1, 0); spread(s.Huge, zone, 1, minDomains(3)) }), ""},
		{"spread over a label that no node has", large(func(s *scene) { spread(s.Huge, "rack", 1) }), ""},
		{"spread that a new node of the plan decides", large(func(s *scene) {
			s.tally("h", 1, 1, 0)
			s.Webs[0].Labels = s.Huge.Labels
			s.Webs[1].Labels = s.Huge.Labels
			s.Huge.Spec.NodeSelector = map[string]string{zone: "a"}
			spread(s.Huge, zone, 1, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignored })
		}), ""},
		{"a host more than a spread can bear", large(func(s *scene) {
			// tiny comes to old where one is already, as every host has one.
			scenes.Team("t", s.Tiny)
			s.tally("t", 1, 1, 1)
			s.Webs[0].Labels, s.Night.Labels = s.Tiny.Labels, s.Tiny.Labels
			spread(s.Tiny, host, 1)
			s.request(s.Huge, "cpu=7500m")
		}), ""},
		{"affinity in a zone", large(func(s *scene) { scenes.Team("b", s.Old.Pods[0]); scenes.Follow(s.Huge, scenes.AffinityTerm(zone, "b")) }), fresh + "a/"},
		{"affinity on a full host", large(func(s *scene) { scenes.Team("b", s.Old.Pods[0]); scenes.Follow(s.Huge, scenes.AffinityTerm(host, "b")) }), ""},
		{"affinity to itself", large(func(s *scene) { scenes.Follow(s.Huge, scenes.AffinityTerm(zone, "h")) }), fresh},
		{"affinity to nobody", large(func(s *scene) { scenes.Follow(s.Huge, scenes.AffinityTerm(zone, "none")) }), ""},
		{"affinity to what may be anywhere", large(func(s *scene) { scenes.Team("w", s.Webs...); scenes.Follow(s.Huge, scenes.AffinityTerm(zone, "w")) }), ""},
		{"anti-affinity in one zone", large(func(s *scene) { scenes.Team("b", s.Old.Pods[0]); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "b")) }), fresh + "b/"},
		{"anti-affinity everywhere", large(func(s *scene) { s.tally("b", 1, 1, 0); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "b")) }), ""},
		{"anti-affinity to what may be anywhere", large(func(s *scene) { scenes.Team("w", s.Webs...); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "w")) }), ""},
		{"anti-affinity to a DaemonSet", large(func(s *scene) { scenes.Team("d", s.Daemon); scenes.Avoid(s.Huge, scenes.AffinityTerm(host, "d")) }), ""},
		{"anti-affinity of a DaemonSet", large(func(s *scene) { scenes.Avoid(s.Daemon, scenes.AffinityTerm(host, "h")) }), ""},
		{"anti-affinity of a pod of the plan", large(func(s *scene) { scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "h")) }), fresh + "b/"},
		{"a port", large(func(s *scene) { listen(s.Huge, corev1.ContainerPort{HostPort: 80}) }), fresh},
		{"a port of a DaemonSet", large(func(s *scene) {
			listen(s.Huge, corev1.ContainerPort{HostPort: 80})
			listen(s.Daemon, corev1.ContainerPort{HostPort: 80})
		}), ""},
		{"a port on existing nodes", little(func(s *scene) {
			for _, pod := range []*corev1.Pod{s.Huge, s.Tiny} {
				listen(pod, corev1.ContainerPort{HostPort: 80})
			}
		}), "on node plain"},
		{"a volume in a zone", large(func(s *scene) { s.Volume("v", "", "b", "1Gi"); s.Claim("c", "", "v", s.Huge) }), fresh + "b/"},
		{"a volume out of reach", large(func(s *scene) { s.Volume("v", "", "c", "1Gi"); s.Claim("c", "", "v", s.Huge) }), ""},
		{"a volume that is not settled", large(func(s *scene) {
			s.Volume("v", "", "b", "1Gi")
			s.Claim("c", "", "v", s.Huge).Annotations = nil
		}), ""},
		{"a volume that is not there", large(func(s *scene) { s.Claim("c", "", "v", s.Huge); s.In.Volumes.Claims = nil }), ""},
		{"a volume to be made", large(func(s *scene) { s.Class("fast", "disk.example.com", waits, "b"); s.Claim("c", "fast", "", s.Huge) }), fresh + "b/"},
		{"a volume to be made on demand", large(func(s *scene) { s.Class("fast", "disk.example.com", waits); s.ephemeral(s.Huge) }), ""},
		{"more volumes than go", large(func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Huge)
			s.Large.VolumeAttachmentLimits = map[string]int64{"disk.example.com": 0}
		}), ""},
		{"constraints that cannot be read", large(func(s *scene) {
			scenes.Follow(s.Huge, scenes.AffinityTerm(zone, "h", func(t *corev1.PodAffinityTerm) {
				t.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Near"}}
			}))
		}), ""},
		{"constraints and minValues", large(func(s *scene) { s.demand(zone, 2); spread(s.Huge, host, 1) }), ""},
		{"spread on existing nodes", little(func(s *scene) { s.tally("h", 1, 0, 0); spread(s.Huge, zone, 1) }), "on node plain"},
		{"anti-affinity on existing nodes", little(func(s *scene) { s.tally("h", 0, 1, 0); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "h")) }), "on node old"},
		{"anti-affinity on all existing nodes", little(func(s *scene) { s.tally("h", 1, 1, 0); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "h")) }), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.plant(s)
			found := verify.Unplaced(s.In, s.Plan, s.Opts)
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
