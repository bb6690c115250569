// Package kubelet computes the overhead of a node: the reserves for the kubelet and the system, the
// eviction thresholds, and the number of pods. With a wrong overhead in a catalog either pods do
// not fit on new nodes, or part of every node stays unused.
//
// # Model
//
//   - A [Reserve] is a rule for one resource: a flat amount, an amount for each
//     pod, and falling shares of the capacity (a [Curve]), within bounds.
//   - [Rules] are the reserves and eviction thresholds that the nodes of one
//     service have by default: [EKS], [GKE], or a provider's own.
//   - A [Config] has the settings of a node class, which replace those of the rules.
//   - [Rules.Overhead] turns the capacity of a machine into the Overhead of its
//     instance type.
//   - [AddressPods], [PrefixPods], [RangePods] and [PodsPerCore] say how many
//     pods fit by addresses and by cores.
//
// # Units
//
// Amounts are those of package resources: milli-CPU, bytes, whole units. Shares are parts of ten
// thousand: 7.5% is 750. So no result depends on floating-point rounding.
//
// # Left out
//
// The files and flags of a kubelet, and changes of a service between releases: the numbers here are
// an estimate until a node has reported its own. Soft eviction, because it does not change the
// allocatable amount.
//
// # Guarantees
//
// Everything is a function of its arguments. Negative amounts count as zero, and sums beyond int64
// stop at the largest int64; no input causes a panic.
package kubelet
