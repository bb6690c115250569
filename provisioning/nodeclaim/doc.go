// Package nodeclaim carries out the start of a NodeClaim's node after a plan: launch, registration
// and initialization. Karpenter does this in its controller nodeclaim/lifecycle.
//
//	request, err := nodeclaim.Request(claim, types, vocabulary)  // what to launch
//	instance, err := provider.Create(ctx, request)
//	claim = nodeclaim.Launched(err).EditClaim(now, claim, instance)
//	claim = nodeclaim.Register(claim, nodes).EditClaim(now, claim)
//	claim = nodeclaim.Initialize(claim, node, slices).EditClaim(now, claim)
//
// # Model
//
//   - [Request] makes the launch request of a stored NodeClaim, and [Launched] reads the answer of
//     the cloud. [EditRetry] and [NextLaunch] store in the claim when to ask again after a failure.
//   - [Register] matches the claim with its Node, and [Initialize] says when the Node is ready for
//     pods. Each returns a [Condition]; the methods EditClaim and EditNode return the object to
//     store. [Join] does what is due of the two, and returns both objects.
//   - [Overdue] returns the deadline that a claim has missed: delete the claim then.
//   - [Health] is the health of a NodePool, by its last launches.
//
// # Left out
//
// Nothing here talks to a cluster or to a cloud. Packages disruption, command and drain remove
// nodes, and also leftovers: NodeClaims whose machine is gone, and machines without a NodeClaim.
//
// # Guarantees
//
// All functions are pure: the instant is an argument, inputs are not changed, and the same input
// gives the same answer. There is no state between calls: the caller passes [Health] to the next
// one.
package nodeclaim
