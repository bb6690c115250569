// Package state is a cluster in which pods are moved and nodes removed and added, one after the
// other, under the constraints between pods.
//
// It takes the nodes of an input and the pods that run on them or wait, and compiles them as the
// pods of a plan. A [State] answers whether kube-scheduler would bind a pod to a node now, counts
// the move, and undoes changes. It counts with the ledger of the engine, so the constraints mean
// what they mean in a plan.
package state
