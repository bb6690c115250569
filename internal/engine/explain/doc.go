// Package explain says why pods of a class have no place.
//
// Input: a compile.Problem, the attempt, what it let through, and what the new nodes take
// of limits. Output: a model.Reason. Invariant: it is asked when all has been decided, and
// has no influence on any plan.
package explain
