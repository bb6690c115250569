package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// reading is a pod on a node that kube-schedulers judge by a row of the table of package minors.
type reading struct {
	change        minors.Change
	name          string
	before, after bool // whether the pod may go on the node
	plant         func(in *provisioning.Input, pod, bound *corev1.Pod, node *corev1.Node)
}

func readings() []reading {
	const zone = corev1.LabelTopologyZone
	other := func(in *provisioning.Input, bound *corev1.Pod) {
		bound.Namespace = "prod"
		scenes.Team("b", bound)
		in.Namespaces = []*corev1.Namespace{scenes.InSpace("prod")}
	}
	spread := func(selector *metav1.LabelSelector, keys ...string) func(*provisioning.Input, *corev1.Pod, *corev1.Pod, *corev1.Node) {
		return func(in *provisioning.Input, pod, bound *corev1.Pod, node *corev1.Node) {
			pod.Labels, bound.Labels = map[string]string{"release": "2"}, map[string]string{"release": "1"}
			scenes.Spread(pod, zone, 1, selector, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = keys })
			empty := scenes.Node("empty", map[string]string{zone: "other"})
			empty.Spec.Unschedulable = true
			in.Nodes = append(in.Nodes, provisioning.Node{Node: empty})
		}
	}
	// published plants a claim for a volume of a driver that publishes how much room it has.
	published := func(size string, capacities ...*storagev1.CSIStorageCapacity) func(*provisioning.Input, *corev1.Pod, *corev1.Pod, *corev1.Node) {
		return func(in *provisioning.Input, pod, _ *corev1.Pod, _ *corev1.Node) {
			plantClaim(in, pod, size)
			in.Volumes.CSIDrivers[0].Spec.StorageCapacity = new(true)
			in.Volumes.CSIStorageCapacities = capacities
		}
	}
	driver := func(plant func(in *provisioning.Input)) func(*provisioning.Input, *corev1.Pod, *corev1.Pod, *corev1.Node) {
		return func(in *provisioning.Input, pod, _ *corev1.Pod, _ *corev1.Node) {
			plantClaim(in, pod, "1Gi")
			in.Volumes.CSIDrivers[0].Spec.PreventPodSchedulingIfMissing = new(true)
			plant(in)
		}
	}
	csiNode := func(name string) *storagev1.CSINode {
		return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: name}}}}
	}
	return []reading{
		{minors.StorageCapacities, "room for the same bytes, rounded up", true, false, published("1500m", capacityOf("1200m", "a"))},
		{minors.StorageCapacities, "room enough", true, true, published("1200m", capacityOf("1500m", "a"))},
		{minors.StorageCapacities, "too little room", false, false, published("500Gi", capacityOf("100Gi", "a"))},
		{minors.StorageCapacities, "room elsewhere", false, false, published("1Gi", capacityOf("100Gi", "b"))},
		{minors.StorageCapacities, "room in one of two places", true, true, published("1Gi", capacityOf("100Gi", "b"), capacityOf("100Gi", "a"))},
		{minors.StorageCapacities, "no capacity is published", false, false, published("1Gi")},
		{minors.StorageCapacities, "the largest volume is smaller than what is left", false, false, func(in *provisioning.Input, pod, bound *corev1.Pod, node *corev1.Node) {
			left := capacityOf("100Gi", "a")
			left.MaximumVolumeSize = new(resource.MustParse("5Gi"))
			published("10Gi", left)(in, pod, bound, node)
		}},
		{minors.MissingDrivers, "a node without a CSINode", true, false, driver(func(*provisioning.Input) {})},
		{minors.MissingDrivers, "a CSINode without the driver", true, false, driver(func(in *provisioning.Input) {
			in.Volumes.CSINodes = []*storagev1.CSINode{csiNode("another.example.com")}
		})},
		{minors.MissingDrivers, "a CSINode with the driver", true, true, driver(func(in *provisioning.Input) {
			in.Volumes.CSINodes = []*storagev1.CSINode{csiNode("csi.example.com")}
		})},
		{minors.MissingDrivers, "a driver that does not mind", true, true, driver(func(in *provisioning.Input) {
			in.Volumes.CSIDrivers[0].Spec.PreventPodSchedulingIfMissing = new(false)
		})},
		{minors.NamespaceSelectors, "kept from a namespace that the selector does not match", false, true, func(in *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			other(in, bound)
			scenes.Avoid(pod, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
		}},
		{minors.NamespaceSelectors, "drawn to a namespace that the selector does not match", true, false, func(in *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			other(in, bound)
			scenes.Follow(pod, scenes.AffinityTerm(zone, "b", scenes.Outside("prod")))
		}},
		{minors.NamespaceSelectors, "kept from a namespace that the selector matches", false, false, func(in *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			other(in, bound)
			scenes.Avoid(pod, scenes.AffinityTerm(zone, "b", scenes.Outside("test")))
		}},
		{minors.EmptySelectors, "spread with a selector of everything", true, false, spread(&metav1.LabelSelector{})},
		{minors.EmptySelectors, "spread with a selector of nothing", true, true, spread(nil)},
		{minors.MatchLabelKeys, "spread with a selector of everything and a key", true, true, spread(&metav1.LabelSelector{}, "release")},
		{minors.DeclaredFeatures, "a feature that the node does not declare", true, false, func(_ *provisioning.Input, pod, _ *corev1.Pod, _ *corev1.Node) {
			pod.Spec.HostNetwork, pod.Spec.HostUsers = true, new(false)
		}},
		{minors.ContainerResizes, "an init container whose resize is infeasible", false, true, func(_ *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			bound.Spec.InitContainers = []corev1.Container{asking("setup", "3")}
			bound.Status.InitContainerStatuses = []corev1.ContainerStatus{holding("setup", "1")}
			bound.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
		}},
		{minors.ContainerResizes, "one container grows while another shrinks", false, true, func(_ *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			bound.Spec.Containers = []corev1.Container{asking("a", "1500m"), asking("b", "500m")}
			bound.Status.ContainerStatuses = []corev1.ContainerStatus{holding("a", "500m"), holding("b", "1500m")}
		}},
		{minors.PodResizes, "the pod as a whole shrinks", true, false, func(_ *provisioning.Input, pod, bound *corev1.Pod, _ *corev1.Node) {
			bound.Spec.Resources = &corev1.ResourceRequirements{Requests: cpu("1")}
			bound.Status.Resources = &corev1.ResourceRequirements{Requests: cpu("3")}
			bound.Status.AllocatedResources = cpu("1")
		}},
	}
}

// plantClaim gives a pod a claim whose volume is made where the pod goes.
func plantClaim(in *provisioning.Input, pod *corev1.Pod, size string) {
	waits := storagev1.VolumeBindingWaitForFirstConsumer
	in.Volumes.Classes = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "csi.example.com", VolumeBindingMode: &waits}}
	in.Volumes.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "csi.example.com"}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: "data"}}
	claim.Spec.StorageClassName = new("fast")
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	in.Volumes.Claims = []*corev1.PersistentVolumeClaim{claim}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
}

// capacityOf is what a driver has left in a zone.
func capacityOf(amount, zone string) *storagev1.CSIStorageCapacity {
	return &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: zone}, StorageClassName: "fast",
		NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}}, Capacity: new(resource.MustParse(amount))}
}

func cpu(amount string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
}

func asking(name, amount string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: cpu(amount)}}
}

func holding(name, amount string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, AllocatedResources: cpu(amount), Resources: &corev1.ResourceRequirements{Requests: cpu(amount)}}
}

// TestReadingsOfMinorVersions: engine and referee read each row of the table as the kube-schedulers
// on both of its sides, and without a version so that a place suits all of them.
func TestReadingsOfMinorVersions(t *testing.T) {
	t.Parallel()
	known := map[minors.Change]bool{}
	for _, tt := range readings() {
		known[tt.change] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, kubernetes := range append([]string{""}, minors.Range{}.Texts()...) {
				versions, err := minors.Parse(kubernetes)
				require.NoError(t, err)
				want := (tt.before || !versions.Before(tt.change)) && (tt.after || !versions.After(tt.change))
				in, pod := oneNode(tt.plant)
				opts := &provisioning.Options{Kubernetes: kubernetes}
				plan := solved(t, in, opts)
				require.Equal(t, want, len(plan.Unplaced) == 0, "the engine in %q: %v", kubernetes, plan.Unplaced)
				require.Equal(t, versions.Texts(), plan.Kubernetes)
				require.Empty(t, verify.Plan(in, plan, opts), kubernetes)
				require.Empty(t, verify.Unplaced(in, plan, opts), kubernetes)
				require.Equal(t, want, len(faultsOfBinding(in, pod, "node", opts)) == 0, "the referee in %q", kubernetes)
			}
		})
	}
	for _, c := range minors.Changes() {
		if c != minors.ExtendedResources {
			require.True(t, known[c], "nothing reads %q", c.Row().After)
		}
	}
}

// oneNode returns a node with a pod that takes a CPU of four, and a pod that asks for two.
func oneNode(plant func(in *provisioning.Input, pod, bound *corev1.Pod, node *corev1.Node)) (provisioning.Input, *corev1.Pod) {
	node := scenes.Node("node", map[string]string{corev1.LabelTopologyZone: "a"})
	node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("4")
	pod, bound := scenes.Pod("pod", "2", "1Gi"), scenes.Pod("bound", "1", "1Gi")
	bound.Spec.NodeName = node.Name
	in := provisioning.Input{Nodes: []provisioning.Node{{Node: node, Pods: []*corev1.Pod{bound}}}, Pods: []*corev1.Pod{pod}}
	plant(&in, pod, bound, node)
	return in, pod
}

// faultsOfBinding is what the referee finds wrong with a pod on a node.
func faultsOfBinding(in provisioning.Input, pod *corev1.Pod, node string, opts *provisioning.Options) (out []verify.Violation) {
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: node, Pods: []*corev1.Pod{pod}}}, Order: []*corev1.Pod{pod}}
	for _, v := range verify.Plan(in, plan, opts) {
		if v.Rule != verify.RuleAccounts {
			out = append(out, v)
		}
	}
	return out
}

func TestUnknownMinorVersions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.33", "1.39", "latest"} {
		_, err := provisioning.Prepare(provisioning.Input{}, &provisioning.Options{Kubernetes: text})
		require.ErrorContains(t, err, `Kubernetes: is "`+text+`"`)
		require.ErrorContains(t, err, "1.34, 1.35, 1.36, 1.37, 1.38")
	}
	require.NoError(t, (&provisioning.Options{Kubernetes: "v1.37.2-eks-1a2b3c4"}).Validate())
}
