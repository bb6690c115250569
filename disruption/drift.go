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

// The reasons for drift that the engine sees by itself. A provider adds its own.
const (
	// NodePoolDrifted: the template of the NodePool has changed, apart from its
	// requirements.
	NodePoolDrifted = drift.NodePoolDrifted
	// RequirementsDrifted: the labels of the NodeClaim do not satisfy the
	// requirements of the NodePool any more.
	RequirementsDrifted = drift.RequirementsDrifted
	// InstanceTypeNotFound: the catalog does not have what the machine is.
	InstanceTypeNotFound = drift.InstanceTypeNotFound
)

// DriftStatus is what the condition Drifted of a NodeClaim should say.
type DriftStatus struct {
	// Target names the node.
	Target
	// Reason is the reason of the condition, such as NodePoolDrifted. Empty
	// means that the node has not drifted, and that there should be no
	// condition.
	Reason string
	// Detail is one line on what has changed.
	Detail string
	// Since is when the condition became True; zero if it is not so yet. A
	// change of the reason keeps it.
	Since time.Time
	// Next is when the answer can change by time alone, zero if never.
	Next time.Time
}

// String is the node and how it has drifted, in one line.
func (s DriftStatus) String() string {
	if s.Reason == "" {
		return s.Target.String() + ": not drifted"
	}
	return s.Target.String() + ": " + s.Reason + ": " + s.Detail
}

// Drifts judges every NodeClaim that is launched, not being deleted, and of a
// NodePool that exists, sorted by node. The first that holds counts:
//
//  1. NodePoolDrifted: the claim and the pool have hashes of the same version
//     that differ. Those of the claim are its annotations. That of the pool is
//     NodePool.Hash, of v1.NodePoolHashVersion, as MigrateHashes would write it
//     down and as new claims have it: annotations of that version do not count,
//     as they are those of the template before its last edit until somebody
//     writes them anew. If the pool is annotated with another version, what it
//     is annotated with counts, until its claims are migrated.
//  2. RequirementsDrifted: the labels of the claim do not satisfy the
//     requirements of the template; minValues do not count. A label that is
//     missing satisfies only what admits its absence. The label
//     karpenter.sh/capacity-type of a claim that is an hour old counts as
//     on-demand if it says reserved, and the reservation is not offered any more.
//  3. InstanceTypeNotFound, if the claim is an hour old and the pool has a
//     catalog: it does not have the type, or no offering of it, available or
//     not, that agrees with the labels of the claim; other names of its zone
//     (requirements.Vocabulary.NamesZone) do not count. For a claim with reserved
//     capacity an on-demand offering, or one of another reservation, will do.
//  4. What Input.Drift says.
func (f *Cluster) Drifts() []DriftStatus {
	var out []DriftStatus
	for _, m := range f.seen.Nodes {
		if s, ok := f.driftOf(m); ok {
			out = append(out, s)
		}
	}
	return out
}

// driftOf judges one node, and reports false if there is nothing to judge.
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

// drift is the method's part of check.
func (c *check) drift() {
	s, ok := c.cluster.driftOf(c.m)
	switch {
	case !ok:
		c.add(rule.NotDrifted, never, "it is not launched, or being deleted, or without NodePool, so drift is not judged")
	case s.Reason == "":
		c.add(rule.NotDrifted, s.Next, "it matches its NodePool and NodeClass")
	}
}

// drift wants to replace nodes that have drifted. Those of static pools come
// first, pool by pool, as Cluster.Candidates has them ordered by what follows here;
// within a pool, those that hold a place in a reservation come first. Then those
// of dynamic pools: first nodes without pods that need another place, which are
// deleted; then the others. In each of these groups, the one that has drifted
// the longest comes first, those whose condition does not say so yet come last,
// and otherwise the name decides.
//
// A node of a static pool is kept, and listed as Blocked, while the pool has
// more nodes than replicas, while no offering that its template admits is available,
// or if it is at its limit of nodes. With Options.Drift.TerminateFirst it is deleted
// first in the latter case, and also where all that the template can launch is
// reserved and full. Whether a node of
// a dynamic pool can be replaced is for a simulation to say.
//
// Blocked are the nodes that have drifted.
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
		return cmp.Or(cmp.Compare(state.ZeroOrOne(a.Homeless() > 0), state.ZeroOrOne(b.Homeless() > 0)), age(a, b))
	})
	s := f.newStaticSlots(MethodDrift, f.opts.Drift.TerminateFirst)
	for _, m := range static {
		if step, ok := s.place(m); ok {
			r.Actions = append(r.Actions, statuses[m.Name].action(m, step))
		}
	}
	for _, m := range dynamic {
		step := placement{step: Replace}
		if m.Homeless() == 0 {
			step.step = Delete
		}
		r.Actions = append(r.Actions, statuses[m.Name].action(m, step))
	}
	r.Blocked = append(without(blocked, rule.Unmanaged, rule.NoNode, rule.NotDrifted), s.blocked...)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	r.Next = state.Sooner(r.Next, soonest(r.Blocked))
	return r
}

func (s DriftStatus) action(m *state.StateNode, p placement) Action {
	a := actionOn(m, Drifted, p.step)
	a.Cause, a.StepCause, a.Detail, a.Since, a.DrainBound = s.Reason, p.why, p.detail(s.Detail), s.Since, p.drain
	return a
}
