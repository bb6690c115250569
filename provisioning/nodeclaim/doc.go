// Package nodeclaim sees a NodeClaim through the start of its node: it is what follows a
// plan. Karpenter has the same in its controller nodeclaim/lifecycle.
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
//     the object to store. [Join] is whichever of the two is due, with both objects.
//   - [Overdue] names the deadline that a claim has missed, which is to be deleted then.
//   - [Health] is what the last launches of a NodePool say of it.
//
// # Left out
//
// Nothing here talks to a cluster or to a cloud. How a node ends is the affair of
// packages disruption, command and drain, and so is what is left over: NodeClaims whose
// machine is gone, and machines that no NodeClaim speaks for.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the
// same input gives the same answer. Nothing is kept between calls: the caller hands
// [Health] to the next one.
package nodeclaim
