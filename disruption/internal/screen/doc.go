// Package screen estimates, in microseconds, what it would save to remove nodes
// of a cluster: which of their pods find room on other nodes, and what the rest
// would cost at least on new ones.
//
// # Model
//
//   - Pods are counted by class: pods of a class ask for the same and may run on
//     the same kinds of node.
//   - Room and requests are vectors of integers, of the same length everywhere.
//   - Pods may shun others: they share no node with those. See [Company].
//   - A market is a set of ways to launch a node; a class draws on some. What a
//     class costs at least is linear in its request: see [Prices].
//
// # Left out
//
// Other constraints between pods, ports, volumes and limits. So an estimate says where
// to look, and the engine has the last word.
package screen
