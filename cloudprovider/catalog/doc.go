// Package catalog builds instance types and checks whole catalogs of them, so
// that a provider says what its machines are and not how requirements are
// written.
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
//   - [Check] judges a catalog as a whole, one [Problem] for each fault, with
//     provider, instance type and field. [CheckProvider] asks a provider for
//     its catalog first.
//
// # Left out
//
// Prices (package pricing), stock (package availability), and the overhead
// of nodes (package kubelet).
//
// # Guarantees
//
// Everything is a function of its arguments. Inputs are not modified. All faults
// are reported at once, in an order that does not depend on that of maps.
package catalog
