package constraint

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// Kind describes one kind of constraint between pods to the engine. Fields that do not apply to the
// kind are nil or empty.
type Kind struct {
	// Name is the name of the referee's rule for the kind.
	Name string
	// Cause is the cause of a reason that names this kind: why a pod is unplaced, or why a node
	// excludes it. A cause that users compare with is exported by package provisioning too.
	Cause model.Cause
	// RuledOut names, in messages, the cause that excludes a node, such as "host ports". Empty
	// means the cause in lower case.
	RuledOut string
	// Places says that the kind restricts pods to certain domains, so that its reasons count only
	// the nodes in those domains.
	Places bool

	// Has says whether a pending pod may have constraints of the kind; nil for a kind with Holds.
	// defaults says that pods without a topology spread constraint may get default ones. Key writes
	// everything that decides which constraints the pod has: pods with the same key are alike. Key
	// is called for pods for which Has returns true, and for all pods if Has is nil.
	Has func(pod *corev1.Pod, defaults bool) bool
	Key func(w *podkey.Writer, pod *corev1.Pod, defaults bool)
	// BoundKey writes what a running pod's constraints of the kind mean to other pods.
	BoundKey func(w *podkey.Writer, pod *corev1.Pod)

	// Holds lists what a pod takes of its node for itself alone, in any order. If Key is nil, Holds
	// is called only for running pods and DaemonSets.
	Holds func(pod *corev1.Pod) []Hold
	// Limits lists the pod's bounds on the number of pods on its node. An error says which field is
	// wrong: a pending pod with an error stays pending, and the limits of a running pod with an
	// error do not count.
	Limits func(pod *corev1.Pod) ([]Limit, error)
	// TakenByDaemons says, in a message, what DaemonSets do that makes new nodes useless to a pod
	// which holds something of the kind. "on every suitable instance type" follows it.
	TakenByDaemons string

	// Sample adds a constraint of the kind to a pod, for the laws that all kinds are tested by. Of
	// pods in one namespace that have this constraint and SampleLabels, at most one can be on the
	// nodes of a zone.
	Sample func(pod *corev1.Pod)
}

// SampleLabels returns the labels of every pod in the laws that all kinds are tested by.
func SampleLabels() map[string]string { return map[string]string{"sample": "pod"} }

// Nodes returns what messages say excludes a node: RuledOut, or else the cause in lower case.
func (k *Kind) Nodes() string {
	if k.RuledOut != "" {
		return k.RuledOut
	}
	return strings.ToLower(string(k.Cause))
}

// Limit bounds the number of pods on one node: on the node of a pod with the limit, at most Most
// pods that Pods selects may be, including that pod if it is selected. Pods that are being deleted
// count; pods that have ended do not. Pods of DaemonSets neither count nor have limits. Most is at
// least 1: a kind refuses a pod with a lower value.
type Limit struct {
	Kind int // index in the list of kinds; package kinds sets it
	Pods podterm.Pods
	Most int
}

// Hold is something of a node that one pod takes for itself, such as a port or a disk. Two holds of
// one kind clash if they have the same number, name and address, where an empty address equals
// every address, unless both are only read.
type Hold struct {
	Kind    int // index in the list of kinds; package kinds sets it
	Number  int32
	Name    string
	Address string
	Reads   bool // the pod only reads it, so other pods may read it too
}

// Compare orders holds by number, name, address, Reads and kind.
func (h Hold) Compare(other Hold) int {
	return cmp.Or(cmp.Compare(h.Number, other.Number), cmp.Compare(h.Name, other.Name), cmp.Compare(h.Address, other.Address),
		order.Bools(h.Reads, other.Reads), cmp.Compare(h.Kind, other.Kind))
}

// Clashes says whether two pods with these holds cannot be on one node.
func (h Hold) Clashes(other Hold) bool {
	return h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || other.Address == "" || h.Address == other.Address) && !(h.Reads && other.Reads)
}

// Covers says whether this hold is exclusive and clashes with every use of other: the address of
// this hold is empty or the same.
func (h Hold) Covers(other Hold) bool {
	return !h.Reads && h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || h.Address == other.Address)
}
