// Package state reads an observed cluster: nodes with their pools, machines, prices and pods, and
// the PodDisruptionBudgets of the pods.
//
// Input: a [Snapshot] of Kubernetes objects, at one instant. Output: a [Cluster], and the faults of
// the input. Invariant: the package decides nothing about nodes. Objects of the input are never
// written to, and a Cluster does not change after it is read.
package state
