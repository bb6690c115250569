package disruption

import (
	"context"
	"fmt"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// terminateReserved converts an action that replaces a node of a dynamic pool, and found no place
// for its pods, to one that terminates the node first. The conditions are: the options allow that
// for the reason, the node is in a reservation that is still offered, and all pods that need a
// place have one once the node is gone, in addition to the actions that have begun. What it needs
// is reserved from then on. It reports false otherwise.
//
// For Repair, pods that nothing can evict need room too. For Drift they need none before the drain
// is ended by force.
//
// In that simulation nodes that use a reservation have no other options: a launch with other
// options would have found a place without terminating the node first.
func (p *proposer) terminateReserved(ctx context.Context, a Action) (Action, bool, error) {
	allowed := a.Reason == Drifted && p.opts.Drift.TerminateFirst || a.Reason == Unhealthy && p.opts.Repair.TerminateFirst
	m := p.seen.ByName[a.Targets[0].Node]
	offered := m.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved && m.Reservation() != "" && m.Offering.Available
	if !allowed || p.promised(a) != "" || !m.Pool.Ready() || !offered {
		return a, false, nil
	}
	cs, err := p.sim.First(ctx, m, a.Reason == Unhealthy)
	if err != nil || cs == nil {
		return a, false, err
	}
	a.Operation, a.OperationCause, a.After = TerminateFirst, NoReservedCapacity, cs.After
	a.Detail += fmt.Sprintf("; it goes first, as its pods find a place only once its own in reservation %s is free: %s",
		m.Reservation(), destinationsOf(cs))
	if a.DrainBound == nil && m.ClaimBound() == nil {
		a.DrainBound = new(TerminateFirstDrain)
	}
	return a, true, nil
}
