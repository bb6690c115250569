package kubescheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// CarryOut returns the question whether kube-scheduler can bind the pods of a plan in the order of
// the plan. All nodes are ready: existing ones as Started returns them, and each new one, including
// missing nodes of static pools, as one of its options, with its DaemonSet pods. choose returns the
// index of the option, given the number of options.
func CarryOut(in provisioning.Input, plan *provisioning.Plan, choose func(options int) int) (*Question, error) {
	q := &Question{State: StateOf(in), Pods: Pods(plan.Order)}
	q.State.addNamespaces(plan.Order)
	index, home := map[string]int{}, map[*corev1.Pod]int{}
	for i, n := range q.State.Nodes {
		index[n.Node.Name] = i
	}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			home[pod] = index[b.Node]
		}
	}
	q.State.ResourceSlices, q.State.CSINodes = slices.Clone(q.State.ResourceSlices), slices.Clone(q.State.CSINodes)
	for i, n := range comingNodes(plan) {
		option := n.Options[choose(len(n.Options))]
		node, err := NewNode(n, option, fmt.Sprintf("new-%d", i), in.Vocabulary)
		if err != nil {
			return nil, err
		}
		for _, pod := range n.Pods {
			home[pod] = len(q.State.Nodes)
		}
		q.State.Nodes = append(q.State.Nodes, Node{node, DaemonPods(in, node)})
		if len(in.Volumes.CSIDrivers) > 0 {
			q.State.CSINodes = append(q.State.CSINodes, csiNode(node.Name, in.Volumes.CSIDrivers))
		}
		q.State.ResourceSlices = append(q.State.ResourceSlices, Slices(node.Name, option.InstanceType.Devices)...)
	}
	for i, pod := range plan.Order {
		q.Bind = append(q.Bind, [2]int{i, home[pod]})
	}
	return q, nil
}

// comingNodes returns the new nodes of a plan, followed by the missing nodes of static pools that
// have pods.
func comingNodes(plan *provisioning.Plan) (nodes []*provisioning.NewNode) {
	for i := range plan.Create {
		nodes = append(nodes, &plan.Create[i])
	}
	for i := range plan.Static {
		s := &plan.Static[i]
		for k, pods := range s.Pods {
			nodes = append(nodes, &provisioning.NewNode{Name: fmt.Sprintf("%s-%d", s.Pool.Name, k), Pool: s.Pool,
				Requirements: s.Requirements, Labels: s.Labels, Options: s.Options, Pods: pods})
		}
	}
	return nodes
}

// csiNode says that a new node has all drivers, as their DaemonSets come up with it.
func csiNode(node string, drivers []*storagev1.CSIDriver) *storagev1.CSINode {
	out := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for _, d := range drivers {
		out.Spec.Drivers = append(out.Spec.Drivers, storagev1.CSINodeDriver{Name: d.Name, NodeID: node})
	}
	return out
}

// NewNode returns the initialized Node of a planned node launched as an option. A label that both
// plan and option leave open has a value that the plan admits. A label with aliases is present
// under each of its names.
func NewNode(n *provisioning.NewNode, option cloudprovider.LaunchOption, name string, vocabulary *requirements.Vocabulary) (*corev1.Node, error) {
	allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return nil, fmt.Errorf("node %s as %s: %w", n.Name, option, err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: option.NodeLabels()}}
	maps.Copy(node.Labels, n.Labels)
	for want := range option.Requirements().Intersect(n.Requirements).All() {
		if _, set := node.Labels[want.Key()]; set || want.AllowsAbsent() {
			continue
		}
		if value, ok := want.Any(); ok {
			node.Labels[want.Key()] = value
		}
	}
	addAliases(node.Labels, vocabulary)
	node.Labels[corev1.LabelHostname] = name
	node.Labels[v1.NodeRegisteredLabelKey], node.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	node.Spec.Taints = n.NodeClaim().Spec.Taints
	node.Status.Capacity, node.Status.Allocatable = option.InstanceType.Capacity.ResourceList(), allocatable.ResourceList()
	return node, nil
}

func addAliases(labels map[string]string, vocabulary *requirements.Vocabulary) {
	for alias, key := range vocabulary.Aliases() {
		if value, set := labels[key]; set {
			labels[alias] = value
		}
	}
}

// ClaimsOf returns the claims of a pod's volumes that the input has.
func ClaimsOf(in provisioning.Input, pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(slices.Clone(in.Volumes.Claims), func(c *corev1.PersistentVolumeClaim) bool {
		return c.Namespace != pod.Namespace || !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == c.Name
		})
	})
}

// WithoutSharedClaims leaves out pending pods whose claim has no volume yet and is also used by
// another pending pod. The plugins alone bind no volume, and would refuse the second of these pods.
func WithoutSharedClaims(in provisioning.Input) provisioning.Input {
	taken := map[*corev1.PersistentVolumeClaim]bool{}
	in.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(pod *corev1.Pod) bool {
		shares := false
		for _, claim := range ClaimsOf(in, pod) {
			shares = shares || claim.Spec.VolumeName == "" && taken[claim]
			taken[claim] = true
		}
		return shares
	})
	return in
}

// Started returns the input with a Node in place of each NodeClaim that has none yet. Nodes that
// are starting are ready: their startup taints are gone, and missing labels and allocatable
// resources are those of their NodeClaims. Nodes that are being deleted are cordoned. in is not
// changed.
func Started(in provisioning.Input) provisioning.Input {
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		in.Nodes[i].Node = started(in.Nodes[i], in.Vocabulary)
	}
	return in
}

// passing are the keys of taints that a node has only while it starts or reboots.
var passing = []string{
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", v1.UnregisteredTaintKey, v1.RebootingTaintKey,
}

func reboots(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.RebootingTaintKey })
}

func started(n provisioning.Node, vocabulary *requirements.Vocabulary) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name()}}
	if n.Node != nil {
		node = n.Node.DeepCopy()
	}
	leaving := node.DeletionTimestamp != nil
	if claim := n.NodeClaim; claim != nil {
		leaving = leaving || claim.DeletionTimestamp != nil
		starts := node.Labels[v1.NodeInitializedLabelKey] != "true"
		if starts {
			start(node, claim)
			addAliases(node.Labels, vocabulary)
		}
		if starts || reboots(node) {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
				return slices.Contains(passing, t.Key) || slices.ContainsFunc(claim.Spec.StartupTaints, func(s corev1.Taint) bool { return s.MatchTaint(&t) })
			})
		}
	}
	node.Spec.Unschedulable = node.Spec.Unschedulable || leaving
	return node
}

// start completes a node that is starting by its NodeClaim.
func start(node *corev1.Node, claim *v1.NodeClaim) {
	labels := map[string]string{}
	for _, r := range claim.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(labels, claim.Labels)
	maps.Copy(labels, node.Labels)
	node.Labels = labels
	if node.Labels[v1.NodeRegisteredLabelKey] != "true" {
		node.Spec.Taints = slices.Clone(claim.Spec.Taints)
	}
	allocatable := maps.Clone(claim.Status.Allocatable)
	if allocatable == nil {
		allocatable = corev1.ResourceList{}
	}
	maps.Copy(allocatable, node.Status.Allocatable)
	node.Status.Allocatable = allocatable
}

// QueueOrder compares pods as kube-scheduler's queue orders them: by priority, then by age. Of pods of
// the same second the name decides.
func QueueOrder(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(schedulinghelpers.PodPriority(b), schedulinghelpers.PodPriority(a)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// DaemonPods returns the pods that DaemonSets run on a new node.
func DaemonPods(in provisioning.Input, node *corev1.Node) (pods []*corev1.Pod) {
	for _, daemon := range in.DaemonSetPods {
		if RunsOn(daemon, node) {
			daemon = daemon.DeepCopy()
			daemon.Name += node.Name
			pods = append(pods, daemon)
		}
	}
	return pods
}

// RunsOn says whether a DaemonSet has a pod on a node.
func RunsOn(daemon *corev1.Pod, node *corev1.Node) bool {
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(daemon).Match(node); err != nil || !fits {
		return false
	}
	_, refused := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, daemon.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, true)
	return !refused
}

// Slices returns the ResourceSlices that a new node with some devices publishes.
func Slices(node string, devices []cloudprovider.InstanceDevice) (all []*resourcev1.ResourceSlice) {
	for i, d := range devices {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", node, i)}}
		s.Spec.Driver, s.Spec.NodeName = d.Driver, &node
		s.Spec.Pool = resourcev1.ResourcePool{Name: s.Name, Generation: 1, ResourceSliceCount: 1}
		for j := range d.Count {
			device := *d.Device.DeepCopy()
			device.Name = fmt.Sprintf("device-%d", j)
			s.Spec.Devices = append(s.Spec.Devices, device)
		}
		all = append(all, s)
	}
	return all
}
