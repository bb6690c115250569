// Package admission counts the nodes that are on their way out, and decides whether one more action
// may begin, by the budgets of NodePools and groups, by PodDisruptionBudgets, and by the limits of
// static pools.
//
// Input: a [state.Cluster], its [Bound]s, and one [Request] after the other. Output: a [Refusal],
// or nil. Invariant: an action that has passed counts for everything after it, whatever its reason;
// an action that was refused does not count.
package admission
