package nomination

import (
	"cmp"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Input is a snapshot of the cluster. Lists may be in any order; nil entries are
// skipped.
type Input struct {
	// NodeClaims are all NodeClaims. One that is being deleted promises nothing.
	NodeClaims []*v1.NodeClaim
	// Nodes are all Nodes. The Node of a claim has its status.nodeName or providerID.
	Nodes []*corev1.Node
	// Pods are all pods, pending and running.
	Pods []*corev1.Pod
	// Refused are pods that could not get their toleration: no node waits for them.
	Refused map[types.UID]bool
	// Bindings are promises of existing nodes: State.Bindings of the last call, and the results of
	// Bind for later plans.
	Bindings []Binding
}

// State is the result of Review.
type State struct {
	// Pods are the pending pods with a promised node, sorted by namespace and name. All other
	// pending pods belong into the next plan.
	Pods []Place
	// Moving are the pods that still run on the nodes from which they will be evicted and that have
	// another promised node, in the same order. They do not belong into a plan either, and take
	// room on their promised node: otherwise a program that is restarted during their eviction
	// would launch a second node for them. Their missing tolerations are reported once they are
	// pending.
	Moving []Place
	// Nodes are the NodeClaims with promised pods, and the Nodes with the taint, sorted by
	// NodeClaim and then by Node.
	Nodes []Node
	// Bindings are the entries of Input.Bindings that still count.
	Bindings []Binding
	// Next is when time alone changes the answer; zero means never.
	Next time.Time
}

// Place is the promised node of a pod.
type Place struct {
	// Pod is the pod in Input.Pods. Do not write to it.
	Pod *corev1.Pod
	// NodeClaim is empty for a node that existed when the plan was made.
	NodeClaim string
	// Node is empty until the node has joined. Then status.nominatedNodeName of the pod should have
	// it; kube-scheduler clears names of nodes that do not exist.
	Node string
	// Until is when the promise ends, unless it ends earlier for another reason.
	Until time.Time
	// Toleration is the toleration to append to the pod; nil if there is none.
	Toleration *corev1.Toleration
}

// Phase is the phase of a node.
type Phase string

const (
	// Coming is a node that is not ready: it has not joined, or has taints that will be removed.
	Coming Phase = "Coming"
	// Filling is a node that is ready and kept for its pods.
	Filling Phase = "Filling"
	// Open is a node that is ready for all pods: its own pods are bound, or time is over.
	Open Phase = "Open"
)

// Node is the state of a node with promised pods.
type Node struct {
	// NodeClaim is empty for a Node with the taint whose claim is gone.
	NodeClaim string
	// Node is empty until the node has joined.
	Node string
	// Phase is Coming, Filling or Open.
	Phase Phase
	// Until is when the node is opened at the latest, or, while it is Coming, when its promises
	// end. It is zero without a claim.
	Until time.Time
	// Pending counts its pods that are not bound, including those in the place of deleted ones.
	// Moving counts those that still run on the nodes from which they will be evicted. Missing
	// counts deleted pods that may be recreated. Refused counts the pending ones that lack a
	// toleration and cannot get it.
	Pending, Moving, Missing, Refused int
	// Opened is a copy of the Node without the taint, to be stored; nil if there is nothing to
	// store.
	Opened *corev1.Node
}

// Review reads the promises in a cluster and returns their state at an instant. The error names
// annotations that cannot be read; the state is valid for all others.
//
// A Node is ready once it is registered, its condition Ready is True, it has no startup taint
// except TaintKey and no temporary taint, and its claim's condition Registered, if there is one, is
// True. Options.Hold counts from the later of its condition Ready and the claim's Registered.
//
// Equal pods may exchange nodes. A pod gets the tolerations of the other nodes that are kept for
// pods of its kind, one after another, if three conditions hold. First, kube-scheduler has worked
// for twenty seconds since the pod's node became ready: it has bound a pod since, or found no place
// for a new one (after an outage of the API server it learns of nodes late). Second, it still
// reports that the pod does not fit. Third, it has bound no pod of the kind in these twenty
// seconds. This happens for example when equal pods are still on a node that is being removed, and
// a topology spread counts them there. When the pod is bound to one of the other nodes, the pod
// that has lost its place there waits for the place that the first one has left, as long as that is
// kept. The same holds for a pod with a Binding to an existing node, from the creation of the pod:
// a plan does not count the pods of a node that is being removed, but kube-scheduler does while a
// budget keeps them there.
//
// The time is proportional to the pods, claims and nodes, times the logarithm of the pending pods.
func Review(now time.Time, in Input, opts *Options) (State, error) {
	if err := opts.Validate(); err != nil {
		return State{}, err
	}
	r := newReviewer(in, now, opts.complete())
	for _, c := range r.claims {
		r.own(c)
	}
	for pass := range heirPassCount {
		for _, c := range r.claims {
			r.heirs(c, pass)
		}
	}
	for _, c := range r.claims {
		r.dropUnneeded(c)
		r.giveUp(c)
	}
	r.exchange()
	for _, c := range r.claims {
		r.await(c)
	}
	var s State
	for _, c := range r.claims {
		s.Nodes = append(s.Nodes, r.report(c, &s))
	}
	s.Nodes = append(s.Nodes, r.orphans()...)
	slices.SortFunc(s.Nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.NodeClaim, b.NodeClaim), cmp.Compare(a.Node, b.Node))
	})
	r.bindings(in.Bindings, &s)
	for _, list := range [][]Place{s.Pods, s.Moving} {
		slices.SortFunc(list, func(a, b Place) int { return compareNames(a.Pod, b.Pod) })
	}
	return s, errors.Join(r.faults...)
}

// Nominations returns until when each node that waits for a pod is kept, by the name of the Node,
// or of the NodeClaim while there is no Node. Disruption does not touch such nodes.
func (s State) Nominations() map[string]time.Time {
	out := map[string]time.Time{}
	keep := func(name string, until time.Time) {
		if until.After(out[name]) {
			out[name] = until
		}
	}
	for _, n := range s.Nodes {
		if n.Pending+n.Moving+n.Missing > 0 {
			keep(cmp.Or(n.Node, n.NodeClaim), n.Until)
		}
	}
	for _, p := range s.Pods {
		if p.NodeClaim == "" {
			keep(p.Node, p.Until)
		}
	}
	return out
}

// Binding is the promise of an existing node: kube-scheduler is expected to bind the pod to it.
type Binding struct {
	// Pod is the UID of the pod, and Node the name of the node.
	Pod  types.UID
	Node string
	// Until is when the promise ends, exclusively, unless kube-scheduler is behind: see
	// Options.Hold.
	Until time.Time
}

// Bind promises an existing node to pods of a plan. Such a promise is only in the program's memory:
// after a restart the pod is planned again, which does no harm, because nothing was launched for
// it.
func Bind(node string, pods []*corev1.Pod, until time.Time) []Binding {
	var out []Binding
	for _, p := range pods {
		if p != nil {
			out = append(out, Binding{Pod: p.UID, Node: node, Until: until})
		}
	}
	return out
}
