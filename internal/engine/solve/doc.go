// Package solve finds the solution of a problem.
//
// Input: a compile.Problem. Output: a Solution, in which every pod has a place or a reason.
// Invariant: of two solutions the one with the better score is kept; what a strategy has to
// know of the last solution is in Solution and in repair.Done, never in the plan that a user
// sees.
//
// Where to begin: strategies, the list which says what is tried and in which order; score,
// which alone compares solutions; Solver.solve; assemble, which makes a solution of what was
// packed and has package repair run its passes over it.
package solve
