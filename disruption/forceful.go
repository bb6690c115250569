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
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// interruptions is the result of Cluster.interruption.
type interruptions struct {
	// Result has an action for each node that must be removed.
	Result
	// Ignored are the notices that require no action, in the order of At, InstanceID, Kind and ID.
	Ignored []IgnoredNotice
	// Unavailable are the offerings that the cloud is taking back, sorted: do not launch by them
	// for a while. See availability.Cache.MarkUnavailable.
	Unavailable []cloudprovider.OfferingKey
}

// IgnoredNotice is a notice that requires no action.
type IgnoredNotice struct {
	// Interruption is the notice.
	cloudprovider.Interruption
	// Why says why no action is needed, on one line without a full stop.
	Why string
}

// String renders the notice and why it requires no action on one line.
func (n IgnoredNotice) String() string {
	return fmt.Sprintf("%s of machine %s: %s", n.Kind, n.InstanceID, n.Why)
}

// urgency returns the position of a kind of interruption, the most urgent first; -1 for a kind that
// requires no action.
func urgency(k cloudprovider.InterruptionKind) int {
	return slices.Index([]cloudprovider.InterruptionKind{
		cloudprovider.InterruptionUnhealthy,
		cloudprovider.InterruptionStopping,
		cloudprovider.InterruptionSpot,
		cloudprovider.InterruptionReservation,
		cloudprovider.InterruptionMaintenance,
		cloudprovider.InterruptionRebalance,
	}, k)
}

// interruption acts on the notices of the cloud:
//
//	Unhealthy                    delete, without a drain
//	Stopping                     delete
//	SpotInterrupted              delete; the offering is Unavailable
//	ReservationInterrupted       delete; the offering is Unavailable
//	Maintenance                  delete
//	RebalanceRecommended         nothing; with Options.Lifecycle.ActOnRebalance, replace
//
// Of several notices for one node the first kind in this list is chosen, and the drain must have
// ended by the earliest deadline of all. Actions are sorted by deadline, nodes without one last,
// then by this list, then by name. Budgets and protection are ignored, with one exception: a node
// is replaced on a recommendation only if it could be disrupted otherwise, by the rules for any
// method and for the pods in Candidates. What prevents that is Blocked.
//
// A node that a voluntary decision deals with is deleted too: the cloud does not wait for a
// replacement.
//
// Notices are Ignored if their machine does not exist, has no NodeClaim, is being deleted, or is
// dealt with for a reason that is not voluntary. Recommendations are also Ignored for any node that
// is dealt with. All notices may be acknowledged once the actions are recorded.
func (f *Cluster) interruption() interruptions {
	var out interruptions
	of := map[string][]*state.StateNode{}
	for _, m := range f.seen.Nodes {
		if id := m.ProviderID(); id != "" {
			of[id] = append(of[id], m)
		}
	}
	notices := slices.Clone(f.in.Interruptions)
	slices.SortStableFunc(notices, compareNotices)
	due := map[*state.StateNode][]cloudprovider.Interruption{}
	for _, n := range notices {
		why := f.ignores(n, of[n.InstanceID])
		if why != "" {
			out.Ignored = append(out.Ignored, IgnoredNotice{Interruption: n, Why: why})
			continue
		}
		for _, m := range of[n.InstanceID] {
			if m.Managed() && f.heeds(m, n.Kind) {
				due[m] = append(due[m], n)
			}
		}
	}
	for _, m := range f.seen.Nodes {
		if len(due[m]) > 0 {
			f.interrupt(&out, m, due[m])
		}
	}
	slices.SortStableFunc(out.Actions, compareInterrupted)
	slices.SortFunc(out.Unavailable, cloudprovider.OfferingKey.Compare)
	out.Unavailable = slices.Compact(out.Unavailable)
	return out
}

func compareNotices(a, b cloudprovider.Interruption) int {
	return cmp.Or(a.Compare(b), a.Deadline.Compare(b.Deadline), strings.Compare(a.Detail, b.Detail))
}

// compareInterrupted orders actions on nodes that are sorted by name already.
func compareInterrupted(a, b Action) int {
	kind := func(a Action) int { return urgency(cloudprovider.InterruptionKind(a.Cause)) }
	return cmp.Or(order.Instants(a.DrainBy, b.DrainBy), cmp.Compare(kind(a), kind(b)))
}

// ignores says why a notice requires no action; "" if it requires one.
func (f *Cluster) ignores(n cloudprovider.Interruption, members []*state.StateNode) string {
	switch {
	case urgency(n.Kind) < 0:
		return fmt.Sprintf("its kind %q is not known", n.Kind)
	case len(members) == 0:
		return "no node has this machine"
	case n.Kind == cloudprovider.InterruptionRebalance && !f.opts.Lifecycle.ActOnRebalance:
		return "it is a recommendation"
	case !slices.ContainsFunc(members, (*state.StateNode).Managed):
		return "the node has no NodeClaim, so somebody else manages it"
	case !slices.ContainsFunc(members, func(m *state.StateNode) bool { return m.Managed() && f.heeds(m, n.Kind) }):
		return "the node is on its way out already"
	}
	return ""
}

// heeds says whether a notice requires more than the current action on a node.
func (f *Cluster) heeds(m *state.StateNode, kind cloudprovider.InterruptionKind) bool {
	return !m.Marked() || kind != cloudprovider.InterruptionRebalance && f.seen.Yields(m)
}

// interrupt adds the action for the notices of one node, of which there is at least one.
func (f *Cluster) interrupt(out *interruptions, m *state.StateNode, notices []cloudprovider.Interruption) {
	decides := slices.MinFunc(notices, func(a, b cloudprovider.Interruption) int {
		return cmp.Compare(urgency(a.Kind), urgency(b.Kind))
	})
	a := actionOn(m, Interrupted, Delete)
	a.Cause, a.Since = string(decides.Kind), decides.At
	a.Detail = cmp.Or(decides.Detail, "the cloud gave notice: "+string(decides.Kind))
	for _, n := range notices {
		a.DrainBy = order.Sooner(a.DrainBy, n.Deadline)
		if n.Kind == cloudprovider.InterruptionSpot || n.Kind == cloudprovider.InterruptionReservation {
			if key, ok := offeringKey(m); ok {
				out.Unavailable = append(out.Unavailable, key)
			}
		}
	}
	switch decides.Kind {
	case cloudprovider.InterruptionUnhealthy:
		a.DrainBound = new(time.Duration)
	case cloudprovider.InterruptionRebalance:
		a.Operation = Replace
		if blocked := f.check(m, MethodInterruption); len(blocked) > 0 {
			out.Blocked = append(out.Blocked, blocked...)
			return
		}
	}
	out.Actions = append(out.Actions, a)
}

// offeringKey returns the key of the offering by which a machine was launched. That of a
// reservation is known only if the catalog has it.
func offeringKey(m *state.StateNode) (cloudprovider.OfferingKey, bool) {
	capacity := m.Labels[v1.CapacityTypeLabelKey]
	if m.Offering != nil && m.Offering.CapacityType == capacity {
		return m.Offering.Key(m.InstanceType.Name), true
	}
	key := cloudprovider.OfferingKey{InstanceType: m.Labels[corev1.LabelInstanceTypeStable],
		Zone: m.Labels[corev1.LabelTopologyZone], CapacityType: capacity}
	return key, key.InstanceType != "" && key.Zone != "" && capacity == v1.CapacityTypeSpot
}

// overdue proposes to delete NodeClaims that do not start in time, by nodeclaim.Overdue, sorted by
// the end of their time and then by name. Nothing is Blocked.
func (f *Cluster) overdue() Result {
	var r Result
	for _, m := range f.seen.Nodes {
		if !m.Managed() || m.Marked() {
			continue
		}
		late, next, overdue := nodeclaim.Overdue(f.seen.Now, m.NodeClaim, m.Node.Node, &f.seen.In.Timeouts)
		r.Next = order.Sooner(r.Next, next)
		if overdue {
			a := actionOn(m, late.Reason, Delete)
			a.Since = late.At()
			a.Detail = fmt.Sprintf("condition %s has not been True for %s, since %s", late.Condition, late.Timeout, words.Instant(late.Since))
			r.Actions = append(r.Actions, a)
		}
	}
	sortActions(r.Actions)
	return r
}

// garbage compares the nodes with the machines of the cloud and proposes to remove what remains of
// either. It proposes nothing if Input.Instances is nil. In this order:
//
//  1. Delete of a registered NodeClaim whose machine the cloud does not list, not even as being
//     terminated. There is no time for a drain, because nothing is left to drain. If its Node is
//     Ready nothing is done: the running kubelet proves that the machine exists. NodeClaims that
//     are not registered are left to their timeouts. If the NodeClaim is being deleted, its drain
//     is ended unless the deadline has passed.
//  2. DeleteNode of a Node with the label karpenter.sh/nodepool that has no NodeClaim, is not
//     Ready, and whose machine is not listed.
//  3. Terminate of a machine that is listed, not being terminated, and without a NodeClaim: no
//     claim has its ID, and no claim without an ID has its name.
//
// Each must have been older than GarbageGrace at Input.InstancesAt, by its creation and, for a
// claim, by the last transition of its condition Launched. Objects of unknown age are not removed;
// for claims see Cluster.Warnings. Each kind is sorted by name or ID. Nothing is Blocked.
func (f *Cluster) garbage() Result {
	var r Result
	if f.in.Instances == nil {
		return r
	}
	for _, m := range f.seen.Nodes {
		if m.Managed() && f.lost(m) && f.aged(&r, m.NodeClaim.CreationTimestamp.Time, m.LaunchedAt()) {
			a := actionOn(m, GarbageCollected, Delete)
			a.DrainBound = new(time.Duration)
			a.Detail = fmt.Sprintf("the cloud has no machine %s any more", m.ProviderID())
			r.Actions = append(r.Actions, a)
		}
	}
	for _, m := range f.seen.Nodes {
		if !m.Managed() && f.lost(m) && f.aged(&r, m.Node.Node.CreationTimestamp.Time) {
			a := actionOn(m, GarbageCollected, DeleteNode)
			a.Detail = fmt.Sprintf("it has no NodeClaim, and the cloud no machine %s any more", m.ProviderID())
			r.Actions = append(r.Actions, a)
		}
	}
	for _, instance := range f.orphans() {
		if f.aged(&r, instance.CreatedAt) {
			r.Actions = append(r.Actions, Action{Reason: GarbageCollected, Operation: Terminate,
				Targets: []Target{{NodePool: instance.NodePool, ProviderID: instance.ID}},
				Detail:  "no NodeClaim speaks for the machine"})
		}
	}
	return r
}

// lost reports whether a node has lost its machine.
func (f *Cluster) lost(m *state.StateNode) bool {
	if m.Ready() || m.ProviderID() == "" || f.seen.Instances[m.ProviderID()] != nil {
		return false
	}
	if m.Marked() && !(m.Leaving && m.Managed() && f.drains(m)) {
		return false
	}
	if m.Managed() {
		return m.IsTrue(v1.ConditionTypeRegistered) || m.Registered()
	}
	return m.PoolName != ""
}

// drains reports whether the end of the drain of a node being deleted can be brought forward.
func (f *Cluster) drains(m *state.StateNode) bool {
	by, _ := drain.Deadline(f.seen.Now, m.NodeClaim)
	return !m.IsTrue(v1.ConditionTypeInstanceTerminating) && (by.IsZero() || by.After(f.seen.Now))
}

// aged reports whether the grace period has passed since all of the known instants, at least one of
// which must be known. Otherwise it records in r when it will have passed.
func (f *Cluster) aged(r *Result, instants ...time.Time) bool {
	last := slices.MaxFunc(instants, time.Time.Compare)
	if last.IsZero() {
		return false
	}
	due := last.Add(GarbageGrace)
	if at := f.in.InstancesAt; !at.IsZero() && at.Before(f.seen.Now) {
		return !due.After(at) // time makes no difference until there is a newer list
	}
	if due.After(f.seen.Now) {
		r.Next = order.Sooner(r.Next, due)
		return false
	}
	return true
}

// orphans returns the machines without a NodeClaim, sorted by ID.
func (f *Cluster) orphans() []*cloudprovider.Instance {
	ids, names := map[string]bool{}, map[string]bool{}
	// Entries at fault still count for their machines.
	for _, n := range f.in.Nodes {
		switch {
		case n.NodeClaim == nil:
		case n.NodeClaim.Status.ProviderID != "":
			ids[n.NodeClaim.Status.ProviderID] = true
		default:
			names[n.NodeClaim.Name] = true
			if n.Node != nil && n.Node.Spec.ProviderID != "" {
				ids[n.Node.Spec.ProviderID] = true
			}
		}
	}
	var out []*cloudprovider.Instance
	for id, instance := range f.seen.Instances { // the order does not matter: the list is sorted below
		if !instance.Deleting && !ids[id] && (instance.Name == "" || !names[instance.Name]) {
			out = append(out, instance)
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// expiration proposes to delete nodes whose NodeClaim has reached the age of its own
// spec.expireAfter, sorted by when they expired and then by name. Neither a NodePool nor a Node is
// needed: NodeClaims without a pool, and those that never started, expire as well. An edit of the
// pool does not change existing claims, because that is drift.
//
// A claim without a creationTimestamp, as in manifests written by hand, is of unknown age and does
// not expire; see Cluster.Warnings.
//
// Budgets apply only if the policy of the pool says so (budgets.Policy.ExpiryUnderBudgets). Nothing
// is Blocked.
func (f *Cluster) expiration() Result {
	var r Result
	for _, m := range f.seen.Nodes {
		if !m.HasLifetime() || m.NodeClaim.CreationTimestamp.IsZero() || m.Marked() {
			continue
		}
		created, lifetime := m.NodeClaim.CreationTimestamp.Time, *m.NodeClaim.Spec.ExpireAfter.Duration
		due := created.Add(lifetime)
		if due.After(f.seen.Now) {
			r.Next = order.Sooner(r.Next, due)
			continue
		}
		a := actionOn(m, Expired, Delete)
		a.Since, a.Detail = due, fmt.Sprintf("expireAfter %s has passed since %s", lifetime, words.Instant(created))
		r.Actions = append(r.Actions, a)
	}
	sortActions(r.Actions)
	return r
}
