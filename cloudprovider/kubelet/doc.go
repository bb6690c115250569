// Package kubelet computes what a node keeps from pods: what is reserved for
// the kubelet and the system, what is kept free lest pods be evicted, and how
// many pods a node takes. A catalog that has it wrong either launches nodes on
// which pods do not fit, or leaves part of every node unused.
//
// # Model
//
//   - A [Reserve] is a rule for one resource: a flat amount, an amount for each
//     pod, and falling shares of the capacity (a [Curve]), within bounds.
//   - [Rules] are the reserves and eviction thresholds that the nodes of one
//     service have by default: [EKS], [GKE], or a provider's own.
//   - A [Config] is what the users of a node class set on top.
//   - [Rules.Overhead] turns the capacity of a machine into the Overhead of its
//     instance type.
//   - [AddressPods], [PrefixPods], [RangePods] and [PodsPerCore] say how many
//     pods fit by addresses and by cores.
//
// # Units
//
// Amounts are those of package resources: milli-CPU, bytes, whole units. Shares
// are parts of ten thousand, so that 7.5% is 750 and no result depends on the
// rounding of a binary fraction.
//
// # Left out
//
// The files and flags by which a kubelet is told, and what a service changes
// from one release to the next: the numbers here are a start, and what a node
// reports when it has joined is the truth. Soft eviction takes nothing from what
// the scheduler may place, so it has no part in this.
//
// # Guarantees
//
// Everything is a function of its arguments. Negative amounts count as zero, and
// sums beyond int64 stop at the greatest int64; no input makes a function panic.
package kubelet
