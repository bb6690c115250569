// Package verify is the referee of plans: it judges any plan, whoever made it, against
// the input that it is for, by the rules of kube-scheduler and of NodePools.
//
// It shares no code with the solver, only the types of package provisioning and the
// algebra of labels and resources: a mistake in code that both used would be made twice
// and found by neither. It is plain on purpose, and about as fast as a solve.
//
// What nodes, pods, storage objects and devices say by themselves is read by packages in its
// internal folder, for which only the public engine and internal/podlife exist; here they are held
// against each other and against the plan. Another one finds objects that contradict each other.
// Constraints between pods are the list in constraints.go, a file for each kind.
//
// [Plan] says which rules a plan breaks, [Unplaced] which pods it left pending that have
// a place in it.
package verify
