// Package explain explains why pods of a class are unplaced.
//
// Input: a compile.Problem, the barrier that the attempt met, and what the new nodes use of limits.
// Output: a model.Reason. Invariant: it runs after all decisions and has no influence on a plan.
package explain
