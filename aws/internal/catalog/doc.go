// Package catalog turns what EC2 says of its instance types into the instance
// types that an EC2NodeClass can launch, with labels, capacity, overhead and
// offerings.
//
// # Model
//
//   - [NewInventory] takes the answers of DescribeInstanceTypes and
//     DescribeInstanceTypeOfferings and keeps what matters of them. It is the same
//     for all classes and changes when EC2 has new types.
//   - [Inventory.Build] makes the catalog of one class at one instant from an
//     [Input]: the class with its status, zones, the stock of reservations, the
//     placement group, prices, and what nodes have reported.
//   - A [Catalog] has the instance types, and says as data why a type cannot be
//     used by the class ([Exclusion]), what was odd about the answers of EC2
//     ([Problem]), and which offerings have no price.
//
// A type that the class cannot use stays in the catalog with offerings that are
// not available: nodes of it may run, and their price is asked for.
//
// # Left out
//
// Calls to AWS, and caches. Offerings that EC2 refused of late: apply the
// snapshot of cloudprovider.Availability to Catalog.Types. NodeOverlays: apply
// them after that.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are
// not modified and not retained, but for the immutable parts of an Inventory that
// instance types share. The same input gives the same output to the byte,
// whatever the order of its lists, unless a list names something twice. Every instance type passes
// cloudprovider.InstanceType.Validate. Nothing panics on any answer of EC2.
package catalog
