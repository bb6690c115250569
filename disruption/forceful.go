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
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// interruptions is the answer of Cluster.interruption.
type interruptions struct {
	// Result has an action for each node that has to go.
	Result
	// Ignored are the notices that ask for nothing, in the order of At,
	// InstanceID, Kind and ID.
	Ignored []IgnoredNotice
	// Unavailable are the offerings that the cloud is taking back, in their own
	// order: do not launch by them for a while. See
	// availability.Cache.MarkUnavailable.
	Unavailable []cloudprovider.OfferingKey
}

// IgnoredNotice is a notice that asks for nothing.
type IgnoredNotice struct {
	// Interruption is the notice.
	cloudprovider.Interruption
	// Why says why nothing is to be done, in one line without a full stop.
	Why string
}

// String is the notice and why it asks for nothing, in one line.
func (n IgnoredNotice) String() string {
	return fmt.Sprintf("%s of machine %s: %s", n.Kind, n.InstanceID, n.Why)
}

// urgency orders kinds of interruptions, the most urgent first. What is not in
// it asks for nothing.
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
// Of several notices for one node the first in this list decides, and the drain
// must have ended by the earliest deadline of all. The order of actions is that
// of deadlines, nodes without one last, then of the list, then of names. Neither
// budgets nor protection count, except that a node is replaced on a mere
// recommendation only if it could be disrupted otherwise: see Candidates for
// what holds for any method and for the pods. What keeps it is Blocked.
//
// A node that a voluntary decision deals with has to go all the same: the cloud
// does not wait for a replacement.
//
// Notices about machines that are not there, or have no NodeClaim, or are being
// deleted, or dealt with for a reason that is not voluntary, are Ignored, and so
// are recommendations about a node that is dealt with. All notices may be
// acknowledged once the actions are on record.
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
	slices.SortFunc(out.Blocked, Blocked.Compare)
	out.Next = soonest(out.Blocked)
	return out
}

func compareNotices(a, b cloudprovider.Interruption) int {
	return cmp.Or(a.Compare(b), a.Deadline.Compare(b.Deadline), strings.Compare(a.Detail, b.Detail))
}

// compareInterrupted orders actions on nodes, which are by name already.
func compareInterrupted(a, b Action) int {
	kind := func(a Action) int { return urgency(cloudprovider.InterruptionKind(a.Cause)) }
	return cmp.Or(compareSince(a.DrainBy, b.DrainBy), cmp.Compare(kind(a), kind(b)))
}

// ignores says why a notice asks for nothing; empty if it asks for something.
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

// heeds says whether a notice asks for more than what is being done about a
// node already.
func (f *Cluster) heeds(m *state.StateNode, kind cloudprovider.InterruptionKind) bool {
	return !m.Marked() || kind != cloudprovider.InterruptionRebalance && f.seen.Yields(m)
}

// interrupt acts on the notices for one node, of which there is at least one.
func (f *Cluster) interrupt(out *interruptions, m *state.StateNode, notices []cloudprovider.Interruption) {
	decides := slices.MinFunc(notices, func(a, b cloudprovider.Interruption) int {
		return cmp.Compare(urgency(a.Kind), urgency(b.Kind))
	})
	a := actionOn(m, Interrupted, Delete)
	a.Cause, a.Since = string(decides.Kind), decides.At
	a.Detail = cmp.Or(decides.Detail, "the cloud gave notice: "+string(decides.Kind))
	for _, n := range notices {
		a.DrainBy = state.Sooner(a.DrainBy, n.Deadline)
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
		a.Step = Replace
		if blocked := f.check(m, MethodInterruption); len(blocked) > 0 {
			out.Blocked = append(out.Blocked, blocked...)
			return
		}
	}
	out.Actions = append(out.Actions, a)
}

// offeringKey is that of the offering by which the machine was bought. That of
// a reservation is known only if the catalog has it.
func offeringKey(m *state.StateNode) (cloudprovider.OfferingKey, bool) {
	capacity := m.Labels[v1.CapacityTypeLabelKey]
	if m.Offering != nil && m.Offering.CapacityType == capacity {
		return m.Offering.Key(m.InstanceType.Name), true
	}
	key := cloudprovider.OfferingKey{InstanceType: m.Labels[corev1.LabelInstanceTypeStable],
		Zone: m.Labels[corev1.LabelTopologyZone], CapacityType: capacity}
	return key, key.InstanceType != "" && key.Zone != "" && capacity == v1.CapacityTypeSpot
}

// overdue wants to delete NodeClaims that do not come up, by nodeclaim.Overdue, the one
// whose time was up first first, then by name. Nothing is ever Blocked.
func (f *Cluster) overdue() Result {
	var r Result
	for _, m := range f.seen.Nodes {
		if !m.Managed() || m.Marked() {
			continue
		}
		late, next, overdue := nodeclaim.Overdue(m.NodeClaim, m.Node.Node, f.timeouts(), f.seen.Now)
		r.Next = state.Sooner(r.Next, next)
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

// timeouts are how long the start of a node may take.
func (f *Cluster) timeouts() nodeclaim.Timeouts {
	return nodeclaim.Timeouts{Launch: f.opts.Lifecycle.LaunchTimeout, Registration: f.opts.Lifecycle.RegistrationTimeout, Initialization: f.opts.Lifecycle.InitializationTimeout}
}

// garbage compares the nodes with the machines that the cloud has, and wants to
// do away with what is left of either. It finds nothing if Input.Instances is
// nil. In this order:
//
//  1. Delete of a NodeClaim that is registered, and whose machine the cloud does
//     not list, not even as going down, with no time for a drain, as nothing is
//     left to drain. If its Node is Ready it is left alone: a kubelet that runs
//     knows better. Claims that are not registered are the affair of Liveness.
//     One that is being deleted has its drain ended, unless its deadline has come.
//  2. DeleteNode of a Node that has the label karpenter.sh/nodepool, but no
//     NodeClaim, is not Ready, and whose machine is not listed.
//  3. Terminate of a machine that is listed and not going down, and that no
//     NodeClaim speaks for: none has its ID, and none without an ID its name.
//
// Each must have been as old as GarbageGrace at Input.InstancesAt, by when
// it was created, and a claim also by the last transition of its condition
// Launched. What is of unknown age is left alone; of claims see Cluster.Warnings.
// Within each kind the order is by name or ID. Nothing is ever Blocked.
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
			r.Actions = append(r.Actions, Action{Reason: GarbageCollected, Step: Terminate,
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

// drains reports whether the drain of a node that is being deleted can be brought forward.
func (f *Cluster) drains(m *state.StateNode) bool {
	by, _ := drain.Deadline(m.NodeClaim, f.seen.Now)
	return !m.IsTrue(v1.ConditionTypeInstanceTerminating) && (by.IsZero() || by.After(f.seen.Now))
}

// aged reports whether the grace has passed since each of the instants that are
// known, of which there must be one, and notes in r when it will have.
func (f *Cluster) aged(r *Result, instants ...time.Time) bool {
	var last time.Time
	for _, t := range instants {
		if t.After(last) {
			last = t
		}
	}
	if last.IsZero() {
		return false
	}
	due := last.Add(GarbageGrace)
	if at := f.in.InstancesAt; !at.IsZero() && at.Before(f.seen.Now) {
		return !due.After(at) // until there is a newer list, time makes no difference
	}
	if due.After(f.seen.Now) {
		r.Next = state.Sooner(r.Next, due)
		return false
	}
	return true
}

// orphans are the machines that no claim speaks for, by ID.
func (f *Cluster) orphans() []*cloudprovider.Instance {
	ids, names := map[string]bool{}, map[string]bool{}
	// Entries with a fault speak for their machines all the same.
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
	for id, instance := range f.seen.Instances { // sorted below
		if !instance.Deleting && !ids[id] && (instance.Name == "" || !names[instance.Name]) {
			out = append(out, instance)
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// expiration wants to delete nodes whose NodeClaim is as old as its own
// spec.expireAfter, the one that was due first first, then by name. It asks
// neither for a NodePool nor for a Node: claims that stand alone or never came up
// expire as well. What has been asked for before is not changed by an edit of the
// pool, as that is drift.
//
// A claim without a creationTimestamp, as manifests written by hand may be, is of
// unknown age and does not expire; see Cluster.Warnings.
//
// Budgets have no say unless the policy of the pool says so (budgets.Policy.ExpiryUnderBudgets). Nothing is Blocked.
func (f *Cluster) expiration() Result {
	var r Result
	for _, m := range f.seen.Nodes {
		due, expires := f.expiry(m)
		switch {
		case !expires || m.Marked():
		case due.After(f.seen.Now):
			r.Next = state.Sooner(r.Next, due)
		default:
			a := actionOn(m, Expired, Delete)
			a.Since = due
			a.Detail = fmt.Sprintf("expireAfter %s has passed since %s", m.NodeClaim.Spec.ExpireAfter.Duration,
				words.Instant(m.NodeClaim.CreationTimestamp.Time))
			r.Actions = append(r.Actions, a)
		}
	}
	sortActions(r.Actions)
	return r
}

// expiry is when a node expires, if it does and its age is known.
func (f *Cluster) expiry(m *state.StateNode) (due time.Time, expires bool) {
	if !m.HasLifetime() || m.NodeClaim.CreationTimestamp.IsZero() {
		return time.Time{}, false
	}
	return m.NodeClaim.CreationTimestamp.Add(*m.NodeClaim.Spec.ExpireAfter.Duration), true
}
