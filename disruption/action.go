package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// Reason is why an action is taken on a node: one of the constants below. The reasons that budgets
// may name are defined by package budgets.
type Reason = budgets.Reason

// The reasons, in two groups. Budgets limit the first group. Of the second they limit Expired if
// the policy of the pool says so.
const (
	// Unhealthy nodes have a condition that a repair policy names.
	Unhealthy = budgets.Unhealthy
	// Empty nodes have no pod that needs another place.
	Empty = budgets.Empty
	// Drifted nodes no longer match their pool or NodeClass.
	Drifted = budgets.Drifted
	// Underutilized nodes have pods that can run elsewhere at a lower cost.
	Underutilized = budgets.Underutilized

	// Interrupted nodes are about to be taken away by the cloud.
	Interrupted Reason = "Interrupted"
	// LaunchTimeout: the cloud has not launched the machine in time.
	LaunchTimeout = nodeclaim.LaunchTimeout
	// RegistrationTimeout: the machine has not joined in time.
	RegistrationTimeout = nodeclaim.RegistrationTimeout
	// InitializationTimeout: the Node has not become ready for pods in time.
	InitializationTimeout = nodeclaim.InitializationTimeout
	// GarbageCollected: the machine is gone, or no NodeClaim refers to it.
	GarbageCollected Reason = "GarbageCollected"
	// Expired nodes have reached the end of their lifetime.
	Expired = budgets.Expired
	// ScaledDown nodes exceed the replicas of a static pool.
	ScaledDown Reason = "ScaledDown"
)

// reasons lists all reasons.
func reasons() []Reason {
	return []Reason{Unhealthy, Empty, Drifted, Underutilized, Interrupted, LaunchTimeout, RegistrationTimeout,
		InitializationTimeout, GarbageCollected, Expired, ScaledDown}
}

// Voluntary reports whether the autoscaler is free to choose an action for a reason, so that
// budgets and protection apply.
func Voluntary(r Reason) bool { return state.Voluntary(r) }

// Transient reports whether the cause of a reason may pass within seconds, because pods are placed:
// Empty and Underutilized. Confirm an action for one of them some time after it was foreseen (see
// Fleet.Foreseen of package fleet); Karpenter waits 15 seconds after it was proposed. Drift does not pass, and is confirmed at once.
func Transient(r Reason) bool { return r == Empty || r == Underutilized }

// Operation is what an action does with a node.
type Operation string

// The operations.
const (
	// Replace first launches the nodes that the pods of the node need, at least one, waits until
	// they are initialised, and then deletes the NodeClaim. For a node of a static pool it launches
	// one node of the template.
	Replace Operation = "Replace"
	// Delete deletes the NodeClaim and launches nothing. The pods of a Simulated action have room on
	// other nodes: see Moves. Otherwise the next plan places the pods that need a place.
	Delete Operation = "Delete"
	// TerminateFirst deletes the NodeClaim first, because there is no room for its replacement
	// while it exists, and then lets the pool launch the replacement.
	TerminateFirst Operation = "TerminateFirst"
	// Reboot drains the node, restarts its machine and keeps it. It is not a command, because no
	// node is launched or removed. Each part can be resumed after a restart of the program:
	//
	//  1. Set the condition Rebooting of the NodeClaim to True, reason RebootRequested, and add
	//     v1.RebootingNoScheduleTaint to the Node. From now on no other decision affects the node,
	//     and it counts against budgets.
	//  2. Evict the pods that drain.Plan lists, with the mode drain.Leave, which deletes nothing at
	//     the deadline. Action.DrainBound limits the duration; nil means no limit.
	//  3. Write the boot ID of the Node (status.nodeInfo.bootID) into the annotation
	//     v1.RebootPreBootIDAnnotationKey of the NodeClaim. Call cloudprovider.Reboot until it is
	//     accepted, with an operation name that is unique to this reboot, such as the UID of the
	//     NodeClaim and the instant of the condition. Then set the reason RebootIssued. Keep the
	//     instant for Input.Reboots: after two reboots within 24 hours the node is replaced
	//     instead.
	//  4. When the Node is ready with another boot ID, remove the taint and set the condition to
	//     False, reason RebootSucceeded; or RebootFailed if the node does not return. The
	//     tolerations of the repair policies then start again.
	Reboot Operation = "Reboot"
	// Terminate terminates a machine of the cloud that has no NodeClaim.
	Terminate Operation = "Terminate"
	// DeleteNode deletes a Node object that has neither NodeClaim nor machine.
	DeleteNode Operation = "DeleteNode"
)

// operations lists all operations.
func operations() []Operation {
	return []Operation{Replace, Delete, TerminateFirst, Reboot, Terminate, DeleteNode}
}

// Target names the node or machine of an action. Fields that do not apply are empty.
type Target struct {
	// Node is the name of the entry of Input.Nodes: that of the Node, or of the NodeClaim if there
	// is no Node.
	Node string
	// NodeClaim is the name of the claim.
	NodeClaim string
	// NodePool is the pool of the node.
	NodePool string
	// ProviderID is the cloud's ID of the machine.
	ProviderID string
}

// String returns the name of the node, or else the ID of the machine.
func (t Target) String() string { return cmp.Or(t.Node, t.ProviderID) }

// Action is a decision about one or more nodes, with its reason.
type Action struct {
	// Reason is the reason of the rule that proposes the action.
	Reason Reason
	// Operation is what happens to the targets.
	Operation Operation
	// Targets are the nodes of the action, sorted by String. Rules return one each. Propose returns
	// any number to save money, and several drifted nodes if their pods share a new node: then
	// Detail, Cause and Since are those of the node that drifted first.
	Targets []Target
	// Detail completes the reason, and summarises which nodes are launched and where pods go, as
	// far as that is known. It is one line without a full stop.
	Detail string
	// Cause is one word for metrics and conditions: the kind of drift, such as NodePoolDrifted; the
	// node condition to be repaired; or the kind of interruption. It may be empty.
	Cause string
	// OperationCause is one word for why Operation was chosen: for TerminateFirst, NoReservedCapacity or
	// StaticAtLimit; for a Replace or Delete, RebootsSpent if the repair policy says reboot and reboots did
	// not help. Otherwise it is empty.
	OperationCause string
	// Since is when the reason began, zero if that is not known.
	Since time.Time
	// DrainBound, if not nil, limits the drain from the start of the deletion, in addition to the
	// NodeClaim: the shorter limit applies. Zero means no drain. An existing deadline is never
	// postponed.
	DrainBound *time.Duration
	// DrainBy, if not zero, is the instant at which the drain must have ended.
	DrainBy time.Time

	// Simulated says that the engine found a place for every pod that needs one. Replacements,
	// Moves and Savings are valid only then. Actions of Propose that launch nodes first are
	// simulated, except those of static pools.
	Simulated bool
	// Replacements are the nodes to launch and wait for first, the most expensive first, then by
	// name. NewNode.Request returns the launch request, and NewNode.NodeClaim the object.
	Replacements []provisioning.NewNode
	// Moves are the places of the targets' pods, sorted by namespace and name. kube-scheduler makes
	// the final decision. Pods that nothing can evict (Candidate.Held) have none if the action does
	// not need places for them.
	Moves []Move
	// Savings is the price of the targets minus that of the Replacements at their cheapest, in USD
	// per hour. It may be negative, except for Underutilized. Targets of unknown price count as 0.
	// Of actions that are not Simulated only those for Empty have Savings: the price of the node.
	Savings float64
	// DisruptionCost is the sum of Candidate.DisruptionCost of the targets, for actions that have
	// Savings.
	DisruptionCost float64
	// After names the actions of the same proposal that must be done before this one begins, each
	// by its first target (Target.String). The order matters because one action changes what a
	// topology spread, affinity or anti-affinity counts, and pods of the other are placed under
	// that constraint. These actions come earlier in Proposal.Actions, and After has them in that
	// order. If After is empty, the action may begin at once, together with all others that may.
	After []string

	held []*corev1.Pod // see Held
}

// Held returns the pods of the targets that nothing may evict and whose drain has no limit, sorted
// by node, namespace and name. The nodes of these pods are deleted, and stay until the pods have
// ended. No place is planned for them. Only an action of a proposal that deletes nodes without a
// simulation has any.
func (a Action) Held() []*corev1.Pod { return slices.Clone(a.held) }

// String renders the action on one line.
func (a Action) String() string {
	names := make([]string, len(a.Targets))
	for i, t := range a.Targets {
		names[i] = t.String()
	}
	text := fmt.Sprintf("%s %s (%s)", a.Operation, strings.Join(names, ", "), a.Reason)
	if a.Detail != "" {
		text += ": " + a.Detail
	}
	return text
}

// nodeNames returns the names of the nodes of some actions; that of a machine without a node is empty.
func nodeNames(actions ...Action) (names []string) {
	for _, a := range actions {
		for _, t := range a.Targets {
			names = append(names, t.Node)
		}
	}
	return names
}

// nodesOf returns the nodes of an action, nil for each that is not in the cluster.
func (f *Cluster) nodesOf(a Action) (list []*state.StateNode) {
	for _, name := range nodeNames(a) {
		list = append(list, f.seen.ByName[name])
	}
	return list
}

// fault says why a value is not a valid action in any cluster. It is "" for every action of a
// proposal.
func (a Action) fault() string {
	switch {
	case len(a.Targets) == 0:
		return "it names no node; take it from Propose"
	case !slices.Contains(reasons(), a.Reason):
		return fmt.Sprintf("its reason %q is not known; take it from Propose", a.Reason)
	case !slices.Contains(operations(), a.Operation):
		return fmt.Sprintf("its operation %q is not known; take it from Propose", a.Operation)
	case slices.ContainsFunc(a.Replacements, func(n provisioning.NewNode) bool { return n.Pool == nil || len(n.Options) == 0 }):
		return "a replacement has no NodePool or no option; take it from Propose"
	case slices.ContainsFunc(a.Moves, func(m Move) bool { return m.Pod == nil }):
		return "a move is of no pod; take it from Propose"
	}
	return ""
}

// EditClaim returns the NodeClaim to store before it is deleted for the action: its deadline is
// brought forward to DrainBy and DrainBound, as drain.Bound does. Use the zero Action for a
// deletion that another program requested.
//
// The given claim is not changed, and is returned itself if there is nothing to change. A nil claim
// stays nil.
func (a Action) EditClaim(now time.Time, claim *v1.NodeClaim) *v1.NodeClaim {
	return drain.Bound(now, claim, a.DrainBy, a.DrainBound)
}

// drainedBy returns when the action requires the drain to have ended, in addition to NodeClaims;
// zero means no limit.
func (a Action) drainedBy(now time.Time) time.Time {
	if a.DrainBound == nil {
		return a.DrainBy
	}
	return order.Sooner(a.DrainBy, now.Add(*a.DrainBound))
}

// Result is the result of one or more rules.
type Result struct {
	// Actions are in the order in which they should be carried out, which each rule defines.
	Actions []Action
	// Blocked are the nodes on which the rule would act if nothing prevented it, in the order of
	// Blocked.Compare.
	Blocked []Blocked
	// Next is the earliest instant at which the same input can give another result; zero if time
	// alone never changes it. It does not anticipate changes of Candidate.LifetimeCost, which
	// changes all the time. LifetimeCost affects the order of nodes that are equally urgent to
	// repair, and which nodes of a static pool with too many are removed.
	Next time.Time
}

// Actions evaluates the rules for the given reasons, or all rules if none is given. The actions are
// in this order: Interrupted; LaunchTimeout, RegistrationTimeout and InitializationTimeout;
// GarbageCollected; Expired; ScaledDown; Unhealthy; Empty; Drifted. Of several actions on one node
// the first is kept: what must happen in any case comes first, then broken nodes, and an empty node
// is not replaced because it has drifted.
//
// The search for cheaper ways to run the same pods, for the reason Underutilized, is not included:
// see Propose.
func (f *Cluster) Actions(reasons ...Reason) Result {
	r, _ := f.actions(reasons...)
	return r
}

// actions is Actions that also returns the other results of the notices of the cloud.
func (f *Cluster) actions(reasons ...Reason) (Result, interruptions) {
	var results []Result
	ask := func(rule func() Result, of ...Reason) {
		if len(reasons) == 0 {
			results = append(results, rule())
			return
		}
		if !slices.ContainsFunc(of, func(r Reason) bool { return slices.Contains(reasons, r) }) {
			return
		}
		r := rule()
		r.Actions = slices.DeleteFunc(r.Actions, func(a Action) bool { return !slices.Contains(reasons, a.Reason) })
		results = append(results, r)
	}
	var notices interruptions
	ask(func() Result { notices = f.interruption(); return notices.Result }, Interrupted)
	ask(f.overdue, LaunchTimeout, RegistrationTimeout, InitializationTimeout)
	ask(f.garbage, GarbageCollected)
	ask(f.expiration, Expired)
	ask(f.scaleDown, ScaledDown)
	ask(f.repair, Unhealthy)
	ask(f.emptiness, Empty)
	ask(f.drift, Drifted)
	return merge(results...), notices
}

// merge concatenates results in the given order. Of the actions that share a target the first is
// kept. It sorts Blocked, and adds the end of these causes to Next, for all rules.
func merge(results ...Result) Result {
	var out Result
	taken := map[Target]bool{}
	for _, r := range results {
		for _, a := range r.Actions {
			if slices.ContainsFunc(a.Targets, func(t Target) bool { return taken[t] }) {
				continue
			}
			for _, t := range a.Targets {
				taken[t] = true
			}
			out.Actions = append(out.Actions, a)
		}
		out.Blocked = append(out.Blocked, r.Blocked...)
		out.Next = order.Sooner(out.Next, r.Next)
	}
	slices.SortFunc(out.Blocked, Blocked.Compare)
	out.Next = order.Sooner(out.Next, soonest(out.Blocked))
	return out
}

// sortActions sorts actions by age, the oldest first and those of unknown age last, then by name.
func sortActions(list []Action) {
	slices.SortFunc(list, func(a, b Action) int {
		return cmp.Or(order.Instants(a.Since, b.Since), strings.Compare(a.Targets[0].String(), b.Targets[0].String()),
			strings.Compare(a.Targets[0].ProviderID, b.Targets[0].ProviderID))
	})
}
