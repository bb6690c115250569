// Package randproblem generates provisioning problems for tests: the same problem for the same
// seed, on every machine and in every version of Go.
//
// Random problems test little if everything is easy, so these are full of edge cases: pools that
// may launch nothing, offerings that are sold out, labels that an instance type leaves open,
// amounts that fit to the byte, nodes that are starting, NodeClaims that are not launched,
// DaemonSets that run on some options only, selections that contradict themselves. Draw adds
// constraints between pods, and volumes: constraints that select other workloads or not even their
// own, several on one key, bound pods that exclude others, zones that only existing nodes have,
// reservations that pools compete for, claims in states that no pod can use. Every problem is still
// well-formed: Prepare accepts it.
//
// # Model
//
// A problem is drawn in this order: its size, a catalog, pools with their own view of the catalog,
// DaemonSets, existing nodes with bound pods, and pods in shapes of which each has a few copies.
// Labels, taints and values come from one short table, so that an object often has a label that
// another requires. This is the problem of New. Draw then adds features one by one, each of which a
// Config can leave out, then the extras that the Config names. DrawOptions draws options for the
// problem.
//
// # Guarantees
//
// Problems of one seed are equal. Draw without any feature is New.
//
// # Left out
//
// The frequency of edge cases, and the problem of a seed, may change with any version of this
// package. Tests name seeds in failure messages only.
package randproblem
