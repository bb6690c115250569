// Package advice computes the price of each constraint of a cluster: the saving without it, and the
// pods that would be placed.
//
// Constraints lists the constraints of an input: requirements, minValues, taints, limits and
// weights of NodePools, and selectors, affinity, topology spread, host ports, preferences and
// requests of workloads. Ask solves the input with all constraints and without the most promising
// ones, one at a time, and returns the most expensive first. Package compare finds the savings that
// disruption budgets prevent.
//
// Every price is computed by solving again. Shadow prices would be wrong, because nodes are bought
// whole, so the cost of a constraint is seldom proportional to it. A quick pass over all
// constraints selects those to solve thoroughly. A price is exactly the difference that
// provisioning.Solve finds for Constraint.Without, and therefore the one that package compare finds
// when the change is made. Price.AtLeast and Price.AtMost bound the difference between optimal
// plans.
//
// To learn the cost of a running cluster, first empty it with compare.Emptied, because pods that
// already have a place cost nothing here.
//
// A constraint may have a reason that no bill shows, such as a zone spread for the day on which a
// zone fails. A price does not say that the constraint is wrong.
//
// All functions are pure: the same input gives the same answer, and nothing is modified. They are
// safe for concurrent use. Ask starts goroutines unless Options.Parallel is 1, and they end
// before it returns.
package advice
