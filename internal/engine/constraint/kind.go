package constraint

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// Kind is a kind of constraint between pods. What it has not got is nil or empty.
type Kind struct {
	// Name is that of the rule by which the referee judges the kind.
	Name string
	// Cause is that of a pod which the kind leaves without a place, and of nodes that it
	// rules out. One that users are to compare with has a name in package provisioning too.
	Cause model.Cause
	// RuledOut says by what a node is ruled out, such as "host ports"; empty means the cause
	// in small letters.
	RuledOut string
	// Places says that the kind keeps pods to some places, of which the reason then speaks:
	// the nodes that it counts are those there.
	Places bool

	// Has says whether a pod that waits may have any towards other pods, and Key writes all
	// that decides which it has: pods for which it writes the same are alike. Defaults says
	// that pods without a topology spread constraint may get some. Key is asked of pods that
	// have some, or, of a kind with Holds, which has no Has, of all.
	Has func(pod *corev1.Pod, defaults bool) bool
	Key func(w *podkey.Writer, pod *corev1.Pod, defaults bool)
	// BoundKey writes what others have to mind of it in a pod that runs.
	BoundKey func(w *podkey.Writer, pod *corev1.Pod)

	// Holds lists what a pod takes of its node for itself, in any order. Of a kind without
	// a Key it is asked of pods that run and of DaemonSets only.
	Holds func(pod *corev1.Pod) []Hold
	// Limits lists the bounds that a pod sets to how many pods may be on its node. An error
	// says which field is wrong, and keeps a pod that waits pending; of one that runs the
	// limits do not count then.
	Limits func(pod *corev1.Pod) ([]Limit, error)
	// TakenByDaemons says what DaemonSets do that leaves a new node no use to a pod which
	// holds something of the kind; "on every suitable instance type" follows.
	TakenByDaemons string

	// Sample gives a pod a constraint of the kind, for the laws that all kinds are held to:
	// of pods that have it, all in one namespace and with SampleLabels, no two can be on the
	// nodes of one zone, or not even one.
	Sample func(pod *corev1.Pod)
}

// SampleLabels are those of every pod of the laws that kinds are held to.
func SampleLabels() map[string]string { return map[string]string{"sample": "pod"} }

// Nodes says by what nodes are ruled out.
func (k *Kind) Nodes() string {
	if k.RuledOut != "" {
		return k.RuledOut
	}
	return strings.ToLower(string(k.Cause))
}

// Limit bounds the pods of one node: where a pod that has it is, no more than Most of those
// that it counts may be, that pod included if it is one of them. Pods that are being deleted
// count, pods that have ended do not. Pods of DaemonSets that run, or are to come with a
// node, neither count nor have limits. Most is at least 1: a kind refuses a pod that says less.
type Limit struct {
	Kind int // in the list of kinds, which sets it
	Pods podterm.Pods
	Most int
}

// Hold is something of a node that a pod takes for itself: a port, a disk. Two of one kind
// clash if they have the number and name in common, and the address, of which an empty one
// stands for all; unless both only read.
type Hold struct {
	Kind    int // in the list of kinds, which sets it
	Number  int32
	Name    string
	Address string
	Reads   bool // others may read it too
}

// Compare orders holds.
func (h Hold) Compare(other Hold) int {
	return cmp.Or(cmp.Compare(h.Number, other.Number), cmp.Compare(h.Name, other.Name), cmp.Compare(h.Address, other.Address),
		model.CompareBools(h.Reads, other.Reads), cmp.Compare(h.Kind, other.Kind))
}

// Clashes says whether two pods cannot have both on one node.
func (h Hold) Clashes(other Hold) bool {
	return h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || other.Address == "" || h.Address == other.Address) && !(h.Reads && other.Reads)
}

// Covers says whether a hold that is not only read clashes with every use of another, or
// with that of the same address.
func (h Hold) Covers(other Hold) bool {
	return !h.Reads && h.Kind == other.Kind && h.Number == other.Number && h.Name == other.Name &&
		(h.Address == "" || h.Address == other.Address)
}
