// Package randproblem makes up provisioning problems for tests: the same
// problem for the same seed, on every machine and in every version of Go.
//
// Random problems are worth little where everything is easy, so the ones made
// here are full of edges: pools that may launch nothing, offerings that are
// sold out, labels that an instance type leaves open, amounts that fit to the
// byte, nodes half way through their start, NodeClaims that nothing is launched
// for, DaemonSets that run on some options only, selections that contradict
// themselves. Draw adds what pods have to do with each other and with volumes:
// constraints that select other workloads or not even their own, several on one
// key, bound pods that keep others away, zones that only existing nodes have,
// reservations that pools compete for, claims in states that no pod can use.
// Still every problem is well-formed: Prepare has no reason to refuse it.
//
// # Model
//
// A problem is drawn in this order: its size, a catalog, pools with their own
// view of the catalog, DaemonSets, existing nodes with bound pods, and pods in
// shapes of which each has a few copies. Labels, taints and values come from
// one short table, so that what one object asks for another often has. That is
// the problem of New. Draw then goes over it feature by feature, each of which
// a Config can leave out, then over the extras that it asks for, and DrawOptions makes up options to go with it.
//
// # Guarantees
//
// Problems of one seed are equal. Draw without any feature is New.
//
// # Left out
//
// There is no promise on how often an edge comes up, nor that a seed keeps its
// problem from one version of this package to the next. Tests name seeds in
// failure messages only.
package randproblem
