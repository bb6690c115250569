package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// wanted is what Unplaced has to say about pod huge of the scene as changed.
type wanted struct {
	name  string
	plant func(s *scene)
	says  string // "" if the pod really has no place
}

func findPlaces(t *testing.T, cases []wanted) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.plant(s)
			found := verify.Unplaced(s.In, s.Plan, s.Opts)
			if tc.says == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, verify.RuleOverlooked, found[0].Rule)
			require.Equal(t, "default/huge", found[0].Pod)
			require.Contains(t, found[0].Message, tc.says)
		})
	}
}

func TestUnplaced(t *testing.T) {
	tolerant := []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	const onGeneral = "it is left pending, but NodePool general could launch "
	findPlaces(t, []wanted{
		{"too large", func(*scene) {}, ""},
		{"fits a type", func(s *scene) { s.request(s.Huge, "cpu=7") }, onGeneral + "large/a/on-demand for it alone"},
		{"fits to the last milli-CPU", func(s *scene) { s.request(s.Huge, "cpu=7800m") }, onGeneral},
		{"fits but for the DaemonSet", func(s *scene) { s.request(s.Huge, "cpu=7801m") }, ""},
		{"fits a sold-out type only", func(s *scene) {
			s.Gone.Capacity = s.Gone.Capacity.With(corev1.ResourceCPU, 1e6).With(corev1.ResourceMemory, 1<<50)
		}, ""},
		{"fits a type, and needs a feature that no new node is known to declare", func(s *scene) {
			s.request(s.Huge, "cpu=7")
			s.Huge.Spec.HostNetwork, s.Huge.Spec.HostUsers = true, new(false)
		}, ""},
		{"fits an existing node", func(s *scene) { s.request(s.Huge, "cpu=1800m") }, "it is left pending, but has a place on node plain"},
		{"fits an existing node but for what the plan puts there", func(s *scene) {
			s.In.NodePools, s.In.Nodes = nil, s.In.Nodes[1:2]
			s.request(s.Huge, "cpu=701m")
		}, ""},
		{"fits an existing node beside what the plan puts there", func(s *scene) {
			s.In.NodePools, s.In.Nodes = nil, s.In.Nodes[1:2]
			s.request(s.Huge, "cpu=700m")
		}, "node old"},
		{"fits a new node of the plan beside its pods", func(s *scene) { s.fill(); s.request(s.Huge, "cpu=100m") }, "it is left pending, but has a place on new node "},
		{"fits a new node of the plan but for its labels", func(s *scene) {
			s.fill()
			s.Huge.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "nowhere"}
			s.request(s.Huge, "cpu=100m")
		}, ""},
		{"fits a new node of the plan but for its pods", func(s *scene) { s.fill(); s.request(s.Huge, "cpu=7") }, ""},
		{"existing node leaves", func(s *scene) {
			s.In.NodePools, s.In.Nodes = nil, s.In.Nodes[2:]
			s.Plain.Node.DeletionTimestamp = &metav1.Time{}
			s.request(s.Huge, "cpu=1")
		}, ""},
		{"pool with a taint", func(s *scene) { s.In.NodePools = s.In.NodePools[:1]; s.request(s.Huge, "cpu=7") }, ""},
		{"pool with a taint that is tolerated", func(s *scene) {
			s.In.NodePools = s.In.NodePools[:1]
			s.Huge.Spec.Tolerations = tolerant
			s.request(s.Huge, "cpu=7")
		}, "NodePool batch could launch"},
		{"label that a pool leaves to the pod", func(s *scene) {
			s.Huge.Spec.Tolerations = tolerant
			s.Huge.Spec.NodeSelector = map[string]string{"team": "blue"}
			s.request(s.Huge, "cpu=7")
		}, "NodePool batch could launch"},
		{"label that no pool gives", func(s *scene) {
			s.Huge.Spec.NodeSelector = map[string]string{"team": "blue"}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"label that only a type gives", func(s *scene) {
			s.Large.Requirements = s.Large.Requirements.With(requirements.In("disk", "fast"))
			s.Huge.Spec.NodeSelector = map[string]string{"disk": "fast"}
			s.request(s.Huge, "cpu=7")
		}, onGeneral + "large/a/on-demand"},
		{"system that a type leaves to the pod", func(s *scene) {
			s.Huge.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "windows"}
			s.request(s.Huge, "cpu=3")
		}, onGeneral + "open/a/on-demand"},
		{"closed pool", func(s *scene) { s.General.Spec.Replicas = new(int64); s.request(s.Huge, "cpu=7500m") }, ""},
		{"limits leave nothing", func(s *scene) {
			s.General.Spec.Limits = v1.Limits(resources.MustParse("cpu=17").ResourceList())
			s.request(s.Huge, "cpu=7500m")
		}, ""},
		{"limits leave nothing, but a placed pod can move", func(s *scene) {
			s.General.Spec.Limits = v1.Limits(resources.MustParse("cpu=17").ResourceList())
			s.request(s.Huge, "cpu=7")
		}, "it is left pending, but has a place on node general-1 once pod default/web-1 moves to another node"},
		{"a placed pod of an existing node can move", func(s *scene) {
			s.In.NodePools, s.In.Nodes = nil, s.In.Nodes[1:]
			s.Plain.Pods = []*corev1.Pod{scenes.Pod("x", "1200m", "1Gi")}
			s.request(s.Huge, "cpu=750m")
		}, "it is left pending, but has a place on node old once pod default/tiny moves to another node"},
		{"a placed pod can move, but minds others", func(s *scene) {
			s.General.Spec.Limits = v1.Limits(resources.MustParse("cpu=17").ResourceList())
			for _, pod := range s.Webs {
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8000 + int32(pod.Name[4]), ContainerPort: 80}}
			}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"limits leave room", func(s *scene) {
			s.General.Spec.Limits = v1.Limits(resources.MustParse("cpu=18").ResourceList())
			s.request(s.Huge, "cpu=7")
		}, onGeneral},
		{"limits are blamed", func(s *scene) {
			s.General.Spec.Limits = v1.Limits(resources.MustParse("cpu=18").ResourceList())
			s.Plan.Unplaced[0].Explanation.Pools = []provisioning.PoolExplanation{{NodePool: "general", Cause: provisioning.CauseLimits}}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"minValues missed", func(s *scene) { s.demand(corev1.LabelInstanceTypeStable, 2); s.request(s.Huge, "cpu=7") }, ""},
		{"minValues missed, at best effort", func(s *scene) {
			s.demand(corev1.LabelInstanceTypeStable, 2)
			s.request(s.Huge, "cpu=7")
			s.Opts = &provisioning.Options{MinValues: provisioning.BestEffort}
		}, onGeneral},
		{"minValues met", func(s *scene) { s.demand(corev1.LabelTopologyZone, 2); s.request(s.Huge, "cpu=7") }, onGeneral},
		{"minValues missed in the pod's zone", func(s *scene) {
			s.demand(corev1.LabelTopologyZone, 2)
			s.Huge.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"only a reservation", func(s *scene) {
			for i := range s.Large.Offerings {
				s.Large.Offerings[i].ReservationID = "cr"
			}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"resource claim", func(s *scene) {
			s.Huge.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
			s.request(s.Huge, "cpu=7")
		}, ""},
		{"unreadable requests", func(s *scene) { s.Huge.Spec.Overhead = corev1.ResourceList{"not a name": {}} }, ""},
		{"no reason at all", func(s *scene) { s.Plan.Unplaced[0].Explanation = nil; s.request(s.Huge, "cpu=7") }, onGeneral},
	})
	require.Empty(t, verify.Unplaced(newScene().In, nil, nil))
}

// fill leaves room on the new nodes of the plan alone: no node exists, and limits let no
// further one be launched.
func (s *scene) fill() {
	s.In.Nodes, s.Plan.Bind = nil, nil
	for _, pool := range s.In.NodePools {
		pool.Spec.Limits = v1.Limits{v1.ResourceNodes: *resource.NewQuantity(1, resource.DecimalSI)}
	}
}

// demand gives pool general a minValues.
func (s *scene) demand(key string, least int) {
	s.General.Spec.Template.Spec.Requirements = append(s.General.Spec.Template.Spec.Requirements,
		v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &least})
}

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
	findPlaces(t, []wanted{
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
		{"anti-affinity to a node that may come to any zone", large(func(s *scene) {
			s.hope("")
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "h"))
		}), ""},
		{"anti-affinity to what is on a node that may come to any zone", large(func(s *scene) {
			s.hope("")
			scenes.Team("t", s.Tiny)
			scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "t"))
		}), ""},
		{"anti-affinity to a node that comes to some other zone", large(func(s *scene) {
			s.hope("topology.kubernetes.io/zone in (a, c)")
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "h"))
		}), fresh + "b/"},
		{"anti-affinity to a DaemonSet on a node that may come to any zone", large(func(s *scene) {
			s.hope("")
			scenes.Team("d", s.Daemon)
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "d"))
			listen(s.Huge, corev1.ContainerPort{HostPort: 80})
		}), ""},
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
		{"anti-affinity on nodes that share a zone with one to come", little(func(s *scene) {
			s.hope("")
			scenes.Avoid(s.Tiny, scenes.AffinityTerm(zone, "h"))
		}), ""},
		{"anti-affinity on all existing nodes", little(func(s *scene) { s.tally("h", 1, 1, 0); scenes.Avoid(s.Huge, scenes.AffinityTerm(zone, "h")) }), ""},
	})
}

var ignored = corev1.NodeInclusionPolicyIgnore

func minDomains(n int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}
