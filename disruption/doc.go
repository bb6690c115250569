// Package disruption decides which nodes to remove, replace or reboot, and how
// many of them now. It is the decision that Karpenter's disruption, repair,
// expiration and garbage collection controllers make, as a pure function: a
// snapshot in, actions and reasons out.
//
//	p, err := disruption.Propose(ctx, now, disruption.Input{Input: snapshot}, nil)
//	// p.Actions may begin in their order; p.Waiting and p.Blocked say why not the others
//
// # Model
//
//   - [Observe] reads an [Input] once, at one instant, into a [Cluster].
//   - A rule wants nodes to be dealt with for one [Reason]. [Cluster.Actions] asks the
//     rules and gives a [Result]: an [Action] for each node, best first, a [Blocked] for
//     each thing that keeps a rule from a node, and the instant at which asking again
//     can differ.
//   - Voluntary rules look at candidates only: nodes that are initialized, not on their
//     way out already, and that nothing protects. See [Cluster.Candidates].
//   - Forceful rules look at neither budgets nor protection.
//   - [Propose] asks all rules; admits what budgets of NodePools, groups of nodes, and
//     PodDisruptionBudgets over all actions together let begin now; asks the engine,
//     package provisioning, what has to be launched for it; and searches for cheaper
//     ways to run the same pods: an estimate in whole numbers says which nodes to
//     remove, and the engine what becomes of their pods. All of it is asked in one
//     simulation of the cluster, which each accepted action changes.
//
// # Rules
//
//   - Interrupted (forceful) acts on the notices of the cloud. Nodes that are unhealthy
//     are deleted without a drain; those that stop, are interrupted or under maintenance
//     are deleted, drained by the earliest deadline; a recommendation is passed over, or
//     with LifecycleOptions.ActOnRebalance the node is replaced if it could be disrupted
//     otherwise. A node that a voluntary decision deals with goes all the same.
//   - LaunchTimeout, RegistrationTimeout, InitializationTimeout (forceful) delete
//     NodeClaims that do not come up in time: see Overdue of package nodeclaim.
//   - GarbageCollected (forceful) deletes registered NodeClaims and Nodes without claim
//     whose machine [Input.Instances] does not list, unless the Node is Ready, and
//     terminates machines that no NodeClaim speaks for; all older than
//     [GarbageGrace].
//   - Expired (forceful) deletes nodes whose NodeClaim is as old as its expireAfter; under
//     budgets only if the policy of the pool says so.
//   - ScaledDown (forceful) deletes the nodes that static pools have above their
//     replicas: those without a machine first, then empty ones, then those with the
//     lowest LifetimeCost; the ones with something that asks not to be disrupted last.
//   - Unhealthy (voluntary) reboots or replaces nodes with a condition that a repair
//     policy has tolerated for long enough; the more disruptive action decides, the
//     shortest bound for the drain holds, the more urgent node comes first. A pool of
//     which more than RepairOptions.Share is sick is not repaired.
//   - Empty (voluntary) deletes nodes of dynamic pools that no pod needs, the highest
//     SavingsRatio first.
//   - Drifted (voluntary) replaces nodes that differ from what their pool or NodeClass
//     asks for, those of static pools first, then empty ones, then the longest drifted.
//     Propose replaces several by fewer new nodes where that costs less.
//     Static pools at their limit delete first, with DriftOptions.TerminateFirst.
//   - Underutilized (voluntary) is the search of Propose.
//
// Actions hold in the order in which they are listed. Most share no constraint between
// pods with another and begin together; [Action.After] names the others that have to be
// done before one begins.
//
// Between decision and deed some time passes: [Confirm] says what speaks against
// an action by then, also that one before it was given up, and [Proposal.Next] when to
// look again in any case.
//
// Other packages carry out what is decided: package command takes nodes through their
// removal and undoes it where it fails ([Cluster.Command] makes an action a command),
// package drain says which pods of a node to evict now, package nodeclaim sees what is
// launched through its start, and package rollout parts what has drifted into waves.
//
// What these answer has methods EditClaim and EditNode, such as
// [Action.EditClaim]: they return the object to store,
// a changed copy, or the one given where nothing is to be stored. To plan for pods in the
// meantime, [Displaced] lists the pods of nodes that go which need a place elsewhere; nodes that are kept
// for pods are in Input.Nominations, so that no rule removes them.
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
// The caller says which nodes are being dealt with already ([Input.MarkedForDeletion]),
// and carries out what is decided.
//
// # Guarantees
//
// The same input and instant give the same answer, whatever the order of slices
// and maps: every list has an order that its comment states. A node that has
// nothing to do with another changes nothing about it, but for what they share:
// a pool and its budgets. Inputs are read-only; a Cluster points into them, and
// its methods may be used from any number of goroutines. What is at fault in an
// input is listed in the error of Observe and left alone by every rule; nothing
// that comes from outside makes the package panic.
//
// # Where this differs from Karpenter
//
// Every rule that blocks a node is listed, not only the first. A node is empty
// if no pod needs another place, where Karpenter also ends nodes whose pods cost
// nothing, without looking for a place for them ([ConsolidationOptions].FreePodsAreEmpty). A
// PodDisruptionBudget counts over all actions that begin together. One that
// cannot be read selects nothing, as for the eviction API, and does not stop all
// of disruption. A malformed budget blocks the reasons that it names only. A
// node without a reservation any more is judged as the on-demand machine that it
// has become. Expiry can be spread out and can keep to budgets.
//
// Any set of nodes is replaced by any number of nodes, where Karpenter tries one
// order of nodes and one replacement. What an action saves must be worth the
// disruption also where the policy is not Balanced ([ConsolidationOptions].MinimumScore).
// Options of a replacement are filtered by price one by one and not type by
// type, so that a launch never costs more than what was agreed. Pods that are
// pending get their places first and are not mixed up with what replaces nodes.
package disruption
