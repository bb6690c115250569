// Package verify is the referee of plans: it judges any plan, whoever made it, against the input that it is for, by the
// rules of kube-scheduler and of NodePools.
//
// It shares no code with the solver, only the types of package provisioning and the algebra of labels and resources: a
// mistake in code that both used would be made twice and found by neither. It is plain on purpose, and about as fast as a
// solve.
//
// The packages in its internal folder read nodes, pods, storage objects and devices, each by itself; the referee compares them
// with each other and with the plan. Constraints between pods are the list in constraints.go, with a file for each kind.
//
// [Plan] says which rules a plan breaks, [Unplaced] which pods it left pending that have a place in it.
package verify
