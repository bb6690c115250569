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
	// NodeClaims are all of them. One that is being deleted promises nothing.
	NodeClaims []*v1.NodeClaim
	// Nodes are all of them. That of a claim has its status.nodeName or providerID.
	Nodes []*corev1.Node
	// Pods are all pods, pending and running.
	Pods []*corev1.Pod
	// Refused are pods that could not be given their toleration: nobody waits for
	// them.
	Refused map[types.UID]bool
	// Bindings are promises of nodes that are there: those of State.Bindings before,
	// and those of Bind for a plan that was made since.
	Bindings []Binding
}

// State is what follows from the promises that stand in the cluster.
type State struct {
	// Pods are the pending pods that a node is promised to, sorted by namespace and
	// name. All others belong into the next plan.
	Pods []Place
	// Moving are the pods that still run on the nodes they will be evicted from and
	// that another node is promised to, in the same order. They belong into no plan
	// either, and take room on the node that is promised to them: a program that was
	// restarted while they were evicted would launch a second node for them. What
	// they lack is told once they are pending.
	Moving []Place
	// Nodes are the NodeClaims that are meant for pods, and the Nodes with the taint,
	// sorted by NodeClaim and then by Node.
	Nodes []Node
	// Bindings are those of Input.Bindings that still hold.
	Bindings []Binding
	// Next is when time alone changes the answer next; zero for never.
	Next time.Time
}

// Place is where a pending pod will be.
type Place struct {
	// Pod is the one of Input.Pods. Do not write to it.
	Pod *corev1.Pod
	// NodeClaim is empty for a node that was there when the pod was planned for.
	NodeClaim string
	// Node is empty until it has joined. Then it is what status.nominatedNodeName of
	// the pod should be; kube-scheduler clears names of nodes that are not there.
	Node string
	// Until is when the promise ends if nothing else ends it.
	Until time.Time
	// Toleration is what to append to the pod's tolerations, nil if nothing.
	Toleration *corev1.Toleration
}

// Phase is how far a node is.
type Phase string

const (
	// Coming is a node that is not ready: it has not joined, or has taints that will
	// go.
	Coming Phase = "Coming"
	// Filling is a node that is ready and kept for its pods.
	Filling Phase = "Filling"
	// Open is a node that is ready for all pods: its own are there, or time is up.
	Open Phase = "Open"
)

// Node is how a node fares that is meant for pods.
type Node struct {
	// NodeClaim is empty where a Node has the taint and no claim any more.
	NodeClaim string
	// Node is empty until it has joined.
	Node string
	// Phase is how far it is.
	Phase Phase
	// Until is when the node is opened at the latest, or given up while it is Coming.
	// It is zero without a claim.
	Until time.Time
	// Pending are its pods that are not bound, with those in the place of others that
	// are gone. Moving are those that still run on the nodes they will be evicted
	// from. Missing are those that are gone and may come back. Refused, of those
	// pending, lack a toleration and cannot get it.
	Pending, Moving, Missing, Refused int
	// Opened is a copy of the Node without the taint, to be stored; nil if there is
	// nothing to do.
	Opened *corev1.Node
}

// Review reads the promises that stand in a cluster and says what follows at an
// instant. Where it finds something it cannot read, the error names it and the state is
// right about the rest.
//
// A Node is ready once it is registered, its condition Ready is True, no startup taint but
// TaintKey and no taint that goes by itself is left on it, and its claim's condition
// Registered, if there is one, is True. The time that it is kept counts from the later of
// its condition Ready and the claim's Registered.
//
// Pods that are alike may change places. Where kube-scheduler has been at work for twenty
// seconds since a node is ready (it has bound some pod since, or found no place for one that
// is new: after an outage of the API server it learns of a node late), still says that there
// is no room for a pod of it, and has bound none of its kind for as long (others of the kind are still on a node that goes, say, and a topology spread counts
// them there), the pod is given the tolerations of the other nodes that are kept for pods of
// its kind, one after another. Once it is on one of these, who has lost a place there waits for
// the place that it has left, as long as that is kept. So it is with a pod that is to go to a
// node that was there before (a Binding), from when it was created: a plan counts the pods of a
// node that goes no more, and kube-scheduler and the budget that keeps them there do.
//
// It takes time in proportion to the pods, claims and nodes, times the logarithm of
// the pods that are pending.
func Review(in Input, now time.Time, opts *Options) (State, error) {
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
		r.settled(c)
	}
	r.exchange()
	for _, c := range r.claims {
		r.await(c)
	}
	var s State
	for _, c := range r.claims {
		s.Nodes = append(s.Nodes, r.settle(c, &s))
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

// Nominations says until when each node is kept, by the name of the Node, or of the
// NodeClaim while there is none: those that a pod is still awaited on. Disruption
// leaves such nodes alone.
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

// Binding is the promise of a node that is there: kube-scheduler is expected to bind
// the pod to it.
type Binding struct {
	// Pod is the UID of the pod, and Node the name of the node.
	Pod  types.UID
	Node string
	// Until is when the promise ends, unless kube-scheduler is behind: see Options.Hold. At that
	// instant it no longer holds.
	Until time.Time
}

// Bind promises a node that is there to pods of a plan. Such a promise is in the
// program's memory only: after a restart the pod is planned for again, which does no
// harm, as nothing was launched for it.
func Bind(node string, pods []*corev1.Pod, until time.Time) []Binding {
	var out []Binding
	for _, p := range pods {
		if p != nil {
			out = append(out, Binding{Pod: p.UID, Node: node, Until: until})
		}
	}
	return out
}
