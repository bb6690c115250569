// Package drift says how a node differs from what its NodePool asks for.
//
// Input: a [state.Cluster], one of its nodes, and what the provider says of it. Output: a
// [Status]. Invariant: nothing is decided about the node; what cannot be read is no drift.
package drift
