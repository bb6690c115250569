// Package drift tells by a hash whether a node class has changed since a machine
// was launched from it, and carries hashes over to a new way of hashing.
//
// # Model
//
//   - A [Scheme] is how a provider hashes its node class: a function, a version
//     that changes with the function, and the names of two annotations.
//   - [Scheme.Annotations] are what the node class, and each NodeClaim at its
//     launch, is annotated with.
//   - [Scheme.Compare] says whether a NodeClaim has drifted from the node class.
//   - [Scheme.Migrate] says which annotations to rewrite after the function was
//     changed, so that an upgrade of the provider does not roll the fleet.
//
// # Left out
//
// Drift that a hash cannot show, of images, subnets and security groups, is the
// provider's; drift from the NodePool is the engine's. Nothing is written here:
// changes are returned.
//
// # Guarantees
//
// Everything is a function of its arguments, which are not modified. Lists are
// sorted by the name of the claim.
package drift
