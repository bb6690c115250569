package state

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
)

// LaunchAhead is how long before a pod is ended by force a place for it is planned for: a
// node launches and joins within that time.
const LaunchAhead = 2 * time.Minute

// Departure sorts the pods of a node that goes.
type Departure struct {
	// Displaced need another place now, and Staying do not: pods of DaemonSets, static pods,
	// and Held.
	Displaced, Staying []*corev1.Pod
	// Held are the pods that nothing may evict for longer than LaunchAhead from now: a node
	// that is launched for them would stay empty.
	Held []*PodView
	// Endless are those of Held that no time frees: they have no deadline. The node stays
	// until they end.
	Endless []*PodView
	// Next is when the first of Held needs a place, zero if time alone changes nothing.
	Next time.Time
}

// Departs sorts the pods of a node that goes. by bounds its drain in addition to what its
// NodeClaim says; the zero time does not. Nothing holds pods whose machine is ended by now,
// nor those for whose node a replacement is on its way.
func (f *Cluster) Departs(m *StateNode, by time.Time) Departure {
	end, _ := drain.Deadline(m.NodeClaim, f.Now) // what cannot be read is replaced: see drain.Bound
	end = Sooner(end, by)
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
		d.Next = Sooner(d.Next, due)
	}
	return d
}

// placeDue is when a place for a pod that nothing may evict has to be planned for, given
// the deadline of its drain, zero if that is never.
func (p *PodView) placeDue(deadline time.Time) time.Time {
	end := p.HeldUntil
	if !deadline.IsZero() {
		end = Sooner(end, deadline.Add(-drain.ObservePod(p.Pod, nil).Grace))
	}
	if end.IsZero() {
		return end
	}
	return end.Add(-LaunchAhead)
}
