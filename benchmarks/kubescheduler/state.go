package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// State is a snapshot of a cluster: everything that the default plugins of kube-scheduler look up.
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

	// The owners of pods, and Services, determine the pods over which a pod without a topology
	// spread is spread by default. Only Question.Schedule depends on them.
	ReplicaSets  []*appsv1.ReplicaSet  `json:"replicaSets,omitempty"`
	StatefulSets []*appsv1.StatefulSet `json:"statefulSets,omitempty"`
	Services     []*corev1.Service     `json:"services,omitempty"`
}

// Node is a node with the pods that are bound to it.
type Node struct {
	Node *corev1.Node  `json:"node"`
	Pods []*corev1.Pod `json:"pods,omitempty"`
}

// Question is one line of the input. Its parts are answered in the order of the fields.
type Question struct {
	// State replaces the state of the question before. Nil keeps that state, including the nodes
	// that joined and the pods that were bound.
	State *State `json:"state,omitempty"`
	// Join lists nodes that become ready now. Their indexes follow those of the nodes of the state.
	Join []Node `json:"join,omitempty"`
	// Pods are the pods that the other fields refer to by index. They are not part of the state.
	Pods []*corev1.Pod `json:"pods"`
	// Ask has pairs of an index of Pods and an index of a node. Each pair is judged on its own,
	// without binding the pod.
	Ask [][2]int `json:"ask,omitempty"`
	// Bind has pairs like Ask. They are judged in order, and each pod that fits is bound before the
	// next pair is judged.
	Bind [][2]int `json:"bind,omitempty"`
	// Schedule has pods to bind one after the other. Each pod is bound to the node that
	// kube-scheduler would choose: the node with the highest score among the nodes on which the pod fits.
	Schedule []Choice `json:"schedule,omitempty"`
}

// Choice is a pod to schedule.
type Choice struct {
	Pod int `json:"pod"` // index of Question.Pods
	// Closed are the indexes of nodes that are excluded for the pod.
	Closed []int `json:"closed,omitempty"`
	// Draw decides between nodes of equal score: with n of them, the one at Draw modulo n.
	Draw uint64 `json:"draw"`
}

// Answer is the line of output for one Question.
type Answer struct {
	// Ask and Bind have a verdict for each pair of the question.
	Ask  []Verdict `json:"ask,omitempty"`
	Bind []Verdict `json:"bind,omitempty"`
	// Schedule has the index of the node of each pod of Question.Schedule, -1 if it fits on none.
	Schedule []int `json:"schedule,omitempty"`
	// Error says why the question could not be judged.
	Error string `json:"error,omitempty"`
}

// Verdict says which plugin refuses a pod on a node, and why. The zero value is no refusal: the
// pod fits.
type Verdict struct {
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
}
