// Package machine builds instance types, so that a provider says what its machines
// are and not how requirements are written.
//
// # Model
//
//   - A [Machine] is what a cloud says of a machine: name, architecture, labels,
//     capacity, and the ways to buy it. [Machine.InstanceType] makes the
//     InstanceType, in which every well-known label is settled: with the values
//     that it has, or with DoesNotExist.
//   - [OpenLabels] lists the well-known labels that an instance type leaves
//     open. An open label admits any value, so a pod that asks for a GPU may be
//     promised a machine that has none.
//
// # Left out
//
// Prices (package pricing), stock (package availability), the overhead of nodes
// (package kubelet), and whether a catalog as a whole keeps to the contract (package
// cloudprovidertest).
//
// # Guarantees
//
// Everything is a function of its arguments. Inputs are not modified. All faults
// are reported at once, in an order that does not depend on that of maps.
package machine
