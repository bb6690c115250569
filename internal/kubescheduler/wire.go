package kubescheduler

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// State is a moment of a cluster, as benchmarks/kubescheduler reads it.
type State struct {
	Nodes      []Node              `json:"nodes"`
	Namespaces []*corev1.Namespace `json:"namespaces,omitempty"`

	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers             []*storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity `json:"csiStorageCapacities,omitempty"`
	VolumeAttachments      []*storagev1.VolumeAttachment   `json:"volumeAttachments,omitempty"`

	ResourceClaims []*resourcev1.ResourceClaim `json:"resourceClaims,omitempty"`
	ResourceSlices []*resourcev1.ResourceSlice `json:"resourceSlices,omitempty"`
	DeviceClasses  []*resourcev1.DeviceClass   `json:"deviceClasses,omitempty"`

	ReplicaSets  []*appsv1.ReplicaSet  `json:"replicaSets,omitempty"`
	StatefulSets []*appsv1.StatefulSet `json:"statefulSets,omitempty"`
	Services     []*corev1.Service     `json:"services,omitempty"`
}

// Node is a node with the pods that are bound to it.
type Node struct {
	Node *corev1.Node  `json:"node"`
	Pods []*corev1.Pod `json:"pods,omitempty"`
}

// Question is one request to the program. It answers the parts in the order of the fields.
type Question struct {
	// State replaces the state of the question before. Nil keeps that state, with the nodes
	// that joined and the pods that were bound.
	State *State `json:"state,omitempty"`
	// Join are nodes that become ready now, after those of the state.
	Join []Node `json:"join,omitempty"`
	// Pods are the pods that the other fields refer to by index. They are not part of the state.
	Pods []*corev1.Pod `json:"pods"`
	// Ask has pairs of an index of Pods and an index of a node. Each pair is judged alone.
	Ask [][2]int `json:"ask,omitempty"`
	// Bind has pairs as Ask has. Each pod that fits is bound before the next pair is judged.
	Bind [][2]int `json:"bind,omitempty"`
	// Schedule has pods to bind one after the other, each to the node of the highest score.
	Schedule []Choice `json:"schedule,omitempty"`
}

// Choice is a pod for which kube-scheduler chooses a node.
type Choice struct {
	Pod int `json:"pod"`
	// Closed lists the nodes that are not offered to the pod.
	Closed []int `json:"closed,omitempty"`
	// Draw decides between nodes of equal score: with n of them, the one at Draw modulo n.
	Draw uint64 `json:"draw"`
}

// Answer has a verdict for each pair of a question.
type Answer struct {
	Ask  []Verdict `json:"ask"`
	Bind []Verdict `json:"bind"`
	// Schedule has the node of each pod of Question.Schedule; -1 if it fits on none.
	Schedule []int `json:"schedule"`
	// Error says why the question could not be judged.
	Error string `json:"error"`
}

// Verdict says which plugin refuses a pod on a node, and why. The zero value is no refusal: the
// pod fits.
type Verdict struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}
