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
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The reasons for drift that the engine sees by itself. A provider adds its own.
const (
	// NodePoolDrifted: the template of the NodePool has changed, apart from its
	// requirements.
	NodePoolDrifted = "NodePoolDrifted"
	// RequirementsDrifted: the labels of the NodeClaim do not satisfy the
	// requirements of the NodePool any more.
	RequirementsDrifted = "RequirementsDrifted"
	// InstanceTypeNotFound: the catalog does not have what the machine is.
	InstanceTypeNotFound = "InstanceTypeNotFound"
)

// catalogGrace is how old a NodeClaim must be before the catalog is held against
// it: right after a launch, catalogs may be behind.
const catalogGrace = time.Hour

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
	for _, m := range f.nodes {
		if s, ok := f.driftOf(m); ok {
			out = append(out, s)
		}
	}
	return out
}

// driftOf judges one node, and reports false if there is nothing to judge.
func (f *Cluster) driftOf(m *stateNode) (DriftStatus, bool) {
	if m.pool == nil || !m.managed() || !m.NodeClaim.DeletionTimestamp.IsZero() || !m.isTrue(v1.ConditionTypeLaunched) {
		return DriftStatus{}, false
	}
	s := DriftStatus{Target: m.target()}
	if m.isTrue(v1.ConditionTypeDrifted) {
		s.Since = m.condition(v1.ConditionTypeDrifted).LastTransitionTime.Time
	}
	old := m.NodeClaim.CreationTimestamp.Add(catalogGrace)
	settled := !old.After(f.now)
	if !settled {
		s.Next = old
	}
	if s.Detail = m.hashDrift(); s.Detail != "" {
		// Comes first whatever the time.
		s.Reason, s.Next = NodePoolDrifted, never
		return s, true
	}
	if s.Detail = f.requirementDrift(m, settled); s.Detail != "" {
		s.Reason = RequirementsDrifted
		return s, true
	}
	if s.Detail = m.catalogDrift(f.vocabulary); settled && s.Detail != "" {
		s.Reason = InstanceTypeNotFound
		return s, true
	}
	d := f.in.Drift[m.NodeClaim.Name]
	if s.Reason, s.Detail = d.Reason, d.Detail; s.Reason != "" && s.Detail == "" {
		s.Detail = "the provider says so: " + s.Reason
	}
	return s, true
}

// hashDrift says that the hashes differ, or nothing.
func (m *stateNode) hashDrift() string {
	version, hash, ok := hashOf(m.NodeClaim.Annotations)
	if !ok {
		return ""
	}
	wantVersion, want, ok := hashOf(m.pool.Annotations)
	if !ok || wantVersion == v1.NodePoolHashVersion {
		wantVersion, want = v1.NodePoolHashVersion, m.pool.hash
	}
	if version != wantVersion || hash == want {
		return ""
	}
	return fmt.Sprintf("the template of %s has changed since: its hash is %s, and was %s", poolObject(m.poolName), want, hash)
}

func hashOf(annotations map[string]string) (version, hash string, ok bool) {
	version, ok = annotations[v1.NodePoolHashVersionAnnotationKey]
	hash, found := annotations[v1.NodePoolHashAnnotationKey]
	return version, hash, ok && found
}

// requirementDrift says what the labels do not satisfy, or nothing.
func (f *Cluster) requirementDrift(m *stateNode, settled bool) string {
	if m.pool.unreadable {
		return ""
	}
	labels := requirements.FromLabels(m.NodeClaim.Labels, f.vocabulary)
	note := ""
	if settled && m.outlivedReservation(f.vocabulary) {
		labels = labels.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
		note = "its reservation is not offered any more, so it is on-demand; "
	}
	var texts []string
	for _, c := range labels.Conflicts(m.pool.requirements, nil) {
		texts = append(texts, c.String())
	}
	if len(texts) == 0 {
		return ""
	}
	return note + strings.Join(texts, "; ")
}

// outlivedReservation reports whether a machine was launched into a reservation
// that the catalog does not have any more.
func (m *stateNode) outlivedReservation(v *requirements.Vocabulary) bool {
	labels := m.NodeClaim.Labels
	if labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeReserved {
		return false
	}
	t := m.pool.types[labels[corev1.LabelInstanceTypeStable]]
	return t != nil && matchOffering(t, labels, labels[corev1.LabelTopologyZone], v1.CapacityTypeReserved, v) == nil
}

// catalogDrift says that the catalog does not have what the machine is, or
// nothing.
func (m *stateNode) catalogDrift(v *requirements.Vocabulary) string {
	labels := m.NodeClaim.Labels
	name, found := labels[corev1.LabelInstanceTypeStable]
	if !found || len(m.pool.types) == 0 {
		return ""
	}
	t := m.pool.types[name]
	if t == nil {
		return fmt.Sprintf("instance type %s is not in the catalog of %s", name, poolObject(m.poolName))
	}
	for i := range t.Offerings {
		if offered(&t.Offerings[i], labels, v) {
			return ""
		}
	}
	return fmt.Sprintf("instance type %s is not offered as %s in %s any more", name,
		cmp.Or(labels[v1.CapacityTypeLabelKey], "any capacity type"), cmp.Or(labels[corev1.LabelTopologyZone], "any zone"))
}

// offered reports whether a machine with such labels can be of an offering.
func offered(o *cloudprovider.Offering, labels map[string]string, v *requirements.Vocabulary) bool {
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone != "" && o.Zone != zone {
		return false
	}
	if capacity == v1.CapacityTypeReserved {
		return o.CapacityType == v1.CapacityTypeReserved || o.CapacityType == v1.CapacityTypeOnDemand
	}
	return (capacity == "" || o.CapacityType == capacity) && agrees(o, labels, v)
}

// drift is the method's part of check.
func (c *check) drift() {
	s, ok := c.cluster.driftOf(c.m)
	switch {
	case !ok:
		c.add(ruleNotDrifted, never, "it is not launched, or being deleted, or without NodePool, so drift is not judged")
	case s.Reason == "":
		c.add(ruleNotDrifted, s.Next, "it matches its NodePool and NodeClass")
	case slices.Contains(c.cluster.opts.Drift.Tolerate, s.Reason):
		c.add(ruleDriftTolerated, s.Next, "drift of kind %s is left until the node expires", s.Reason)
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
// more nodes than replicas, or if it is at its limit of nodes. With
// Options.Drift.TerminateFirst it is deleted first in the latter case, and also
// where all that the template can launch is reserved and full. Whether a node of
// a dynamic pool can be replaced is for a simulation to say.
//
// Blocked are the nodes that have drifted.
func (f *Cluster) drift() Result {
	candidates, blocked := f.Candidates(MethodDrift)
	var r Result
	statuses := map[string]DriftStatus{}
	var static, dynamic []*stateNode
	for i := range candidates {
		m := f.byName[candidates[i].Node]
		statuses[m.name], _ = f.driftOf(m)
		if m.pool.static() {
			static = append(static, m)
		} else {
			dynamic = append(dynamic, m)
		}
	}
	age := func(a, b *stateNode) int {
		return cmp.Or(compareSince(statuses[a.name].Since, statuses[b.name].Since), strings.Compare(a.name, b.name))
	}
	slices.SortFunc(static, func(a, b *stateNode) int {
		return cmp.Or(strings.Compare(a.poolName, b.poolName),
			cmp.Compare(zeroOrOne(a.reservation() == ""), zeroOrOne(b.reservation() == "")), age(a, b))
	})
	slices.SortFunc(dynamic, func(a, b *stateNode) int {
		return cmp.Or(cmp.Compare(zeroOrOne(a.homeless() > 0), zeroOrOne(b.homeless() > 0)), age(a, b))
	})
	s := f.newStaticSlots(MethodDrift, f.opts.Drift.TerminateFirst)
	for _, m := range static {
		if step, ok := s.place(m); ok {
			r.Actions = append(r.Actions, statuses[m.name].action(m, step))
		}
	}
	for _, m := range dynamic {
		step := placement{step: Replace}
		if m.homeless() == 0 {
			step.step = Delete
		}
		r.Actions = append(r.Actions, statuses[m.name].action(m, step))
	}
	r.Blocked = append(without(blocked, ruleUnmanaged, ruleNoNode, ruleNotDrifted), s.blocked...)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	r.Next = soonest(r.Blocked)
	for _, status := range f.Drifts() {
		r.Next = sooner(r.Next, status.Next)
	}
	return r
}

func (s DriftStatus) action(m *stateNode, p placement) Action {
	a := m.action(Drifted, p.step)
	a.Cause, a.StepCause, a.Detail, a.Since, a.DrainBound = s.Reason, p.why, p.detail(s.Detail), s.Since, p.drain
	return a
}
