// Package rollout parts the replacement of drifted nodes into waves, the first of which
// is a canary, and tells in advance when each node would go.
//
// # Model
//
//   - [Waves] parts the drifted nodes of each NodePool into waves: few at first, then
//     more and more.
//     A wave may begin when all nodes of the one before are done and [Options.Soak] has
//     passed; hold the actions back till then that are about nodes of later waves.
//   - [Preview] plays all of it through, at the [Pace] that budgets allow, and gives
//     each node an instant. Options that put all nodes into the first wave preview a
//     rollout without waves.
//
// What drifts is told by the caller: package disruption does for the nodes of a
// cluster, and amiselect.Diff for a change of the terms that select images.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the
// same input gives the same answer, whatever its order. They may be called from any
// number of goroutines.
package rollout
