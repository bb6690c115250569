package provisioning

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Input is the snapshot a plan is made from. It is read-only: neither Prepare
// nor Solve writes to anything it points at, and the Plan points back into it,
// so the caller must not change it while either is in use.
//
// The order of the slices carries no meaning: shuffled input gives the same
// plan.
type Input struct {
	// NodePools are the pools that may launch nodes. A pool that is being
	// deleted, is static (spec.replicas is set) or has a Ready condition that
	// is not True launches none; its nodes still take pods.
	NodePools []*v1.NodePool

	// InstanceTypes holds each pool's catalog under the pool's name. A pool
	// without an entry launches nothing, and the pods it might have served say
	// so.
	InstanceTypes map[string][]*cloudprovider.InstanceType

	// Nodes are the nodes that exist or are on their way, whoever owns them. Join
	// makes them out of lists of objects.
	Nodes []Node

	// Pods are the pods to find room for. All are placed or listed as
	// Unplaced; which pods of a cluster are pending is for the caller to say.
	Pods []*corev1.Pod

	// Nominated are places to try first, by pod: the name of a node of Nodes for pods of
	// Pods, as kube-scheduler nominates nodes. A pod has that place in the plan if it
	// holds there by all that a node is judged by, before all other pods, whatever their
	// priority, and whether or not another place suits it better. Pods with the most
	// topology spreads of their own are tried first, then by namespace and name, and
	// those that do not fit yet again after the others; where some do not fit at all, other
	// orders are tried, and of those that place most pods the first is taken. A place that
	// does not hold, and a node that is not there or takes no pods, is not used, and the
	// pod is placed as any other. A pod that is not among Pods, as it is bound by now, is a
	// fault. Plan.LowerBound is 0 where a pod has such a place. The map is only read;
	// without any entry nothing is tried.
	Nominated map[types.NamespacedName]string

	// DaemonSetPods holds one representative pod for each DaemonSet. Its
	// requests are set aside on every node it would run on. Topology spreads, affinity and
	// anti-affinity count it by its labels on each new node, and on a node that exists and has no
	// such pod: for certain while that node is starting, and afterwards only where one pod more
	// would break a constraint. Required anti-affinity of its own keeps pods away. Where it is made
	// from the DaemonSet's template, see Admitted.
	DaemonSetPods []*corev1.Pod

	// Namespaces are read for their labels, where a pod affinity term has a
	// namespaceSelector. A namespace that is not listed has only the label
	// kubernetes.io/metadata.name, as every namespace has.
	Namespaces []*corev1.Namespace

	// Volumes are the storage objects that the volumes of pods refer to.
	Volumes Volumes

	// Devices are the objects of dynamic resource allocation that the resource
	// claims of pods refer to.
	Devices Devices

	// Overlays change prices and capacities of the catalogs before anything
	// else looks at them. See overlay.Apply. They also express a
	// preference for types that costs money: one that makes older generations
	// dearer moves pods to newer ones where the difference is less. What such
	// preferences cost is in benchmarks/README.md.
	Overlays []*v1.NodeOverlay

	// Buffers are spare room to keep, in pods that do not exist. They are
	// placed last, where all real pods have been. Their hard topology spreads hold, except those
	// over kubernetes.io/hostname: a node may have room for several pods of a buffer.
	Buffers []Buffer

	// Services are read, as Controllers are, only where Options.DefaultSpread
	// is set: what a constraint counts that names no selector is deduced from
	// the Services that select the pod and from the controller that owns it.
	Services []*corev1.Service

	// Controllers are the owners of pods; see Services.
	Controllers []Controller

	// Vocabulary names the well-known labels and aliases in force; nil means
	// requirements.DefaultVocabulary.
	Vocabulary *requirements.Vocabulary
}

// Node is capacity that exists or is on its way: a Node, the NodeClaim it came
// from, or both. A Node without a NodeClaim is plain capacity that somebody
// else manages. At least one of the two is set.
type Node struct {
	Node      *corev1.Node
	NodeClaim *v1.NodeClaim

	// Pods are the pods bound here, DaemonSet pods included. Pods that have
	// succeeded or failed take no room. Where there is a Node, spec.nodeName of the others is
	// its name, or empty for pods that are only expected here. Join lists pods so.
	Pods []*corev1.Pod
}

// Name is the Node's name, or the NodeClaim's while there is no Node.
func (n Node) Name() string { return model.Node(n).Name() }

// Leaving returns the node as it is while it is being deleted: Node and NodeClaim are
// copies with a deletionTimestamp, the beginning of time. n is unchanged.
func (n Node) Leaving() Node {
	when := metav1.Unix(1, 0) // whenever: only that it is set matters
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

// Volumes are storage objects. The zero value has none; a pod whose claim is
// missing stays pending and says so.
type Volumes struct {
	Claims  []*corev1.PersistentVolumeClaim
	Volumes []*corev1.PersistentVolume
	Classes []*storagev1.StorageClass

	// CSINodes say how many volumes each node that exists can attach. For a
	// driver that a node does not publish, the limit of its instance type
	// counts, if that is known.
	CSINodes []*storagev1.CSINode

	// CSIDrivers say how drivers want pods to be placed. With spec.storageCapacity a new volume is
	// made only where one of CSIStorageCapacities has room for it. With
	// spec.preventPodSchedulingIfMissing, which counts from Kubernetes 1.37, a pod stays off a
	// node whose CSINode does not have the driver; a node to come and one that is starting are
	// taken to get the driver. A driver that is not listed wants neither.
	CSIDrivers []*storagev1.CSIDriver

	// CSIStorageCapacities say how large a new volume of a class can be on nodes with some
	// labels: maximumVolumeSize, or else capacity. They hold for nodes to come too, as far as the
	// labels of these are known. Several new volumes are not added up, as kube-scheduler does not.
	CSIStorageCapacities []*storagev1.CSIStorageCapacity

	// VolumeAttachments name volumes that are attached to nodes. Those that no pod on the node uses
	// count against the limits of CSINodes as well.
	VolumeAttachments []*storagev1.VolumeAttachment
}

// Devices are the objects of dynamic resource allocation (DRA). The zero value
// has none; a pod with resource claims stays pending then and says so.
type Devices struct {
	Claims    []*resourcev1.ResourceClaim
	Templates []*resourcev1.ResourceClaimTemplate
	Classes   []*resourcev1.DeviceClass

	// Slices say which devices the nodes that exist have. Those of nodes to
	// come are InstanceType.Devices.
	Slices []*resourcev1.ResourceSlice

	// Matcher evaluates the selectors of claims and classes, which are
	// expressions of the language CEL. Without it only requests with no
	// selector can be counted.
	Matcher cloudprovider.DeviceMatcher
}

// Controller is what owns pods: a ReplicaSet, a StatefulSet or a
// ReplicationController.
type Controller struct {
	UID      types.UID             // by which pods name their owner
	Selector *metav1.LabelSelector // of its pods; nil selects none
}
