package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// terminateReserved makes an action that wants to replace a node of a dynamic
// pool, and found no place for its pods, one that terminates it first: if the
// options allow that for the reason, the node holds a place in a reservation that
// is still offered, and all pods that need a place would have one if that place
// were free. It reports false otherwise.
//
// Nothing but reserved capacity is named beside a reservation in that
// simulation: a launch that could end up elsewhere would have found a place
// without ending the node.
func (f *Cluster) terminateReserved(ctx context.Context, a Action) (Action, bool, error) {
	if !f.mayTerminateFirst(a.Reason) || a.Step != Replace || len(a.Targets) != 1 {
		return a, false, nil
	}
	m := f.seen.ByName[a.Targets[0].Node]
	if m == nil || m.Pool == nil || m.Pool.Static() || !m.Pool.Ready() || !holdsReservation(m) {
		return a, false, nil
	}
	var opts provisioning.Options
	if f.opts.Provisioning != nil {
		opts = *f.opts.Provisioning
	}
	opts.Reserved = provisioning.ReservedStrict
	in := f.in.Input
	in.InstanceTypes = credited(in.InstanceTypes, m.Reservation())
	problem, err := provisioning.Prepare(in, &opts)
	if err == nil {
		problem, err = problem.Without(m.Name)
	}
	if err != nil {
		return a, false, nil // faults of the input are reported elsewhere
	}
	plan, err := problem.Solve(progress.With(ctx, nil))
	if err != nil {
		return a, false, err
	}
	for _, u := range plan.Unplaced {
		if needsPlace(m, u.Pod) {
			return a, false, nil
		}
	}
	a.Step, a.StepCause = TerminateFirst, NoReservedCapacity
	pods := map[string]bool{}
	nameMovable(m, pods)
	a.Detail += fmt.Sprintf("; it goes first, as its pods find a place only once its own in reservation %s is free: %s",
		m.Reservation(), destinationsIn(plan, pods))
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

// needsPlace reports whether a pod runs on the node and needs another place when
// that goes. Those that nothing can evict need none before the drain is ended by
// force.
func needsPlace(m *state.StateNode, pod *corev1.Pod) bool {
	i := slices.IndexFunc(m.PodViews, func(p *state.PodView) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	return i >= 0 && m.PodViews[i].Reschedulable && !m.PodViews[i].Stuck()
}

// credited is a catalog in which a reservation has one more place.
func credited(types map[string][]*cloudprovider.InstanceType, reservation string) map[string][]*cloudprovider.InstanceType {
	a := aftermath{in: Input{Input: provisioning.Input{InstanceTypes: types}}, reserved: map[string]int{reservation: 1}}
	return a.catalogs()
}
