// Package classtypes makes the instance types that an EC2NodeClass can launch, from facts and
// without calling AWS: for programs that plan over manifests, for tests, and to see the effects of
// a change of a class before it is made.
//
// Input: EC2's descriptions of instance types, prices, and a class with its status. Output: a
// [Catalog] of instance types. Invariant: for the same facts it is, to the byte, the result of
// aws.Provider.InstanceTypes, because both run the same code.
//
// # Model
//
//   - [Facts] are the answers of DescribeInstanceTypes and DescribeInstanceTypeOfferings,
//     read once by [Read]. The command line of AWS prints them as JSON, and encoding/json
//     reads that into the types of the SDK; see the example.
//   - [Facts.Build] makes the [Catalog] of one class at one instant.
//
// # Left out
//
// The resolution of a class's selectors: the results are in its status, which
// aws.Provider.NodeClass computes. Recently refused offerings. NodeOverlays, which the engine
// applies.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are not
// modified and not retained. The same input gives the same output, whatever the order
// of its lists. Nothing panics on any facts or class. Everything may be called
// concurrently.
package classtypes
