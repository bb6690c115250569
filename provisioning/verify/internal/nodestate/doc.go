// Package nodestate computes the state of an existing node once it is ready for pods. Input: a
// Node, its NodeClaim and the catalog of its pool. Output: the labels, taints and room that the
// node will have. Invariant: a NodeClaim without an instance has at most the room, and at least the
// capacity, of each instance type that it may become.
package nodestate
