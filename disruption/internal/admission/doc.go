// Package admission counts what is on its way out, and says whether one more action may begin:
// by the budgets of NodePools and groups, PodDisruptionBudgets, and the limits of static pools.
//
// Input: a [state.Cluster], each [Bound] of it, and one [Request] after the other. Output: a
// [Refusal], or none. Invariant: what has passed counts for everything after it, whatever its
// reason; what was refused counts for nothing.
package admission
