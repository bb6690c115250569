package disruption

import (
	"context"
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// terminateReserved makes an action that wants to replace a node of a dynamic
// pool, and found no place for its pods, one that terminates it first: if the
// options allow that for the reason, the node holds a place in a reservation that
// is still offered, and all pods that need a place find one once that place is
// free, beside what has begun. What it needs is taken from then on. It reports
// false otherwise.
//
// Repair makes room for pods that nothing can evict as well. For Drift they need
// none before the drain is ended by force.
//
// Nothing but reserved capacity is named beside a reservation in that
// simulation: a launch that could end up elsewhere would have found a place
// without ending the node.
func (p *proposer) terminateReserved(ctx context.Context, a Action) (Action, bool, error) {
	if !p.mayTerminateFirst(a.Reason) || p.promised(a) != "" {
		return a, false, nil
	}
	m := p.seen.ByName[a.Targets[0].Node]
	if !m.Pool.Ready() || !holdsReservation(m) {
		return a, false, nil
	}
	cs, err := p.sim.First(ctx, m, a.Reason == Unhealthy)
	if err != nil || cs == nil {
		return a, false, err
	}
	a.Step, a.StepCause, a.After = TerminateFirst, NoReservedCapacity, cs.After
	a.Detail += fmt.Sprintf("; it goes first, as its pods find a place only once its own in reservation %s is free: %s",
		m.Reservation(), destinationsOf(cs))
	if a.DrainBound == nil && m.ClaimBound() == nil {
		a.DrainBound = new(TerminateFirstDrain)
	}
	return a, true, nil
}

// mayTerminateFirst reports whether nodes may be terminated first for a reason.
func (f *Cluster) mayTerminateFirst(r Reason) bool {
	switch r {
	case Drifted:
		return f.opts.Drift.TerminateFirst
	case Unhealthy:
		return f.opts.Repair.TerminateFirst
	}
	return false
}

// holdsReservation reports whether the node has a place in a reservation that is
// still offered.
func holdsReservation(m *state.StateNode) bool {
	return m.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved && m.Reservation() != "" && m.Offering.Available
}
