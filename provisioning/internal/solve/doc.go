// Package solve finds the solution of a problem.
//
// Input: a compile.Problem. Output: a Solution, in which every pod has a place or a reason.
// Invariant: after each pass of the list in passes.go the pods that have a place can be bound one by
// one, in an order that the pass returns, by the checks of kube-scheduler. What one pass has to
// tell another is in the Solution or the assembler, never in the plan that a user sees.
//
// Where to begin: strategies and passes, two lists which say what is tried and in which
// order; score, which alone compares solutions; Solver.solve; assemble, which makes a
// solution of what was packed.
package solve
