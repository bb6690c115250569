// Package deletioncost ranks nodes for the pod deletion cost of their pods: a lower number is
// deleted earlier.
//
// Input: the present number of each node, in the order in which the nodes should go. Output:
// ascending numbers. Invariant: as many nodes as possible keep their number, and all numbers are
// negative.
package deletioncost
