// Package classtypes makes the instance types that an EC2NodeClass can launch, from facts
// and without calling AWS: for programs that plan over manifests, for tests, and for
// whoever wants to know what a change of a class comes to before it is made.
//
// Input: what EC2 says of its instance types, prices, and a class with its status.
// Output: a [Catalog] of instance types. Invariant: for the same facts it is, to the
// byte, what aws.Provider.InstanceTypes returns, as both run the same code.
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
// What selectors of a class resolve to: that is in its status, which the API server has
// and which aws.Provider.NodeClass looks up. Offerings that EC2 refused of late.
// NodeOverlays, which the engine applies.
//
// # Guarantees
//
// Everything is a function of its arguments; the time is one of them. Inputs are not
// modified and not retained. The same input gives the same output, whatever the order
// of its lists. Nothing panics on any facts or class. Everything may be called
// concurrently.
package classtypes
