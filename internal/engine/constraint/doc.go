// Package constraint says what a kind of constraint between pods is: topology spread, pod
// affinity, host ports. Each kind is a folder below it, and a line of the list in package
// kinds; the referee judges it by a file and a line of its own in provisioning/verify.
//
// Input: a pod. Output: what the pod has of a kind. Invariant: a kind sees one pod at a
// time, and neither nodes nor classes. Package workload tells pods apart by it, compile makes
// rules of it, the packer and all passes keep these, explain and the words of reasons name it.
package constraint
