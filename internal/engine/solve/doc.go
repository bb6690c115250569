// Package solve finds the solution of a problem.
//
// Input: a compile.Problem. Output: a Solution, in which every pod has a place or a reason.
// Invariant: of two solutions the one with the better score is kept. What a strategy must know of
// the last solution is in Solution, never in the plan that users see.
//
// Read first: strategies, which lists what is tried and in which order; score, the only comparison
// of solutions; Solver.solve; and assemble, which makes a solution of a packing and has package
// repair run its passes.
package solve
