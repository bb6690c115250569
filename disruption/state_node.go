package disruption

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func targetOf(m *state.StateNode) Target {
	t := Target{Node: m.Name, NodePool: m.PoolName, ProviderID: m.ProviderID()}
	if m.NodeClaim != nil {
		t.NodeClaim = m.NodeClaim.Name
	}
	return t
}

// actionOn returns an action on this node.
func actionOn(m *state.StateNode, r Reason, operation Operation) Action {
	return Action{Reason: r, Operation: operation, Targets: []Target{targetOf(m)}}
}

// Leaving lists the nodes that are being deleted, sorted by name: those whose NodeClaim or Node is
// being deleted, or whose machine is being terminated. Displaced returns the pods there that need
// another place.
//
// Nodes that a command will remove and that are not being deleted yet are left out: their
// replacements are being launched.
func Leaving(nodes []provisioning.Node) []string {
	var names []string
	for _, n := range nodes {
		if name := n.Name(); name != "" && state.Leaves(n) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Displaced lists the pods on nodes in Leaving that need another place now, by node, namespace and
// name, each as it will be then: without a node, and not being deleted. Plan for them together with
// the pending pods, before they are evicted:
//
//	problem, err := provisioning.Prepare(in.Input, nil)
//	problem, err = problem.With(disruption.Displaced(now, in)...)
//	plan, err := problem.Solve(ctx)
//
// These are active pods, and pods of StatefulSets that are being deleted, because they are created
// again; without those of DaemonSets and static pods. Pods that nothing may evict (Candidate.Held)
// are left out at first, because a node launched for them would stay empty. They are listed from
// LaunchAhead before they are ended by force, which is their grace period before the deadline of
// the drain (drain.Deadline), or before their karpenter.sh/do-not-disrupt expires, and in any case
// once the machine is being terminated.
//
// It reads Nodes and PodDisruptionBudgets of the input. The time grows with the pods on terminating
// nodes.
func Displaced(now time.Time, in Input) (pods []*corev1.Pod) {
	s := state.Snapshot{Now: now, PodDisruptionBudgets: in.PodDisruptionBudgets}
	s.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool { return !state.Leaves(n) })
	var faults state.Faults // Observe lists them
	f := state.Read(s, &faults)
	for _, m := range f.Nodes {
		for _, p := range f.Departs(m, time.Time{}).Displaced {
			if podlife.Moves(p) { // the owner decides, whatever the version of its API
				pods = append(pods, podlife.Moved(p, ""))
			}
		}
	}
	return pods
}
