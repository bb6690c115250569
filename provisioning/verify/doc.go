// Package verify is the referee of plans: it checks any plan, whichever program made it, against
// its input by the rules of kube-scheduler and of NodePools.
//
// It shares no code with the solver, only the types of package provisioning, the algebra of labels
// and resources, and the functions of Kubernetes for node affinity and tolerations: a mistake in
// shared code would be in both and found by neither. It is deliberately simple, and about as fast
// as a solve.
//
// The packages in its internal folder read nodes, pods, storage objects and devices, each
// separately; the referee compares these with each other and with the plan. constraints.go lists
// the constraints between pods, and each kind has a file.
//
// [Plan] returns the rules that a plan breaks, and [Unplaced] the unplaced pods that do have a
// place.
package verify
