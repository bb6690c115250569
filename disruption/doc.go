// Package disruption decides which nodes to remove, replace or reboot, and how
// many of them now. It is the decision that Karpenter's disruption, repair,
// expiration and garbage collection controllers make, as a pure function: a
// snapshot in, actions and reasons out.
//
//	p, err := disruption.Propose(ctx, now, disruption.Input{Input: snapshot}, nil)
//	// p.Actions may begin now; p.Waiting and p.Blocked say why not the others
//
// # Model
//
//   - [Observe] reads an [Input] once, at one instant, into a [Fleet].
//   - A rule is a method of Fleet. It gives a [Result]: an [Action] for each
//     node that it wants to be dealt with, best first, a [Blocked] for each
//     reason that keeps it from a node, and the instant at which asking again
//     can differ.
//   - Voluntary rules are [Fleet.Repair], [Fleet.Emptiness] and [Fleet.Drift].
//     They look at candidates only: nodes that are initialized, not on their way
//     out already, and that nothing protects. See [Fleet.Candidates].
//   - Forceful rules look at neither budgets nor protection:
//     [Fleet.Interruption], [Fleet.Liveness], [Fleet.Garbage],
//     [Fleet.Expiration] and [Fleet.ScaleDown].
//   - [Fleet.Actions] asks all of them and keeps one action for each node.
//   - [Fleet.Pace] says which actions begin now and which wait, and for what:
//     budgets of NodePools, groups of nodes, and PodDisruptionBudgets over all
//     actions together.
//   - [Fleet.Simulate] asks the engine, package provisioning, what actions have
//     to launch that replace nodes.
//   - [Fleet.Consolidate] searches for cheaper ways to run the same pods: an
//     estimate in whole numbers says which nodes to remove, and the engine what
//     becomes of their pods, all done together.
//   - [Propose] is all of that in one call.
//
// Between decision and deed some time passes: [Confirm] says what speaks against
// an action by then, and [Proposal.Next] when to look again in any case.
// How an action is carried out is decided here as well, apart from the fleet: a
// [Command] goes through its steps by [Advance], [PlanDrain] says which pods to
// evict now, of nodes that [ObserveDrainNode] has read, [PlanWaves] parts a
// rollout into waves, and [LaunchOutcome], [Register] and [Initialize] see a new
// node through its start.
//
// What these answer has methods EditClaim and EditNode, such as
// [Action.EditClaim] and [CommandStep.EditNode]: they return the object to store,
// a changed copy, or the one given where nothing is to be stored. Two more help to
// plan for pods in the meantime: [Leaving] names the nodes whose pods need a place
// elsewhere, and [Nominations] say which nodes are kept for pods that were promised
// one, so that no rule removes them.
//
// # Left out
//
// The search is not exhaustive but for a few nodes, so a cheaper cluster may
// exist. It moves no pod but by removing its node, and trades no money for
// balance between zones. New nodes for pods that are pending are the affair of
// package provisioning; the search leaves room for those that fit on nodes that
// exist.
//
// Nothing here talks to a cluster or to a cloud, taints a node or evicts a pod.
// The caller says which nodes are being dealt with already ([Input.Underway]),
// and carries out what is decided.
//
// # Guarantees
//
// The same input and instant give the same answer, whatever the order of slices
// and maps: every list has an order that its comment states. A node that has
// nothing to do with another changes nothing about it, but for what they share:
// a pool and its budgets. Inputs are read-only; a Fleet points into them, and
// its methods may be used from any number of goroutines. What is at fault in an
// input is listed in the error of Observe and left alone by every rule; nothing
// that comes from outside makes the package panic.
//
// # Where this differs from Karpenter
//
// Every rule that blocks a node is listed, not only the first. A node is empty
// if no pod needs another place, where Karpenter also ends nodes whose pods cost
// nothing, without looking for a place for them ([Options.FreePodsAreEmpty]). A
// PodDisruptionBudget counts over all actions that begin together. One that
// cannot be read selects nothing, as for the eviction API, and does not stop all
// of disruption. A malformed budget blocks the reasons that it names only. A
// node without a reservation any more is judged as the on-demand machine that it
// has become. Expiry can be spread out and can keep to budgets.
//
// Any set of nodes is replaced by any number of nodes, where Karpenter tries one
// order of nodes and one replacement. What an action saves must be worth the
// disruption also where the policy is not Balanced ([Options.MinimumScore]).
// Options of a replacement are filtered by price one by one and not type by
// type, so that a launch never costs more than what was agreed. Pods that are
// pending get their places first and are not mixed up with what replaces nodes.
package disruption
