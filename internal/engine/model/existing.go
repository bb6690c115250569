package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Existing is a node of the input.
type Existing struct {
	*Room
	Index    int32 // index in Rooms
	Marks    Mark
	Free     []int64    // allocatable minus bound pods and expected daemons, by resource
	Verdict  *Verdict   // what its labels and taints say about each class
	Admits   bitset.Set // classes that all filters admit, without the filters that count other pods; unset if all pods have places
	Alike    int        // equal for nodes with equal Admits
	At       []int      // by key of the domain table: the node's domain
	Attached []int32    // volumes of its pods, among the volumes that several pods use
}

// TerminatingNode is a node that is being deleted. Parts are the memberships of its pods, without
// pods that are to be placed.
type TerminatingNode struct {
	Existing
	Parts []pack.Membership
}

// LabelsAndTaints has the properties that decide which pods may run on a node.
type LabelsAndTaints struct {
	Name   string
	Labels map[string]string
	Taints []corev1.Taint
}

// Verdict says which classes nodes with the same labels and taints admit by these.
type Verdict struct {
	Number    int
	Selects   bitset.Set // classes whose node selection the labels satisfy
	Tolerates bitset.Set // classes that tolerate the taints
	Open      bitset.Set // classes in both for which the node also has every label that the class needs
}

// RequiredTerms returns the terms of the required node affinity of a pod, nil if it has none.
func RequiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}
