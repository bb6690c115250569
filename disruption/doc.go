// Package disruption decides which nodes to remove, replace or reboot, and how many of them now. It
// makes the decisions of Karpenter's disruption, repair, expiration and garbage collection
// controllers as a pure function: a snapshot in, actions and reasons out.
//
//	p, faults, err := disruption.Propose(ctx, now, disruption.Input{Input: snapshot}, nil)
//	// p.Actions may begin in their order; p.Waiting and p.Blocked say why not the others
//
// # Model
//
//   - [Observe] reads an [Input] once, at one instant, into a [Cluster].
//   - A rule proposes nodes for disruption for one [Reason]. [Cluster.Actions] evaluates the rules
//     and returns a [Result]: an [Action] for each node, best first, a [Blocked] for each cause
//     that prevents a rule from acting on a node, and the earliest instant at which the result can
//     change.
//   - Voluntary rules act on candidates only: nodes that are initialised, not being removed
//     already, and not protected. See [Cluster.Candidates].
//   - Forceful rules ignore budgets and protection.
//   - [Propose] evaluates all rules, and admits the actions that budgets of NodePools, groups of
//     nodes, and PodDisruptionBudgets allow to begin together. It asks the engine, package
//     provisioning, which nodes to launch for them, and searches for cheaper ways to run the same
//     pods: an integer estimate chooses the nodes to remove, and the engine places their pods. All
//     of this uses one simulation of the cluster, which each accepted action changes.
//
// # Rules
//
//   - Interrupted (forceful) acts on the notices of the cloud. Unhealthy nodes are deleted without
//     a drain. Nodes that stop, are interrupted or under maintenance are deleted, and drained by
//     the earliest deadline. A recommendation is ignored or, with LifecycleOptions.ActOnRebalance,
//     the node is replaced if it could be disrupted otherwise. A node that a voluntary decision
//     deals with is deleted too.
//   - LaunchTimeout, RegistrationTimeout, InitializationTimeout (forceful) delete NodeClaims that
//     do not start in time: see Overdue of package nodeclaim.
//   - GarbageCollected (forceful) deletes registered NodeClaims and Nodes without claim whose
//     machine [Input.Instances] does not list, unless the Node is Ready, and terminates machines
//     without a NodeClaim; all older than [GarbageGrace].
//   - Expired (forceful) deletes nodes whose NodeClaim has reached the age expireAfter; budgets
//     apply only if the policy of the pool says so.
//   - ScaledDown (forceful) deletes the nodes that static pools have in excess of their replicas:
//     those without a machine first, then empty ones, then those with the lowest LifetimeCost;
//     nodes with do-not-disrupt on the node or a pod come last.
//   - Unhealthy (voluntary) reboots or replaces nodes with a condition that a repair policy has
//     tolerated for long enough. The more disruptive action is chosen, the shortest drain limit
//     applies, and the more urgent node comes first. A pool is not repaired if more than
//     RepairOptions.Share of it is unhealthy.
//   - Empty (voluntary) deletes nodes of dynamic pools without pods that need another place, the
//     highest SavingsRatio first.
//   - Drifted (voluntary) replaces nodes that differ from what their pool or NodeClass requires,
//     those of static pools first, then empty ones, then the longest drifted. Propose replaces
//     several by fewer new nodes if that costs less. Static pools at their limit delete first, with
//     DriftOptions.TerminateFirst.
//   - Underutilized (voluntary) is the reason for the search of Propose.
//
// Actions are valid in the order in which they are listed. Most share no constraint between pods
// with another and begin together; [Action.After] names the actions that must be done before one
// begins.
//
// Some time passes between a decision and its execution. [Confirm] returns the objections to an
// action at a later time, for example that an earlier action was given up. [Proposal.Next] says
// when to decide again in any case.
//
// Other packages carry out the decisions: package command removes nodes step by step and undoes
// that if it fails ([Cluster.Command] converts an action to a command), package drain says which
// pods of a node to evict now, package nodeclaim follows the start of launched nodes, and package
// rollout divides drifted nodes into waves.
//
// Their results have methods EditClaim and EditNode, such as [Action.EditClaim]. These return the
// object to store: a changed copy, or the given object if nothing is to be stored. To plan for pods
// in the meantime, [Displaced] lists the pods of terminating nodes that need another place. Nodes
// that are nominated for pods are in Input.Nominations, so that no rule removes them.
//
// # What is left out
//
// The search is exhaustive only for a few nodes, so a cheaper cluster may exist. It moves a pod
// only by removing its node, and does not pay for balance between zones. Package provisioning
// launches nodes for pending pods; the search leaves room for those that fit on existing nodes.
// [Cluster.Enlarge] makes the nodes that are launched for the others larger where that pays.
//
// The package uses neither a cluster nor a cloud, and neither taints nodes nor evicts pods. The
// caller says which nodes are being dealt with already ([Input.MarkedForDeletion]), and carries out
// the decisions.
//
// # Guarantees
//
// The same input and instant give the same result, whatever the order of slices and maps: every
// list has an order that its comment states. Nodes affect each other only through what they share,
// such as a pool and its budgets. Inputs are read-only; a Cluster points into them, and its methods
// are safe for concurrent use. Propose, Unneeded and Enlarge start goroutines, which end before the
// call does and have no influence on the result: see Options.Provisioning. Faults of an input are
// listed in the error of Observe, and rules do not act on objects at fault. No input makes the
// package panic.
//
// # Differences from Karpenter
//
// Every cause that blocks a node is listed, not only the first. A node is empty if no pod needs
// another place. Karpenter also ends nodes whose pods cost nothing, without a place for these pods
// ([ConsolidationOptions].FreePodsAreEmpty). A PodDisruptionBudget counts over all actions that
// begin together. One that cannot be read selects nothing, as for the eviction API, and does not
// stop disruption as a whole. A malformed budget blocks only the reasons that it names. A node
// whose reservation has ended counts as the on-demand machine that it has become. Expiry can be
// spread out and can respect budgets.
//
// Any set of nodes is replaced by any number of nodes, where Karpenter tries one order of nodes and
// one replacement. The saving of an action must be worth the disruption even if the policy is not
// Balanced ([ConsolidationOptions].MinimumScore). Options of a replacement are filtered by price
// one by one and not by instance type, so that a launch never costs more than decided. Pending pods
// get their places first and are not mixed with the pods of replaced nodes.
package disruption
