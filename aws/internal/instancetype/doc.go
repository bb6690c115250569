// Package instancetype makes the instance types that an EC2NodeClass can launch, with
// labels, capacity, overhead and offerings.
//
// Input: EC2's instance types, prices, zones and reservations, and a resolved class. Output: a
// [Catalog]. Invariant: a catalog is a function of its [Input], and one that is incomplete is an
// error.
//
// # Model
//
//   - [NewInventory] reads the answers of DescribeInstanceTypes and DescribeInstanceTypeOfferings.
//     An inventory is the same for all classes and changes when EC2 has new types.
//   - [Inventory.Build] makes the catalog of one class at one instant from an
//     [Input]: the class with its status, zones, the stock of reservations, the
//     placement group, prices, and what nodes have reported.
//   - A [Catalog] has the instance types, and as data: why the class cannot use a type
//     ([Exclusion]), which answers of EC2 could not be used ([Problem]), and which offerings have
//     no price.
//   - A [Builder] gathers the input and keeps the catalog of each class, until its input changes or
//     it is [BuilderOptions.MaxAge] old.
//
// A type that the class cannot use stays in the catalog with offerings that are not Available,
// because nodes of it may run, and their price is needed.
//
// # Overhead
//
// [NewSettings] reads the kubelet settings and the network interfaces of a class once.
// [Settings.Pods] and [Settings.Overhead] then answer for any [Machine], and [Settings.For]
// evaluates the expressions of the class for one. [Cluster] has the settings for all nodes. The
// share of memory that is lost to the hypervisor and the kernel is an estimate; [Learned] has the
// memory that nodes have reported, by instance type and image, and replaces the estimate. The
// formulas of the reserves are those of EKS images, in package cloudprovider/kubelet; their inputs
// are decided here.
//
// # Left out
//
// Calls to AWS. Refused offerings and NodeOverlays: both are applied to the catalog later. The
// meaning of expressions, which the API defines.
//
// # Guarantees
//
// Everything except Builder is a function of its arguments; the time is one of them. Inputs are not
// modified. They are not retained, except that instance types share the immutable parts of an
// Inventory. The same input gives the same output to the byte, whatever the order of its lists,
// unless a list names something twice. Every instance type passes
// cloudprovider.InstanceType.Validate. Amounts below zero count as zero, and no answer of EC2
// causes a panic. All methods may be called concurrently; callers for one class wait for one build.
// A catalog is read-only and shared.
package instancetype
