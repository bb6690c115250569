// Package state is the cluster as it was observed: nodes with their pools, machines, prices
// and pods, and the PodDisruptionBudgets of these.
//
// Input: a [Snapshot] of Kubernetes objects, at one instant. Output: a [Cluster], and what is
// at fault. Invariant: nothing here decides what becomes of a node; an object of the input is
// never written to, and a Cluster does not change once it is read.
package state
