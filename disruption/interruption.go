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
)

// Interruptions is the answer of Fleet.Interruption.
type Interruptions struct {
	// Result has an action for each node that has to go.
	Result
	// Ignored are the notices that ask for nothing, in the order of At,
	// InstanceID, Kind and ID.
	Ignored []IgnoredNotice
	// Unavailable are the offerings that the cloud is taking back, in their own
	// order: do not launch by them for a while. See
	// cloudprovider.Availability.
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

// Interruption acts on the notices of the cloud:
//
//	Unhealthy                    delete, without a drain
//	Stopping                     delete
//	SpotInterrupted              delete; the offering is Unavailable
//	ReservationInterrupted       delete; the offering is Unavailable
//	Maintenance                  delete
//	RebalanceRecommended         nothing; with Options.ActOnRebalance, replace
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
func (f *Fleet) Interruption() Interruptions {
	var out Interruptions
	of := map[string][]*member{}
	for _, m := range f.members {
		if id := m.providerID(); id != "" {
			of[id] = append(of[id], m)
		}
	}
	notices := slices.Clone(f.in.Interruptions)
	slices.SortStableFunc(notices, compareNotices)
	due := map[*member][]cloudprovider.Interruption{}
	for _, n := range notices {
		why := f.ignores(n, of[n.InstanceID])
		if why != "" {
			out.Ignored = append(out.Ignored, IgnoredNotice{Interruption: n, Why: why})
			continue
		}
		for _, m := range of[n.InstanceID] {
			if m.managed() && f.heeds(m, n.Kind) {
				due[m] = append(due[m], n)
			}
		}
	}
	for _, m := range f.members {
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
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.InstanceID, b.InstanceID),
		strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.ID, b.ID),
		a.Deadline.Compare(b.Deadline), strings.Compare(a.Detail, b.Detail))
}

// compareInterrupted orders actions on nodes, which are by name already.
func compareInterrupted(a, b Action) int {
	kind := func(a Action) int { return urgency(cloudprovider.InterruptionKind(a.Cause)) }
	return cmp.Or(compareSince(a.DrainBy, b.DrainBy), cmp.Compare(kind(a), kind(b)))
}

// ignores says why a notice asks for nothing; empty if it asks for something.
func (f *Fleet) ignores(n cloudprovider.Interruption, members []*member) string {
	switch {
	case urgency(n.Kind) < 0:
		return fmt.Sprintf("its kind %q is not known", n.Kind)
	case len(members) == 0:
		return "no node has this machine"
	case n.Kind == cloudprovider.InterruptionRebalance && !f.opts.ActOnRebalance:
		return "it is a recommendation"
	case !slices.ContainsFunc(members, (*member).managed):
		return "the node has no NodeClaim, so somebody else manages it"
	case !slices.ContainsFunc(members, func(m *member) bool { return m.managed() && f.heeds(m, n.Kind) }):
		return "the node is on its way out already"
	}
	return ""
}

// heeds says whether a notice asks for more than what is being done about a
// node already.
func (f *Fleet) heeds(m *member, kind cloudprovider.InterruptionKind) bool {
	return !m.marked() || kind != cloudprovider.InterruptionRebalance && f.yields(m, Interrupted)
}

// yields reports whether a voluntary decision that deals with a node gives way to
// an action: the machine is about to be taken away, replaced or not.
func (f *Fleet) yields(m *member, r Reason) bool {
	return r == Interrupted && m.underway && !m.leaving && Voluntary(f.in.Underway[m.name])
}

// interrupt acts on the notices for one node, of which there is at least one.
func (f *Fleet) interrupt(out *Interruptions, m *member, notices []cloudprovider.Interruption) {
	decides := slices.MinFunc(notices, func(a, b cloudprovider.Interruption) int {
		return cmp.Compare(urgency(a.Kind), urgency(b.Kind))
	})
	a := m.action(Interrupted, Delete)
	a.Cause, a.Since = string(decides.Kind), decides.At
	a.Detail = cmp.Or(decides.Detail, "the cloud gave notice: "+string(decides.Kind))
	for _, n := range notices {
		a.DrainBy = sooner(a.DrainBy, n.Deadline)
		if n.Kind == cloudprovider.InterruptionSpot || n.Kind == cloudprovider.InterruptionReservation {
			if key, ok := m.offeringKey(); ok {
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
func (m *member) offeringKey() (cloudprovider.OfferingKey, bool) {
	capacity := m.labels[v1.CapacityTypeLabelKey]
	if m.offering != nil && m.offering.CapacityType == capacity {
		return m.offering.Key(m.instanceType.Name), true
	}
	key := cloudprovider.OfferingKey{InstanceType: m.labels[corev1.LabelInstanceTypeStable],
		Zone: m.labels[corev1.LabelTopologyZone], CapacityType: capacity}
	return key, key.InstanceType != "" && key.Zone != "" && capacity == v1.CapacityTypeSpot
}
