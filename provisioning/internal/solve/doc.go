// Package solve finds the solution of a problem.
//
// Input: a compile.Problem. Output: a Solution, in which every pod has a place or a reason.
// Invariant: after each pass of the list in assemble.go the pods that have a place can be bound one by
// one, in an order that the pass returns, by the checks of kube-scheduler. What one pass has to
// tell another is in the Solution or the assembler, never in the plan that a user sees.
//
// Where to begin: Solver.solve, which tries strategies; assemble, which makes a solution of
// what was packed; repair, which runs the passes.
package solve
