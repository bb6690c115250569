package provisioning

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Input is the snapshot from which a plan is made. It is read-only: Prepare and Solve write to
// nothing that it points at. The Plan points into it, so the caller must not change it while either
// is in use.
//
// The slices may be in any order: shuffled input gives the same plan.
type Input struct {
	// NodePools are the pools that may launch nodes. A pool launches none if it is being deleted,
	// is static (spec.replicas is set) or has a Ready condition that is not True; its nodes still
	// take pods.
	//
	// Of a pool, Prepare refuses what NodePool.Validate does in the labels, taints and requirements of its
	// nodes, in a nodeClassRef that is set, and in its limits, and a negative weight. What is required
	// of a stored object only may be left out, such as the nodeClassRef for a provider that has no
	// node classes. Call Validate for all rules of an API server, also those for disruption.
	NodePools []*v1.NodePool

	// InstanceTypes is, by name of the pool, its instance types. A pool without an entry launches
	// nothing, and reasons of unplaced pods say so.
	InstanceTypes map[string][]*cloudprovider.InstanceType

	// Nodes are the nodes that exist or are on their way, with any owner. Match makes them from
	// lists of objects.
	Nodes []Node

	// Pods are the pods to place. Every one of them is placed or listed as Unplaced. The caller
	// decides which pods of a cluster are pending.
	//
	// A pod that is also listed under one of Nodes is placed once more: the caller moves it.
	Pods []*corev1.Pod

	// Nominated is, by pod of Pods, the name of a node of Nodes to try first, as kube-scheduler
	// nominates nodes. The pod gets that place if all constraints allow it before all other pods,
	// whatever their priority, and even if another place suits it better. Pods with most topology
	// spreads of their own are tried first, then by namespace and name; pods refused are tried
	// again after the others. If some are still refused, other orders are tried, and the first of
	// those that place most pods is used. A pod whose place is not valid, or whose node does not
	// exist or takes no pods, is placed as any other. An entry for a pod that is not among Pods,
	// because it is bound by now, is a fault. If any pod gets its nominated place, Plan.LowerBound
	// is 0. The map is only read; an empty map changes nothing.
	Nominated map[types.NamespacedName]string

	// DaemonSetPods has one representative pod for each DaemonSet. Its requests are reserved on
	// every node on which it would run. Topology spread, affinity and anti-affinity count the pod,
	// by its labels, on each new node and on existing nodes that lack such a pod: certainly while
	// the existing node is starting, and afterwards only where one more pod would break a
	// constraint. Its own required anti-affinity excludes pods. If you make it from the DaemonSet's
	// template, see Admitted.
	DaemonSetPods []*corev1.Pod

	// Namespaces are read for their labels, where a pod affinity term has a namespaceSelector. A
	// namespace that is not listed has only the label kubernetes.io/metadata.name, which every
	// namespace has.
	Namespaces []*corev1.Namespace

	// Volumes are the storage objects that the volumes of pods refer to.
	Volumes Volumes

	// Devices are the objects of dynamic resource allocation that the resource
	// claims of pods refer to.
	Devices Devices

	// Overlays change prices and capacities of the instance types before they are used. See
	// overlay.Apply. They can also express a preference for instance types at a cost: an overlay
	// that raises the price of older generations moves pods to newer ones where these cost less
	// than that more. benchmarks/README.md says what such preferences cost.
	Overlays []*v1.NodeOverlay

	// Buffers are headroom to keep, as pods that do not exist. They are placed after all real pods.
	// Their required topology spreads are kept, except those over kubernetes.io/hostname: one node
	// may have room for several pods of a buffer.
	Buffers []Buffer

	// Services and Controllers are read only if Options.DefaultSpread is set: a constraint without
	// a selector counts the pods selected by the Services that select the pod and by the controller
	// that owns it.
	Services []*corev1.Service

	// Controllers are the owners of pods; see Services.
	Controllers []Controller

	// Vocabulary has the well-known labels and aliases; nil means requirements.DefaultVocabulary.
	Vocabulary *requirements.Vocabulary
}

// Node is capacity that exists or is on its way: a Node, the NodeClaim that it was launched for, or
// both. A Node without a NodeClaim is capacity that another program manages. At least one of the
// two is set.
//
// A NodeClaim is listed once, with its own Node: the one that has its status.providerID or, if one of
// the two has none, its status.nodeName. No two nodes with a NodeClaim have one provider ID.
type Node struct {
	Node      *corev1.Node
	NodeClaim *v1.NodeClaim

	// Pods are the pods bound to the node, DaemonSet pods included. Pods that have succeeded or
	// failed take no room. If there is a Node, the spec.nodeName of every other pod must be its
	// name, or empty for a pod that is only expected. Match lists pods this way.
	Pods []*corev1.Pod

	// Ending are further pods bound to the node, which will be gone before a new node could be
	// ready: their room counts as free, and no constraint counts them. The Binding of pods to the
	// node names them. None by default; EndingBy selects them among Pods.
	Ending []*corev1.Pod
}

// Name returns the name of the Node, or of the NodeClaim if there is no Node.
func (n Node) Name() string { return model.Node(n).Name() }

// lateBy is how long a pod may outlast its grace period and is still expected to end. A pod that is
// there for longer may be on a node that is lost.
const lateBy = 10 * time.Second

// EndingBy returns the node with those of Pods in Ending that will be gone at the given time: pods
// whose deletionTimestamp, which is the end of their grace period, is not later, and not more than
// 10 seconds before now. Pods keep their order. Use the time at which a node launched now would be
// ready, so that pods wait for this room instead of a new node; fleet.Fleet.Prepare does.
//
// These pods stay in Pods although they end, because another pod will need their room: pods of
// DaemonSets, static pods, pods that a StatefulSet creates again, and pods that kube-scheduler has
// preempted. n is unchanged; the result shares its lists if none is ending.
func (n Node) EndingBy(now, at time.Time) Node {
	ends := func(p *corev1.Pod) bool {
		return p != nil && p.DeletionTimestamp != nil && !p.DeletionTimestamp.After(at) && p.DeletionTimestamp.Add(lateBy).After(now) &&
			!podlife.StaysBehind(p) && !podlife.ComesBack(p) && !preempted(p)
	}
	if !slices.ContainsFunc(n.Pods, ends) {
		return n
	}
	pods := n.Pods
	n.Pods, n.Ending = nil, slices.Clone(n.Ending)
	for _, p := range pods {
		if ends(p) {
			n.Ending = append(n.Ending, p)
		} else {
			n.Pods = append(n.Pods, p)
		}
	}
	return n
}

// Leaving returns the node as if it were being deleted: Node and NodeClaim are copies with a
// deletionTimestamp long ago. n is unchanged.
func (n Node) Leaving() Node {
	when := metav1.Unix(1, 0) // any time: only that it is set matters
	if n.Node != nil {
		node := *n.Node
		node.DeletionTimestamp = &when
		n.Node = &node
	}
	if n.NodeClaim != nil {
		claim := *n.NodeClaim
		claim.DeletionTimestamp = &when
		n.NodeClaim = &claim
	}
	return n
}

// Volumes are storage objects. The zero value has none. A pod whose claim is missing stays pending
// with a reason.
type Volumes struct {
	Claims  []*corev1.PersistentVolumeClaim
	Volumes []*corev1.PersistentVolume
	Classes []*storagev1.StorageClass

	// CSINodes give the volume limit of each existing node, by driver. For a driver that a node
	// does not publish, the limit of its instance type counts, if that is known.
	CSINodes []*storagev1.CSINode

	// CSIDrivers say how drivers require pods to be placed. With spec.storageCapacity a new volume
	// is made only where one of CSIStorageCapacities has room for it. With
	// spec.preventPodSchedulingIfMissing, which counts from Kubernetes 1.37, a pod is excluded from
	// a node whose CSINode lacks the driver; new nodes and starting nodes are assumed to get the
	// driver. A driver that is not listed requires neither.
	CSIDrivers []*storagev1.CSIDriver

	// CSIStorageCapacities give the size of the largest new volume of a class on nodes with some
	// labels: maximumVolumeSize, or else capacity. They apply to new nodes too, as far as the
	// labels of these are known. As in kube-scheduler, the sizes of several new volumes are not
	// added up.
	CSIStorageCapacities []*storagev1.CSIStorageCapacity

	// VolumeAttachments name volumes attached to nodes. Volumes that no pod on the node uses count
	// against the limits of CSINodes too.
	VolumeAttachments []*storagev1.VolumeAttachment
}

// Devices are the objects of dynamic resource allocation (DRA). The zero value has none; then a pod
// with resource claims stays pending with a reason.
type Devices struct {
	Claims    []*resourcev1.ResourceClaim
	Templates []*resourcev1.ResourceClaimTemplate
	Classes   []*resourcev1.DeviceClass

	// Slices say which devices existing nodes have. Those of new nodes are InstanceType.Devices.
	Slices []*resourcev1.ResourceSlice

	// Matcher evaluates the CEL selectors of claims and classes. If it is nil, only requests
	// without selectors can be counted.
	Matcher cloudprovider.DeviceMatcher
}

// Controller is an owner of pods: a ReplicaSet, a StatefulSet or a ReplicationController.
type Controller struct {
	UID      types.UID             // as in ownerReferences of its pods
	Selector *metav1.LabelSelector // of its pods; nil selects none
}
