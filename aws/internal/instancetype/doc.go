// Package instancetype makes the instance types that an EC2NodeClass can launch, with
// labels, capacity, overhead and offerings.
//
// Input: what EC2 says of its instance types, prices, zones and reservations, and a
// resolved class. Output: a [Catalog]. Invariant: a catalog is a function of its [Input],
// and one that is incomplete is an error.
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
//   - A [Builder] gathers the input, keeps the catalog of each class, and hands it out
//     again until something that it was made of changes, or it is
//     [BuilderOptions.MaxAge] old.
//
// A type that the class cannot use stays in the catalog with offerings that are
// not available: nodes of it may run, and their price is asked for.
//
// # Overhead
//
// [NewSettings] reads the kubelet settings and the network interfaces of a class once.
// [Settings.Pods] and [Settings.Overhead] then answer for any [Machine], and
// [Settings.For] evaluates the expressions of the class for one. [Cluster] is what holds
// for all nodes. The share of memory that is lost to the hypervisor and the kernel is a
// guess; [Learned] holds what nodes have reported, by instance type and image, and
// replaces the guess. The reserves are those of the images of EKS, in package
// cloudprovider/kubelet: only what they are applied to is decided here.
//
// # Left out
//
// Calls to AWS. Offerings that EC2 refused of late, and NodeOverlays: both are applied to
// what comes from here. What an expression means, which is said at the API.
//
// # Guarantees
//
// But for a Builder everything is a function of its arguments; the time is one of them.
// Inputs are not modified and not retained, but for the immutable parts of an Inventory
// that instance types share. The same input gives the same output to the byte, whatever
// the order of its lists, unless a list names something twice. Every instance type passes
// cloudprovider.InstanceType.Validate. Amounts below zero count as zero, and nothing
// panics on any answer of EC2. All methods may be called concurrently; callers for one
// class wait for one build. A catalog is read-only and shared.
package instancetype
