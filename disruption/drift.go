package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The reasons for drift that the engine detects. A provider adds its own.
const (
	// NodePoolDrifted: the template of the NodePool has changed, apart from its
	// requirements.
	NodePoolDrifted = "NodePoolDrifted"
	// RequirementsDrifted: the labels of the NodeClaim no longer satisfy the requirements of the
	// NodePool.
	RequirementsDrifted = "RequirementsDrifted"
	// InstanceTypeNotFound: the catalog lacks the instance type or offering of the machine.
	InstanceTypeNotFound = "InstanceTypeNotFound"
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

// driftOf returns the drift status of one node, false if drift does not apply to it. Data that cannot
// be read are no drift.
func (f *Cluster) driftOf(m *state.StateNode) (DriftStatus, bool) {
	if m.Pool == nil || !m.Managed() || !m.NodeClaim.DeletionTimestamp.IsZero() || !m.IsTrue(v1.ConditionTypeLaunched) {
		return DriftStatus{}, false
	}
	s := DriftStatus{Target: targetOf(m)}
	if m.IsTrue(v1.ConditionTypeDrifted) {
		s.Since = m.Condition(v1.ConditionTypeDrifted).LastTransitionTime.Time
	}
	if s.Detail = hashDrift(m); s.Detail != "" { // comes first, whatever the time
		s.Reason = NodePoolDrifted
		return s, true
	}
	old := m.NodeClaim.CreationTimestamp.Add(catalogGrace)
	pastGrace := !old.After(f.seen.Now)
	if !pastGrace {
		s.Next = old
	}
	if s.Detail = requirementDrift(m, f.seen.Vocabulary, pastGrace); s.Detail != "" {
		s.Reason = RequirementsDrifted
		return s, true
	}
	if s.Detail = catalogDrift(m, f.seen.Vocabulary); pastGrace && s.Detail != "" {
		s.Reason = InstanceTypeNotFound
		return s, true
	}
	said := f.in.Drift[m.NodeClaim.Name]
	if s.Reason, s.Detail = said.Reason, said.Detail; s.Reason != "" && s.Detail == "" {
		s.Detail = "the provider says so: " + s.Reason
	}
	return s, true
}

// hashDrift describes how the hashes differ; empty if they are equal or one is missing.
func hashDrift(m *state.StateNode) string {
	version, hash, ok := hashOf(m.NodeClaim.Annotations)
	if !ok {
		return ""
	}
	wantVersion, want, ok := hashOf(m.Pool.Annotations)
	if !ok || wantVersion == v1.NodePoolHashVersion {
		wantVersion, want = v1.NodePoolHashVersion, m.Pool.TemplateHash
	}
	if version != wantVersion || hash == want {
		return ""
	}
	return fmt.Sprintf("the template of %s has changed since: its hash is %s, and was %s", state.PoolObject(m.PoolName), want, hash)
}

func hashOf(annotations map[string]string) (version, hash string, ok bool) {
	version, ok = annotations[v1.NodePoolHashVersionAnnotationKey]
	hash, found := annotations[v1.NodePoolHashAnnotationKey]
	return version, hash, ok && found
}

// requirementDrift describes the requirements that the labels do not satisfy; empty if there are
// none.
func requirementDrift(m *state.StateNode, v *requirements.Vocabulary, pastGrace bool) string {
	if m.Pool.Unreadable {
		return ""
	}
	labels := requirements.FromLabels(m.NodeClaim.Labels, v)
	note := ""
	if pastGrace && outlivedReservation(m, v) {
		labels = labels.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
		note = "its reservation is not offered any more, so it is on-demand; "
	}
	var texts []string
	for _, c := range labels.Conflicts(m.Pool.Requirements, requirements.EmptyVocabulary()) {
		texts = append(texts, c.String())
	}
	if len(texts) == 0 {
		return ""
	}
	return note + strings.Join(texts, "; ")
}

// outlivedReservation reports whether a machine was launched into a reservation that is no longer
// in the catalog.
func outlivedReservation(m *state.StateNode, v *requirements.Vocabulary) bool {
	labels := m.NodeClaim.Labels
	if labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeReserved {
		return false
	}
	t := m.Pool.Types[labels[corev1.LabelInstanceTypeStable]]
	return t != nil && state.MatchOffering(t, labels, labels[corev1.LabelTopologyZone], v1.CapacityTypeReserved, v) == nil
}

// catalogDrift says what the catalog lacks of the machine's type and offering; empty if it has
// both.
func catalogDrift(m *state.StateNode, v *requirements.Vocabulary) string {
	labels := m.NodeClaim.Labels
	name, found := labels[corev1.LabelInstanceTypeStable]
	if !found || len(m.Pool.Types) == 0 {
		return ""
	}
	t := m.Pool.Types[name]
	if t == nil {
		return fmt.Sprintf("instance type %s is not in the catalog of %s", name, state.PoolObject(m.PoolName))
	}
	for i := range t.Offerings {
		if offered(&t.Offerings[i], labels, v) {
			return ""
		}
	}
	return fmt.Sprintf("instance type %s is not offered as %s in %s any more", name,
		cmp.Or(labels[v1.CapacityTypeLabelKey], "any capacity type"), cmp.Or(labels[corev1.LabelTopologyZone], "any zone"))
}

// offered reports whether a machine with these labels may have been bought with an offering.
func offered(o *cloudprovider.Offering, labels map[string]string, v *requirements.Vocabulary) bool {
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone != "" && o.Zone != zone {
		return false
	}
	if capacity == v1.CapacityTypeReserved {
		return o.CapacityType == v1.CapacityTypeReserved || o.CapacityType == v1.CapacityTypeOnDemand
	}
	return (capacity == "" || o.CapacityType == capacity) && state.Agrees(o, labels, v)
}

// catalogGrace is the age from which a NodeClaim is compared with the catalog. Right after a launch
// the catalog may be out of date.
const catalogGrace = time.Hour

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

// drift proposes to replace drifted nodes. Nodes of static pools come first, pool by pool; within a
// pool, nodes in a reservation come first. Then come those of dynamic pools: first nodes without pods that need another place, which
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
	nodes, blocked := f.candidates(MethodDrift)
	var r Result
	statuses := map[string]DriftStatus{}
	for _, status := range f.Drifts() {
		statuses[status.Node] = status
		r.Next = order.Sooner(r.Next, status.Next)
	}
	group := func(m *state.StateNode) (pool string, later bool) {
		if m.Pool.Static() {
			return m.PoolName, m.Reservation() == ""
		}
		return "", m.CountMovable() > 0
	}
	slices.SortFunc(nodes, func(a, b *state.StateNode) int {
		poolA, laterA := group(a)
		poolB, laterB := group(b)
		return cmp.Or(order.Bools(poolA == "", poolB == ""), strings.Compare(poolA, poolB), order.Bools(laterA, laterB),
			order.Instants(statuses[a.Name].Since, statuses[b.Name].Since), strings.Compare(a.Name, b.Name))
	})
	s := f.newStaticSlots(MethodDrift, f.opts.Drift.TerminateFirst)
	for _, m := range nodes {
		if p, ok := s.place(m); ok {
			a, status := actionOn(m, Drifted, p.operation), statuses[m.Name]
			a.Cause, a.OperationCause, a.Detail, a.Since, a.DrainBound = status.Reason, p.why, p.detail(status.Detail), status.Since, p.drain
			r.Actions = append(r.Actions, a)
		}
	}
	r.Blocked = append(without(blocked, rule.Unmanaged, rule.NoNode, rule.NotDrifted), s.blocked...)
	return r
}
