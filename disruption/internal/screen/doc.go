// Package screen estimates, in microseconds, what removing nodes of a cluster would save: which of
// their pods fit on other nodes, and a lower bound on the price of new nodes for the rest.
//
// # Model
//
//   - Pods are counted by class: pods of a class have equal requests and may run on the same kinds
//     of node.
//   - Room and requests are vectors of integers, all of the same length.
//   - Pods may exclude groups of pods from their node: see [AntiAffinity].
//   - A market is a set of ways to launch a node, and each class may use some of them. The lower
//     bound on the price of a class is linear in its request: see [Prices].
//
// # Left out
//
// Other constraints between pods, ports, volumes and limits are left out. An estimate therefore
// only guides the search, and the engine decides.
package screen
