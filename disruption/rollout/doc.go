// Package rollout divides the replacement of drifted nodes into waves, the first of which is a
// canary, and previews when each node would be replaced.
//
// # Model
//
//   - [Waves] divides the drifted nodes of each NodePool into waves of growing size. A wave may
//     begin when all nodes of the previous wave are replaced and [Options.Soak] has passed; until
//     then the caller delays actions for nodes of later waves.
//   - [Preview] simulates the rollout at the [Pace] that budgets allow, and returns an instant for
//     each node. For a rollout without waves use Options that put all nodes into the first wave.
//
// The caller passes the drifted nodes: package disruption finds them in a cluster, and
// amiselect.Diff for a change of image selector terms.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the
// same input gives the same answer, whatever its order. They may be called from any
// number of goroutines.
package rollout
