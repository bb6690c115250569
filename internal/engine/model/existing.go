package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Existing is a node of the input.
type Existing struct {
	*Room
	Index    int32 // among the rooms
	Marks    Mark
	Free     []int64  // allocatable less bound pods and daemons still to come
	Verdict  *Verdict // on the classes
	At       []int    // by key of the domain table
	Attached []int32  // volumes that its pods have, of those that several pods have
}

// TerminatingNode is a node on its way out, with what its pods count for that are not among
// those to be placed.
type TerminatingNode struct {
	Existing
	Parts []pack.Membership
}

// LabelsAndTaints is what decides who may run on a node.
type LabelsAndTaints struct {
	Name   string
	Labels map[string]string
	Taints []corev1.Taint
}

// Verdict says which classes suit nodes of one look.
type Verdict struct {
	Number    int
	Selects   bitset.Set // by labels
	Tolerates bitset.Set // by taints
	Admits    bitset.Set // by both
	Open      bitset.Set // likewise, and that have the labels which the class needs of any node
}

// RequiredTerms are the terms of the required node affinity of a pod, nil if it has none.
func RequiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}
