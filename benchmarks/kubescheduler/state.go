package main

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// State is a moment of a cluster: everything that the default plugins of kube-scheduler look up.
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

	ResourceClaims         []*resourcev1.ResourceClaim         `json:"resourceClaims,omitempty"`
	ResourceClaimTemplates []*resourcev1.ResourceClaimTemplate `json:"resourceClaimTemplates,omitempty"`
	ResourceSlices         []*resourcev1.ResourceSlice         `json:"resourceSlices,omitempty"`
	DeviceClasses          []*resourcev1.DeviceClass           `json:"deviceClasses,omitempty"`
}

// Node is a node with the pods that are bound to it.
type Node struct {
	Node *corev1.Node  `json:"node"`
	Pods []*corev1.Pod `json:"pods,omitempty"`
}

// Question is one line of the input.
type Question struct {
	// State replaces the state of the question before. Nil keeps that state, with the pods
	// that it bound.
	State *State `json:"state,omitempty"`
	// Pods are the pods that Ask and Bind refer to by index. They are not part of the state.
	Pods []*corev1.Pod `json:"pods"`
	// Ask has pairs of an index of Pods and an index of State.Nodes. Each pair is judged
	// alone, in the state as it is.
	Ask [][2]int `json:"ask,omitempty"`
	// Bind has pairs as Ask has. They are judged in order, after all of Ask, and each pod that
	// fits is bound before the next pair is judged.
	Bind [][2]int `json:"bind,omitempty"`
}

// Answer is the line of output for one Question.
type Answer struct {
	// Ask and Bind have a verdict for each pair of the question.
	Ask  []Verdict `json:"ask,omitempty"`
	Bind []Verdict `json:"bind,omitempty"`
	// Error says why the question could not be judged.
	Error string `json:"error,omitempty"`
}

// Verdict says which plugin refuses a pod on a node, and why. The zero value is no refusal: the
// pod fits.
type Verdict struct {
	Plugin string `json:"plugin,omitempty"`
	Reason string `json:"reason,omitempty"`
}
