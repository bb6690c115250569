package state

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// LaunchAhead is how long before the forced end of a pod its new place is planned for. A node
// launches and joins within that time.
const LaunchAhead = 2 * time.Minute

// Departure divides the pods of a node that is removed.
type Departure struct {
	// Displaced are the pods that need another place now. Staying are the others: pods of
	// DaemonSets, static pods, and Held.
	Displaced, Staying []*corev1.Pod
	// Held are the pods that nothing may evict for longer than LaunchAhead from now. A node
	// launched for them now would stay empty.
	Held []*PodView
	// Endless are the pods of Held without a deadline. The node stays until they end.
	Endless []*PodView
	// Next is when the first of Held needs a place; zero if none will.
	Next time.Time
}

// Departs divides the pods of a node that is removed. by limits its drain in addition to the
// NodeClaim; the zero time does not. No pod is held if its machine is being terminated, or if a
// replacement of its node is being launched.
func (f *Cluster) Departs(m *StateNode, by time.Time) Departure {
	end, _ := drain.Deadline(f.Now, m.NodeClaim) // a bound that cannot be read is replaced: see drain.Bound
	end = order.Sooner(end, by)
	free := m.IsTrue(v1.ConditionTypeInstanceTerminating) || m.Underway && !m.Leaving
	var d Departure
	for _, p := range m.PodViews {
		if !p.Reschedulable {
			d.Staying = append(d.Staying, p.Pod)
			continue
		}
		due, held := p.placeDue(end), p.Stuck() && !free
		if !held || !due.IsZero() && !due.After(f.Now) {
			d.Displaced = append(d.Displaced, p.Pod)
			continue
		}
		d.Staying, d.Held = append(d.Staying, p.Pod), append(d.Held, p)
		if due.IsZero() {
			d.Endless = append(d.Endless, p)
		}
		d.Next = order.Sooner(d.Next, due)
	}
	return d
}

// placeDue returns when a new place for a held pod has to be planned for, given the deadline of its
// drain; zero if never.
func (p *PodView) placeDue(deadline time.Time) time.Time {
	end := p.HeldUntil
	if !deadline.IsZero() {
		end = order.Sooner(end, deadline.Add(-drain.ObservePod(p.Pod, nil).Grace))
	}
	if end.IsZero() {
		return end
	}
	return end.Add(-LaunchAhead)
}
