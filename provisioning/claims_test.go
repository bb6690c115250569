package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// claimed returns the scene without a plan, with a claim that has no volume yet.
func claimed(mode corev1.PersistentVolumeAccessMode, pods ...*corev1.Pod) provisioning.Input {
	s := newScene()
	s.In.Pods = pods
	s.Class("fast", "disk.example.com", storagev1.VolumeBindingWaitForFirstConsumer)
	c := s.Claim("c", "fast", "", pods...)
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
	return s.In
}

// TestClaimHandedOn: a claim for one pod only goes from hand to hand until it comes
// to a pod that has a place, and each of the others says why it has none.
func TestClaimHandedOn(t *testing.T) {
	var pods []*corev1.Pod
	for i, cpu := range []string{"100", "200", "300", "1", "1"} {
		pod := scenes.Pod(fmt.Sprintf("p-%d", i), cpu, "1Gi")
		priority := int32(100 - i)
		pod.Spec.Priority = &priority
		pods = append(pods, pod)
	}
	in := claimed(corev1.ReadWriteOncePod, pods...)
	plan := solved(t, in, nil)
	require.Equal(t, []*corev1.Pod{pods[3]}, plan.Order)
	require.Len(t, plan.Unplaced, 4)
	for _, u := range plan.Unplaced[:3] {
		require.Equal(t, provisioning.CauseNodePools, u.Explanation.Cause, "%s is too large: %s", u.Pod.Name, u.Explanation)
	}
	require.Equal(t, provisioning.CauseVolumes, plan.Unplaced[3].Explanation.Cause)
	require.Contains(t, plan.Unplaced[3].Explanation.String(), "pod default/p-3 gets it")
	require.Empty(t, verify.Plan(in, plan, nil))
	require.Empty(t, verify.Unplaced(in, plan, nil))
}

// TestClaimOfGatedPod: who is not to be placed holds no claim.
func TestClaimOfGatedPod(t *testing.T) {
	gated, free := scenes.Pod("a", "1", "1Gi"), scenes.Pod("b", "1", "1Gi")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
	plan := solved(t, claimed(corev1.ReadWriteOncePod, gated, free), nil)
	require.Equal(t, []*corev1.Pod{free}, plan.Order)
}

// TestClaimOfMovedPod: a pod that is to go elsewhere takes its claim along.
func TestClaimOfMovedPod(t *testing.T) {
	in := claimed(corev1.ReadWriteOncePod)
	owner := scenes.Pod("owner", "1", "1Gi")
	owner.Spec.NodeName = "plain"
	owner.Spec.Volumes = []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
	}}}
	for i := range in.Nodes {
		if in.Nodes[i].Name() == "plain" {
			in.Nodes[i].Pods = []*corev1.Pod{owner}
		}
	}
	without, err := problemOf(t, in, nil).Without("plain")
	require.NoError(t, err)
	plan := planOf(t, without)
	require.Empty(t, plan.Unplaced)
	require.Len(t, plan.Order, 1)
}

// TestWithoutPodsThatComeBack: of the pods that are being deleted those of StatefulSets are
// to be placed as well, as they come back.
func TestWithoutPodsThatComeBack(t *testing.T) {
	in := claimed(corev1.ReadWriteMany)
	in.Pods = nil
	for _, kind := range []string{"StatefulSet", "ReplicaSet"} {
		pod := scenes.Pod("of-"+kind, "1", "1Gi")
		pod.Spec.NodeName, pod.DeletionTimestamp = "plain", &metav1.Time{}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Controller: new(true)}}
		for i := range in.Nodes {
			if in.Nodes[i].Name() == "plain" {
				in.Nodes[i].Pods = append(in.Nodes[i].Pods, pod)
			}
		}
	}
	without, err := problemOf(t, in, nil).Without("plain")
	require.NoError(t, err)
	plan := planOf(t, without)
	require.Empty(t, plan.Unplaced)
	require.Len(t, plan.Order, 1)
	require.Equal(t, "of-StatefulSet", plan.Order[0].Name)
}

// TestSharedClaimNotOverlooked: a pod that could have gone to the node, or the
// zone, of the pod that it shares a claim with is overlooked; one for which only
// other places are left is not.
func TestSharedClaimNotOverlooked(t *testing.T) {
	for _, c := range []struct {
		mode       corev1.PersistentVolumeAccessMode
		cpu        string // of the second pod
		zone       string // that it asks for
		overlooked bool
	}{
		{corev1.ReadWriteOnce, "100m", "", true},
		{corev1.ReadWriteOnce, "1800m", "", false}, // too large for the node of the first
		{corev1.ReadWriteMany, "1800m", "", true},
		{corev1.ReadWriteMany, "1800m", "b", false},
	} {
		t.Run(fmt.Sprint(c.mode, c.cpu, c.zone), func(t *testing.T) {
			first, second := scenes.Pod("a", "500m", "1Gi"), scenes.Pod("b", c.cpu, "1Gi")
			if c.zone != "" {
				second.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: c.zone}
			}
			in := claimed(c.mode, first, second)
			plan := &provisioning.Plan{
				Bind:     []provisioning.Binding{{Node: "old", Pods: []*corev1.Pod{first}}},
				Order:    []*corev1.Pod{first},
				Unplaced: []provisioning.Unplaced{{Pod: second, Explanation: &provisioning.Explanation{Cause: provisioning.CauseVolumes}}},
			}
			require.Equal(t, c.overlooked, len(verify.Unplaced(in, plan, nil)) > 0)
		})
	}
}

// TestSharedVolumeOnce: what is attached already, by a pod that runs or by one that
// comes before, takes no second slot; what is not takes one each.
func TestSharedVolumeOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  int32
		claims []string // of the pods to place, on a node where a pod with claim c-0 runs
		placed int
	}{
		{"all have what is there", 1, []string{"c-0", "c-0", "c-0"}, 3},
		{"one slot for two more of another", 2, []string{"c-1", "c-1"}, 2},
		{"one slot for one of two others", 2, []string{"c-1", "c-2"}, 1},
		{"no slot, and one has what is there", 1, []string{"c-0", "c-1"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			s.In.NodePools, s.In.InstanceTypes, s.In.Pods, s.In.DaemonSetPods = nil, nil, nil, nil
			node := &corev1.Node{ObjectMeta: scenes.Node("n", map[string]string{}).ObjectMeta}
			node.Status.Allocatable = resources.MustParse("cpu=8, memory=32Gi, pods=20").ResourceList()
			node.Status.Capacity = node.Status.Allocatable
			bound := scenes.Pod("bound", "100m", "64Mi")
			mode := corev1.ReadWriteMany
			for i := range 3 {
				name := fmt.Sprintf("c-%d", i)
				s.Claim(name, "", "v-"+name).Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
				s.Volume("v-"+name, "", "", "1Gi").Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: name}
			}
			use := func(pod *corev1.Pod, claim string) {
				pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
				}}}
			}
			use(bound, "c-0")
			s.In.Nodes = []provisioning.Node{{Node: node, Pods: []*corev1.Pod{bound}}}
			s.In.Volumes.CSINodes = []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{
				Drivers: []storagev1.CSINodeDriver{{Name: "disk.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: &c.limit}}},
			}}}
			for i, claim := range c.claims {
				pod := scenes.Pod(fmt.Sprintf("p-%d", i), "100m", "64Mi")
				use(pod, claim)
				s.In.Pods = append(s.In.Pods, pod)
			}
			plan := solved(t, s.In, nil)
			require.Len(t, plan.Order, c.placed)
			require.Empty(t, verify.Plan(s.In, plan, nil))
			require.Empty(t, verify.Unplaced(s.In, plan, nil))
		})
	}
}
