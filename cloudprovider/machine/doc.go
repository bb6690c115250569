// Package machine builds instance types from a description of machines, so that a provider need not
// write requirements.
//
// # Model
//
//   - A [Machine] describes a machine of a cloud: name, architecture, labels, capacity, and the
//     ways to buy it. [Machine.InstanceType] makes the InstanceType, which has a requirement for
//     every well-known label: with its values, or with DoesNotExist.
//   - [OpenLabels] lists the well-known labels that an instance type leaves open. An open label
//     allows any value, so a pod that requires a GPU could be placed on a machine that has none.
//
// # Left out
//
// Prices (package pricing), stock (package availability), the overhead of nodes (package kubelet),
// and whether a whole catalog follows the contract (package cloudprovidertest).
//
// # Guarantees
//
// Everything is a function of its arguments. Inputs are not modified. All faults are reported at
// once, in a fixed order.
package machine
