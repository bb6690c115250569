package replay

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// small is a pod that requests one CPU and 1 GiB, or nothing if idle.
func small(name string, idle bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	if !idle {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	return pod
}

// host is a node of a zone with so many CPUs and as many GiB twice over.
func host(name, zone string, cpu int64, pods ...*corev1.Pod) provisioning.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: zone, "line": name[:1]}}}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(cpu*2<<30, resource.BinarySI),
		corev1.ResourcePods: resource.MustParse("110")}
	return provisioning.Node{Node: node, Pods: pods}
}

func schedulerOf(pending []*corev1.Pod, nodes ...provisioning.Node) *scheduler {
	return newScheduler(&run{opts: &Options{}, in: provisioning.Input{Pods: pending, Nodes: nodes}})
}

// The expected figures are worked out by hand from kube-scheduler's formulas.
func TestScores(t *testing.T) {
	ours, idle := small("ours", false), small("idle", true)
	empty, busy := host("empty", "a", 4), host("busy", "b", 4, small("there", false), small("quiet", true))
	both := []int{0, 1}

	s := schedulerOf([]*corev1.Pod{ours, idle}, empty, busy)
	t.Run("least allocated", func(t *testing.T) {
		// Free with the pod: 3 of 4 CPU and 7 of 8 GiB; then 1.9 of 4 and 8 - 1 - 1 - 0.195.
		require.Equal(t, []int64{(75 + 87) / 2, (47 + 72) / 2}, s.leastAllocated(ours, both))
		// 100m and 200 MiB are assumed of a pod that says nothing: 3.9 and 7.80; 2.8 and 6.61.
		require.Equal(t, []int64{(97 + 97) / 2, (70 + 82) / 2}, s.leastAllocated(idle, both))
	})
	t.Run("balanced allocation", func(t *testing.T) {
		// From equal shares (100) to 1/4 and 1/8 (93); from there to 1/2 and 1/4 (87).
		require.Equal(t, []int64{50 + (50+93-100)/2, 50 + (50+87-93)/2}, s.balancedAllocation(ours, both))
		require.Nil(t, s.balancedAllocation(idle, both))
	})
	t.Run("taints", func(t *testing.T) {
		tainted := host("tainted", "a", 4)
		tainted.Node.Spec.Taints = []corev1.Taint{{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}}
		s := schedulerOf([]*corev1.Pod{ours}, empty, tainted)
		require.Equal(t, []int64{100, 0}, s.taints(ours, both))
		tolerant := small("tolerant", false)
		tolerant.Spec.Tolerations = []corev1.Toleration{{Key: "old", Operator: corev1.TolerationOpExists}}
		require.Equal(t, []int64{100, 100}, s.taints(tolerant, both))
	})
	t.Run("node affinity", func(t *testing.T) {
		prefers := small("prefers", false)
		prefer := func(weight int32, line string) corev1.PreferredSchedulingTerm {
			return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "line", Operator: corev1.NodeSelectorOpIn, Values: []string{line}}}}}
		}
		prefers.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{prefer(20, "e"), prefer(50, "b")}}}
		require.Equal(t, []int64{40, 100}, s.nodeAffinity(prefers, both))
		require.Nil(t, s.nodeAffinity(ours, both))
	})
}

func TestSpreadScores(t *testing.T) {
	nodes := []provisioning.Node{host("one", "a", 4, small("1", false), small("2", false)), host("two", "a", 4), host("three", "b", 4, small("3", false)), host("four", "c", 4)}
	pod := small("ours", false)
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
	s := schedulerOf([]*corev1.Pod{pod}, nodes...)
	// Three zones: counts 2, 1 and 0 times ln 5 are 3, 2 and 0 when rounded.
	require.Equal(t, []int64{0, 0, 100 * (3 - 2) / 3, 100}, s.spread(pod, []int{0, 1, 2, 3}))

	// Pods of a ReplicaSet are spread over nodes and zones without having asked.
	controlled := small("4", false)
	isController := true
	controlled.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "u", Controller: &isController}}
	sibling := controlled.DeepCopy()
	sibling.Name = "5"
	s = schedulerOf([]*corev1.Pod{controlled}, host("one", "a", 4, sibling), host("two", "a", 4), host("three", "b", 4))
	// Hosts: count ln 5 + 2; zones: count ln 4 + 4. 1.61+2+1.39+4 = 9, 2+1.39+4 = 7, 2+4 = 6.
	require.Equal(t, []int64{100 * 6 / 9, 100 * 8 / 9, 100 * 9 / 9}, s.spread(controlled, []int{0, 1, 2}))
	require.Nil(t, s.spread(small("alone", false), []int{0, 1, 2}))
}

func TestPodAffinityScores(t *testing.T) {
	term := func(key string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	}
	fond, shy := small("fond", false), small("shy", false)
	fond.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: term(corev1.LabelTopologyZone)}},
		RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term(corev1.LabelHostname)}}}
	shy.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 30, PodAffinityTerm: term(corev1.LabelHostname)}}}}
	all := []int{0, 1, 2}

	// Towards a plain pod: fond likes it in its zone (10) and on its node (1), shy does not on its own (-30).
	s := schedulerOf([]*corev1.Pod{small("plain", false)}, host("one", "a", 4, fond), host("two", "a", 4, shy), host("three", "b", 4))
	// Sums are 11, 10 - 30 and 0.
	require.Equal(t, []int64{100, 0, 100 * 20 / 31}, s.podAffinity(small("plain", false), all))

	// A shy pod itself avoids the nodes with pods it selects, besides.
	s = schedulerOf([]*corev1.Pod{shy}, host("one", "a", 4, small("x", false)), host("two", "a", 4), host("three", "b", 4, small("y", false), small("z", false)))
	require.Equal(t, []int64{50, 100, 0}, s.podAffinity(shy, all))
	require.Nil(t, s.podAffinity(small("plain", false), all))

	// What comes later counts too.
	require.True(t, s.cluster.Fits(shy, "two"))
	s.bind(shy, 1)
	require.Equal(t, []int64{100, 0, 100}, s.podAffinity(small("plain", false), all))
}

func TestNodesAreLookedAtZoneByZone(t *testing.T) {
	s := schedulerOf(nil, host("a1", "a", 4), host("a2", "a", 4), host("b1", "b", 4), host("c1", "c", 4))
	require.Equal(t, []int{0, 2, 3, 1}, s.order)
	require.Equal(t, 40, wantedNodes(40))
	require.Equal(t, 100, wantedNodes(150))
	require.Equal(t, 1000*42/100, wantedNodes(1000))
	require.Equal(t, 10000*5/100, wantedNodes(10000))
}
