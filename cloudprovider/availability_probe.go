package cloudprovider

import (
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// ProbeReason is the Reason of a mark that Admit makes.
const ProbeReason = "ProbeBudget"

// Admit returns those of the options of one launch that may be tried now, in
// their order, and counts the launch against the probe budgets. A provider
// calls it in Create, once for each machine, before it asks the cloud, and
// treats an empty result as insufficient capacity.
//
// For each option, in this order:
//
//  1. An option without instance type or offering, or one that a mark covers,
//     is left out.
//  2. If AvailabilityOptions.ProbeBudget is set, an option is on probation for
//     each remembered scope that covers it: one that was refused, and whose
//     mark has ended. If the budget of any such scope is used up in the
//     present period, the option is left out.
//  3. The others are returned, and each scope on probation that covers any of
//     them has one probe less, however many options it covers: the options of
//     one launch stand or fall together.
//
// A scope whose budget is used up by that is marked with ProbeReason to the end
// of the period, so that Apply shows to planners what Admit would say. A refusal
// while that mark stands counts as a new one. The slice is the caller's.
func (a *Availability) Admit(options []LaunchOption) []LaunchOption {
	a.lock()
	defer a.unlock()
	now := a.advance()
	var admitted []LaunchOption
	var probed []*refusal
	for _, o := range options {
		if o.InstanceType == nil || o.Offering == nil {
			continue
		}
		key := o.Key()
		if a.marks.covering(key) != nil {
			continue
		}
		admitted = append(admitted, o)
		if a.opts.ProbeBudget > 0 {
			a.past.covering(key, func(r *refusal) { probed = append(probed, r) })
		}
	}
	counted := make(map[*refusal]bool, len(probed))
	for _, r := range probed {
		if !counted[r] {
			counted[r] = true
			a.probe(now, r)
		}
	}
	a.bound()
	return admitted
}

// probe takes one probe from the budget of a scope. The scope is not marked, so
// some is left.
func (a *Availability) probe(now time.Time, r *refusal) {
	if r.used == 0 || !now.Before(r.period.Add(a.opts.ProbePeriod)) {
		r.used, r.period = 0, now
	}
	if r.used++; r.used < a.opts.ProbeBudget {
		return
	}
	r.probing = true
	until := r.period.Add(a.opts.ProbePeriod)
	a.insert(Mark{Scope: r.scope, Reason: ProbeReason, Since: now, Until: until})
	a.past.rememberUntil(r, until)
}

// Launched tells that the cloud sold the offering. For each remembered scope
// that covers it, unless a refusal still marks the scope, the number of
// refusals is halved, rounded down, and a mark with ProbeReason ends, so that
// the next probe may go at once. At none the scope is off probation and
// forgotten. One success after many refusals thus lets some launches through,
// and a few successes let all.
//
// Marks made by refusals stay: the launch may have begun before. MarkAvailable
// ends them.
func (a *Availability) Launched(key OfferingKey) {
	a.lock()
	defer a.unlock()
	a.advance()
	var sold []*refusal
	a.past.covering(key, func(r *refusal) { sold = append(sold, r) })
	for _, r := range sold {
		m := a.marks.find(r.scope)
		if m != nil && !r.probing {
			continue
		}
		if m != nil {
			a.unmark(m)
		}
		r.probing, r.used = false, 0
		if r.count /= 2; r.count == 0 {
			a.past.drop(r)
		}
	}
}

// Refusals returns how many refusals in a row are remembered of exactly this
// scope, zero if none are. It is above zero only if the options have a MaxTTL or
// a ProbeBudget.
func (a *Availability) Refusals(scope Scope) int {
	a.lock()
	defer a.unlock()
	a.advance()
	if r, found := a.past.records[scope]; found {
		return r.count
	}
	return 0
}

// MarkFromInterruption marks the offering of an instance that the cloud takes
// back: of a spot instance for InterruptionSpot, of a reserved one for
// InterruptionReservation, with the kind as the reason. What the cloud takes
// back it does not sell again at once. It returns the mark in force, and false
// if there is nothing to mark: for every other kind (a machine that failed says
// nothing about stock), for a nil instance or one that the notice is not about,
// and for one whose type or zone is not known.
func (a *Availability) MarkFromInterruption(i *Instance, n Interruption) (Mark, bool) {
	wanted := ""
	switch n.Kind {
	case InterruptionSpot:
		wanted = v1.CapacityTypeSpot
	case InterruptionReservation:
		wanted = v1.CapacityTypeReserved
	default:
		return Mark{}, false
	}
	if i == nil || i.ID != n.InstanceID || i.CapacityType != wanted || i.Type == "" || i.Zone == "" {
		return Mark{}, false
	}
	if wanted == v1.CapacityTypeReserved && i.ReservationID == "" {
		return Mark{}, false // it would mark every reservation of the type
	}
	return a.MarkUnavailable(i.OfferingKey().Scope(), string(n.Kind)), true
}
