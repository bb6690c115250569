package provisioning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
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

	again, err := without.Without("plain")
	require.NoError(t, err)
	require.Len(t, planOf(t, again).Order, 1, "it is to be placed once")
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

const driversScene = `Types with devices of several drivers.

type plain cpu=8, memory=16Gi
  offer a on-demand 0.20
type gpu cpu=8, memory=16Gi
  device gpu.example.com x2 model=l4
  device net.example.com x1
  device log.example.com x1
  offer a on-demand 0.80
type bare cpu=8, memory=16Gi
  device gpu.example.com x2 model=l4
  offer a on-demand 0.90
device-class gpu
  driver gpu.example.com
device-class net
  driver net.example.com
device-class log
  driver log.example.com
device-class any
device-template gpu
  want gpu
device-template both
  want net
  want gpu
device-template any
  want any
`

// TestNodeNamesDrivers: a node names the drivers of the devices that its pods and daemons
// are to have, sorted, whichever of its options it is launched by; and it is initialized
// once each of them has published a whole pool, and not before.
func TestNodeNamesDrivers(t *testing.T) {
	for _, c := range []struct{ title, objects, want string }{
		{"no devices", "pool p\npod web\n  request cpu=1\n", ""},
		{"one of a driver", "pool p\npod web\n  request cpu=1\n  device-template gpu\n", "gpu.example.com"},
		{"of two drivers", "pool p\npod web\n  request cpu=1\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"of two pods", "pool p\npod web\n  request cpu=1\n  device-template gpu\npod else\n  request cpu=1\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"any device, on types that have one driver in common", "pool p\npod web\n  request cpu=1\n  device-template any\n", "gpu.example.com"},
		{"any device, on one type", "pool p\n  types gpu\npod web\n  request cpu=1\n  device-template any\n", "gpu.example.com,log.example.com,net.example.com"},
		{"of a daemon", "pool p\n  types gpu\npod web\n  request cpu=1\ndaemon agent\n  request cpu=100m\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"of a daemon that some options cannot serve", "pool p\n  types plain, gpu\npod web\n  request cpu=1\ndaemon agent\n  device-template gpu\n", ""},
		{"what the template names stays", "pool p\npod web\n  request cpu=1\n  device-template gpu\n", "gpu.example.com,own.example.com"},
	} {
		f, err := scenario.Parse(driversScene + "\ncase " + c.title + "\n" + c.objects)
		require.NoError(t, err, c.title)
		in, opts := scenarioInput(f.Cases[0].World)
		if strings.Contains(c.want, "own") {
			in.NodePools[0].Spec.Template.Annotations = map[string]string{v1.DRADriversAnnotationKey: " own.example.com, "}
		}
		plan := solved(t, in, opts)
		require.Len(t, plan.Create, 1, c.title)
		claim := plan.Create[0].NodeClaim()
		require.Equal(t, c.want, claim.Annotations[v1.DRADriversAnnotationKey], c.title)
		require.Equal(t, c.want, plan.Create[0].Request("token").Annotations[v1.DRADriversAnnotationKey], c.title)
		requireWaits(t, claim, c.title)
	}
}

// requireWaits checks that a node is initialized once the drivers that it names have
// published their devices.
func requireWaits(t *testing.T, claim *v1.NodeClaim, where string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = claim.Spec.Resources.Requests
	var published []*resourcev1.ResourceSlice
	for _, driver := range strings.Split(claim.Annotations[v1.DRADriversAnnotationKey], ",") {
		if driver == "" {
			continue
		}
		require.Equal(t, "DRADriverPoolsNotPublished", nodeclaim.Initialize(claim, node, published).Reason, where)
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1}}
		published = append(published, s)
	}
	require.Equal(t, metav1.ConditionTrue, nodeclaim.Initialize(claim, node, published).Status, where)
}

// TestClaimNamesDriversOfItsOptions: a NodeClaim that states a part of the options names the
// drivers of that part, and the request for all of them those that all have.
func TestClaimNamesDriversOfItsOptions(t *testing.T) {
	f, err := scenario.Parse(driversScene + `
case any device, of types in different zones
type far cpu=8, memory=16Gi
  device far.example.com x1
  offer a on-demand 0.85 capacity(cpu=500m)
  offer b on-demand 0.85
pool p
  types gpu, far
pod web
  request cpu=1
  device-template any
`)
	require.NoError(t, err)
	in, opts := scenarioInput(f.Cases[0].World)
	n := solved(t, in, opts).Create[0]
	require.Len(t, n.Options, 2)
	require.NotContains(t, n.Request("token").Annotations, v1.DRADriversAnnotationKey)
	require.Equal(t, "gpu.example.com,log.example.com,net.example.com", n.NodeClaim().Annotations[v1.DRADriversAnnotationKey])
}
