// Package advice says what each constraint of a cluster costs: what the bill would be
// without it, and which pods would find a place.
//
// Constraints lists the constraints of an input: requirements, minValues, taints, limits
// and weights of NodePools, and selectors, affinity, topology spread, host ports,
// preferences and requests of workloads. Ask solves the input as it is and without the
// constraints that promise most, one at a time, and answers with the dearest first. What
// disruption budgets keep from being saved is for package compare to say.
//
// The engine is asked, and nothing is read off shadow prices: a node is bought whole, and
// what a constraint costs is seldom in proportion to it. A quick pass over all of them says
// which to ask about thoroughly. What a price says is what provisioning.Solve finds for
// Constraint.Without of the input, to the cent, and so what package compare finds when the
// change is made; how far that is from the best plans that there are is Price.AtLeast and
// Price.AtMost.
//
// To learn what a cluster that runs would cost, empty it first, as compare.Emptied does:
// pods that have a place already cost nothing here.
//
// A constraint may be there for a reason that no bill shows: a zone spread for the day
// when the zone is gone. Advice is a price, and no judgement.
//
// All functions are pure: the same input gives the same answer, and nothing is written to.
// They may be called from any number of goroutines. Ask starts goroutines of its own only
// where Options.Parallel asks for them, and they end before it returns.
package advice
