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

func TestUnplaced(t *testing.T) {
	tolerant := []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	const onGeneral = "it is left pending, but NodePool general could launch "
	for _, tc := range []struct {
		name  string
		plant func(s *scene)
		says  string // "" if the pod really has no place
	}{
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
			require.Equal(t, verify.RuleOverlooked, found[0].Rule)
			require.Equal(t, "default/huge", found[0].Pod)
			require.Contains(t, found[0].Message, tc.says)
		})
	}
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
