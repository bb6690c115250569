// Package constraint defines what a kind of constraint between pods is, such as topology spread,
// pod affinity or host ports. Each kind is a package in a folder below this one and a line of the
// list in package kinds. The referee judges the kind by a file and a line of its own in
// provisioning/verify.
//
// Input: a pod. Output: the constraints of a kind that the pod has. Invariant: a kind sees one pod
// at a time, and neither nodes nor classes. Package workload divides pods into classes by their
// constraints, package compile turns constraints into rules, the packer and all passes keep the
// rules, and package explain names them in reasons.
package constraint
