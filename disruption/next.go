package disruption

import "time"

// Next is the earliest instant after Now at which an answer of the fleet can
// differ by time alone: of Candidates, Settling, Drifts, Actions and Pace of the
// latter. Zero if time alone changes nothing. A change of the input may come
// before.
//
// One thing is not foreseen: LifetimeCost changes all the time, and with it the
// order of nodes that are equally urgent to repair.
func (f *Fleet) Next() time.Time {
	r := f.Actions()
	next := sooner(r.Next, f.Pace(r.Actions).Next)
	for _, method := range []Method{MethodRepair, MethodEmptiness, MethodDrift, MethodConsolidation} {
		_, blocked := f.Candidates(method)
		next = sooner(next, soonest(blocked))
	}
	for _, s := range f.Settling() {
		next = sooner(next, s.Until)
	}
	return next
}
