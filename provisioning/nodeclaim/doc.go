// Package nodeclaim sees a NodeClaim through the start of its node and tells what is
// left over: it is what follows a plan. Karpenter has the same in its controllers
// nodeclaim/lifecycle and nodeclaim/garbagecollection.
//
//	request, err := nodeclaim.Request(claim, types, vocabulary)  // what to launch
//	instance, err := provider.Create(ctx, request)
//	claim = nodeclaim.Launched(err).EditClaim(claim, instance, now)
//	claim = nodeclaim.Register(claim, nodes).EditClaim(claim, now)
//	claim = nodeclaim.Initialize(claim, node, slices).EditClaim(claim, now)
//
// # Model
//
//   - [Request] is the order for the machine of a stored NodeClaim, and [Launched] what
//     follows from the answer of the cloud. [EditRetry] and [NextLaunch] say when to ask
//     again after a failure, from what stands in the claim.
//   - [Register] matches the claim with its Node, and [Initialize] says when that is
//     ready for pods. Each gives a [Condition]; methods EditClaim and EditNode return
//     the object to store.
//   - [Overdue] names the deadline that a claim has missed, which is to be deleted then.
//   - [Garbage] finds instances that no NodeClaim speaks for, and NodeClaims whose
//     instance is gone. It is careful, because a mistake here ends a node that works:
//     what is younger than [GarbageOptions.Grace] is left alone, as lists lag behind;
//     what is found must be found again, [GarbageOptions.Confirm] later; and if very
//     much is found at once, the brake ([GarbageOptions.BrakeShare]) keeps all of it
//     back, as an empty list is more often a fault than the end of a fleet.
//
// # Left out
//
// Nothing here talks to a cluster or to a cloud. How a node ends is the affair of
// packages disruption, command and drain.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the
// same input gives the same answer. Nothing is kept between calls: the caller hands
// [GarbageReport.Suspects] to the next one. Lists are sorted.
package nodeclaim
