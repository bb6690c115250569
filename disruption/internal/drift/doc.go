// Package drift reports how a node differs from what its NodePool specifies.
//
// Input: a [state.Cluster], one of its nodes, and the provider's answer about the node. Output: a
// [Status]. Invariant: the package decides nothing about the node; unreadable data is no drift.
package drift
