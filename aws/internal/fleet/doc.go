// Package fleet decides what one launch asks EC2 for, writes it as a call of
// CreateFleet, and reads the answer.
//
// # Model
//
//   - [Select] filters and orders the options of a LaunchRequest, in the order
//     that Karpenter has: reservations first, one kind of them; capacity blocks
//     down to one; then machines out of the ordinary, spot capacity dearer than
//     on demand, and what is beyond sixty instance types.
//   - A [Spec] is what a launch asks for, but for subnets and numbers. Launches
//     with equal keys ([Spec.Key]) can go in one call. [Spec.Request] writes it.
//   - [Read] reads the answer into [Launched] and [Failure]s, and [Judge] turns the
//     failures into one error, each refusal with the scope that it is about: an
//     offering, a reservation, a zone, a quota.
//
// # Left out
//
// Calls to AWS. Which launch templates there are, which subnets have addresses,
// what was refused lately: these are arguments, or results.
//
// # Guarantees
//
// Everything is a function of its arguments, which are not modified. The same
// Spec gives the same request to the byte. Nothing panics on any answer of EC2.
package fleet
