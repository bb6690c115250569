// Package drift detects by a hash whether a node class has changed since a machine was launched
// from it, and migrates hashes to a new hash function.
//
// # Model
//
//   - A [Scheme] is how a provider hashes its node class: a function, a version
//     that changes with the function, and the names of two annotations.
//   - [Scheme.Annotations] are the annotations of the node class, and of each NodeClaim at its
//     launch.
//   - [Scheme.Compare] says whether a NodeClaim has drifted from the node class.
//   - [Scheme.Migrate] says which annotations to rewrite after the function was
//     changed, so that an upgrade of the provider does not roll the fleet.
//
// # Left out
//
// Drift that a hash cannot show, of images, subnets and security groups, which the provider
// detects; drift from the NodePool, which the engine detects. Nothing is written here: changes are
// returned.
//
// # Guarantees
//
// Everything is a function of its arguments, which are not modified. Lists are
// sorted by the name of the claim.
package drift
