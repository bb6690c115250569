package disruption

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/drift"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// The reasons for drift that the engine detects. A provider adds its own.
const (
	// NodePoolDrifted: the template of the NodePool has changed, apart from its
	// requirements.
	NodePoolDrifted = drift.NodePoolDrifted
	// RequirementsDrifted: the labels of the NodeClaim no longer satisfy the requirements of the
	// NodePool.
	RequirementsDrifted = drift.RequirementsDrifted
	// InstanceTypeNotFound: the catalog lacks the instance type or offering of the machine.
	InstanceTypeNotFound = drift.InstanceTypeNotFound
)

// DriftStatus is the state that the condition Drifted of a NodeClaim should have.
type DriftStatus struct {
	// Target identifies the node.
	Target
	// Reason is the reason of the condition, such as NodePoolDrifted. Empty means that the node has
	// not drifted and should have no condition.
	Reason string
	// Detail describes the change on one line.
	Detail string
	// Since is when the condition became True; zero if it is not True yet. A change of the reason
	// does not change it.
	Since time.Time
	// Next is when the status can change by time alone, zero if never.
	Next time.Time
}

// String renders the node and how it has drifted on one line.
func (s DriftStatus) String() string {
	if s.Target == (Target{}) {
		return "no node"
	}
	if s.Reason == "" {
		return s.Target.String() + ": not drifted"
	}
	return s.Target.String() + ": " + s.Reason + ": " + s.Detail
}

// Drifts returns the drift status of every NodeClaim that is launched, not being deleted, and of an
// existing NodePool, sorted by node. The first of these that applies is the reason:
//
//  1. NodePoolDrifted: the claim and the pool have hashes of the same version that differ. The
//     claim's hash is in its annotations. The pool's hash is NodePool.Hash, of
//     v1.NodePoolHashVersion, as MigrateHashes would write it and new claims have it. Annotations
//     of the pool with that version do not count, because they are those of the template before its
//     last edit until a controller writes them again. Annotations of the pool with another version
//     do count, until its claims are migrated.
//  2. RequirementsDrifted: the labels of the claim do not satisfy the requirements of the template;
//     minValues do not count. A missing label satisfies only a requirement that admits its absence.
//     If the label karpenter.sh/capacity-type of a claim older than an hour says reserved and the
//     reservation is no longer offered, it counts as on-demand.
//  3. InstanceTypeNotFound: the claim is at least an hour old, and the pool has a catalog without
//     its instance type, or without an offering, available or not, that agrees with the labels of
//     the claim; other names of its zone (requirements.Vocabulary.NamesZone) do not count. For a
//     claim with reserved capacity an on-demand offering, or one of another reservation, is enough.
//  4. The drift in Input.Drift.
func (f *Cluster) Drifts() []DriftStatus {
	var out []DriftStatus
	for _, m := range f.seen.Nodes {
		if s, ok := f.driftOf(m); ok {
			out = append(out, s)
		}
	}
	return out
}

// driftOf returns the drift status of one node, false if drift does not apply to it.
func (f *Cluster) driftOf(m *state.StateNode) (DriftStatus, bool) {
	var said cloudprovider.Drift
	if m.NodeClaim != nil {
		said = f.in.Drift[m.NodeClaim.Name]
	}
	s, ok := drift.Judge(f.seen, m, said)
	if !ok {
		return DriftStatus{}, false
	}
	return DriftStatus{Target: targetOf(m), Reason: s.Reason, Detail: s.Detail, Since: s.Since, Next: s.Next}, true
}

// drift adds the causes for MethodDrift.
func (c *check) drift() {
	s, ok := c.cluster.driftOf(c.m)
	switch {
	case !ok:
		c.add(rule.NotDrifted, never, "it is not launched, or being deleted, or without NodePool, so drift is not judged")
	case s.Reason == "":
		c.add(rule.NotDrifted, s.Next, "it matches its NodePool and NodeClass")
	}
}

// drift proposes to replace drifted nodes. Nodes of static pools come first, pool by pool, in the
// order of Cluster.Candidates refined by what follows; within a pool, nodes in a reservation come
// first. Then come those of dynamic pools: first nodes without pods that need another place, which
// are deleted, then the others. Within each group, nodes are sorted by how long they have drifted,
// the longest first and those whose condition does not say so yet last, and then by name.
//
// A node of a static pool is kept, and listed as Blocked, while the pool has more nodes than
// replicas, while no offering that its template admits is available, or if the pool is at its limit
// of nodes. With Options.Drift.TerminateFirst it is deleted first in the last case, and also if
// everything that the template can launch is reserved and full. A simulation decides whether a node
// of a dynamic pool can be replaced.
//
// Blocked lists drifted nodes only.
func (f *Cluster) drift() Result {
	candidates, blocked := f.Candidates(MethodDrift)
	var r Result
	statuses := map[string]DriftStatus{}
	for _, status := range f.Drifts() {
		statuses[status.Node] = status
		r.Next = state.Sooner(r.Next, status.Next)
	}
	var static, dynamic []*state.StateNode
	for i := range candidates {
		m := f.seen.ByName[candidates[i].Node]
		if m.Pool.Static() {
			static = append(static, m)
		} else {
			dynamic = append(dynamic, m)
		}
	}
	age := func(a, b *state.StateNode) int {
		return cmp.Or(compareSince(statuses[a.Name].Since, statuses[b.Name].Since), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(static, func(a, b *state.StateNode) int {
		return cmp.Or(strings.Compare(a.PoolName, b.PoolName),
			cmp.Compare(state.ZeroOrOne(a.Reservation() == ""), state.ZeroOrOne(b.Reservation() == "")), age(a, b))
	})
	slices.SortFunc(dynamic, func(a, b *state.StateNode) int {
		return cmp.Or(cmp.Compare(state.ZeroOrOne(a.CountMovable() > 0), state.ZeroOrOne(b.CountMovable() > 0)), age(a, b))
	})
	s := f.newStaticSlots(MethodDrift, f.opts.Drift.TerminateFirst)
	for _, m := range static {
		if place, ok := s.place(m); ok {
			r.Actions = append(r.Actions, statuses[m.Name].action(m, place))
		}
	}
	for _, m := range dynamic {
		place := placement{operation: Replace}
		if m.CountMovable() == 0 {
			place.operation = Delete
		}
		r.Actions = append(r.Actions, statuses[m.Name].action(m, place))
	}
	r.Blocked = append(without(blocked, rule.Unmanaged, rule.NoNode, rule.NotDrifted), s.blocked...)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	r.Next = state.Sooner(r.Next, soonest(r.Blocked))
	return r
}

func (s DriftStatus) action(m *state.StateNode, p placement) Action {
	a := actionOn(m, Drifted, p.operation)
	a.Cause, a.OperationCause, a.Detail, a.Since, a.DrainBound = s.Reason, p.why, p.detail(s.Detail), s.Since, p.drain
	return a
}
