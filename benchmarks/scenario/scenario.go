package scenario

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Scenario is a problem: a cluster, the instance types on sale, and pending pods.
type Scenario struct {
	// Name identifies the scenario, such as "diverse-5000-fake400-seed1".
	Name string `json:"name"`
	// Now is the instant of the snapshot.
	Now time.Time `json:"now"`

	// NodePools are the pools that may launch nodes.
	NodePools []*v1.NodePool `json:"nodePools"`
	// InstanceTypes is the catalog.
	InstanceTypes []InstanceType `json:"instanceTypes"`
	// InstanceTypesByPool names the types that each pool may use, by pool. Nil lets every pool use
	// all types. Otherwise a pool without an entry may use none.
	InstanceTypesByPool map[string][]string `json:"instanceTypesByPool,omitempty"`

	// Pods are the pending pods. Name and UID of each are unique in the scenario.
	Pods []*corev1.Pod `json:"pods"`
	// DaemonSetPods has one pod for each DaemonSet, as the DaemonSet would create it.
	DaemonSetPods []*corev1.Pod `json:"daemonSetPods,omitempty"`
	// Nodes are the nodes that exist or are being launched.
	Nodes []Node `json:"nodes,omitempty"`

	// Namespaces are the namespaces whose labels matter.
	Namespaces []*corev1.Namespace `json:"namespaces,omitempty"`
	// PersistentVolumeClaims, PersistentVolumes, StorageClasses and CSINodes
	// are what the volumes of pods refer to.
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	// PodDisruptionBudgets limit evictions when nodes are removed.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`

	// Options are the settings of the cluster that change what a good plan is.
	Options Options `json:"options"`
}

// Node is a node, the claim it came from, and the pods bound to it.
type Node struct {
	Node *corev1.Node `json:"node"`
	// NodeClaim is nil for a node that no autoscaler launched.
	NodeClaim *v1.NodeClaim `json:"nodeClaim"`
	Pods      []*corev1.Pod `json:"pods,omitempty"`
}

// Name returns the name of the Node, or of the NodeClaim while there is no Node.
func (n Node) Name() string {
	switch {
	case n.Node != nil:
		return n.Node.Name
	case n.NodeClaim != nil:
		return n.NodeClaim.Name
	}
	return ""
}

// InstanceType is a type of machine with its offerings.
type InstanceType struct {
	// Name is unique in the scenario.
	Name string `json:"name"`
	// Requirements are the labels that nodes of the type can have.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
	// Capacity is that of the whole machine. Overhead is the sum of all reservations for the
	// system.
	Capacity corev1.ResourceList `json:"capacity"`
	Overhead corev1.ResourceList `json:"overhead,omitempty"`
	// Offerings are the ways to buy it.
	Offerings []Offering `json:"offerings"`
}

// Offering is one way to buy an instance type.
type Offering struct {
	Zone string `json:"zone"`
	// CapacityType is on-demand, spot or reserved.
	CapacityType string `json:"capacityType"`
	// Price is in USD per hour.
	Price float64 `json:"price"`
	// Available reports whether the offering can be bought now.
	Available bool `json:"available"`
	// ReservationID names the reservation of a reserved offering, and ReservationCapacity is the
	// number of instances left in it.
	ReservationID       string `json:"reservationID,omitempty"`
	ReservationCapacity int    `json:"reservationCapacity,omitempty"`
}

// Options are settings of a whole cluster. The zero value has Karpenter's defaults.
type Options struct {
	// PreferencePolicy is Respect, the default, or Ignore.
	PreferencePolicy string `json:"preferencePolicy,omitempty"`
	// MinValuesPolicy is Strict, the default, or BestEffort.
	MinValuesPolicy string `json:"minValuesPolicy,omitempty"`
}

// PodKey returns the name of a pod in a Plan: namespace/name.
func PodKey(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// PodKeys returns the keys of pods, in the same order.
func PodKeys(pods []*corev1.Pod) []string {
	out := make([]string, 0, len(pods))
	for _, p := range pods {
		out = append(out, PodKey(p))
	}
	return out
}
