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
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// Reason is why a node is dealt with: one of the constants below. Those that
// budgets may name are defined by them.
type Reason = budgets.Reason

// The reasons, in two groups. Budgets bound the first; of the second they bound
// Expired if the policy of the pool says so.
const (
	// Unhealthy nodes have a condition that asks for repair.
	Unhealthy = budgets.Unhealthy
	// Empty nodes have no pod that needs another place.
	Empty = budgets.Empty
	// Drifted nodes no longer match their pool or NodeClass.
	Drifted = budgets.Drifted
	// Underutilized nodes have pods that fit elsewhere for less.
	Underutilized = budgets.Underutilized

	// Interrupted nodes are about to be taken away by the cloud.
	Interrupted Reason = "Interrupted"
	// LaunchTimeout: the cloud has not made the machine in time.
	LaunchTimeout = nodeclaim.LaunchTimeout
	// RegistrationTimeout: the machine has not joined in time.
	RegistrationTimeout = nodeclaim.RegistrationTimeout
	// InitializationTimeout: the Node has not become ready for pods in time.
	InitializationTimeout = nodeclaim.InitializationTimeout
	// GarbageCollected: the machine is gone, or nobody knows of it.
	GarbageCollected Reason = "GarbageCollected"
	// Expired nodes have reached the end of their lifetime.
	Expired = budgets.Expired
	// ScaledDown nodes are more than the replicas of a static pool.
	ScaledDown Reason = "ScaledDown"
)

// Voluntary reports whether a reason is the autoscaler's own choice, so that
// budgets and protection apply.
func Voluntary(r Reason) bool { return state.Voluntary(r) }

// Transient reports whether what a reason says of a node may pass by itself within
// seconds, as pods come: Empty and Underutilized. An action for one is to be confirmed
// some time after it was proposed, for which Karpenter waits 15 seconds. What drifted
// stays so, and is confirmed at once.
func Transient(r Reason) bool { return r == Empty || r == Underutilized }

// Step is what to do with a node.
type Step string

// The steps.
const (
	// Replace launches first what the pods of the node need, which may be
	// nothing, waits until that is initialized, and then deletes the NodeClaim.
	// For a static pool it is one node of the template.
	Replace Step = "Replace"
	// Delete deletes the NodeClaim. What its pods need is for the next plan.
	Delete Step = "Delete"
	// TerminateFirst deletes the NodeClaim, as there is no room for its
	// replacement beside it, and lets the pool launch that afterwards.
	TerminateFirst Step = "TerminateFirst"
	// Reboot drains the node, restarts its machine and keeps it. It is no command, as
	// nothing is launched or removed; each part survives a restart of the program:
	//
	//  1. Set the condition Rebooting of the NodeClaim to True, reason RebootRequested,
	//     and put v1.RebootingNoScheduleTaint on the Node. From now on no other decision
	//     touches the node, and it counts against budgets.
	//  2. Evict what drain.Plan says, with the mode drain.Leave, which deletes nothing at
	//     the deadline. Action.DrainBound is how long that may take; nil is without end.
	//  3. Write the boot ID of the Node (status.nodeInfo.bootID) into the annotation
	//     v1.RebootPreBootIDAnnotationKey of the NodeClaim and call cloudprovider.Reboot
	//     until it is accepted, with one operation for this reboot, such as the UID of
	//     the NodeClaim and the instant of the condition. Then the reason is
	//     RebootIssued. Keep the instant for Input.Reboots: after two within 24 hours
	//     the node is replaced instead.
	//  4. When the Node is ready with another boot ID, take the taint off and set the
	//     condition to False, reason RebootSucceeded; RebootFailed if it does not come
	//     back. Then the tolerations of the repair policies begin anew.
	Reboot Step = "Reboot"
	// Terminate ends a machine of the cloud for which there is no NodeClaim.
	Terminate Step = "Terminate"
	// DeleteNode deletes a Node object for which there are neither NodeClaim
	// nor machine.
	DeleteNode Step = "DeleteNode"
)

// Target names what an action is about. Fields that there is nothing for are
// empty.
type Target struct {
	// Node is the name of the entry of Input.Nodes: that of the Node, or of the
	// NodeClaim while there is no Node.
	Node string
	// NodeClaim is the name of the claim.
	NodeClaim string
	// NodePool is the pool of the node.
	NodePool string
	// ProviderID is the cloud's name for the machine.
	ProviderID string
}

// String is the name of the node, or else of the machine.
func (t Target) String() string { return cmp.Or(t.Node, t.ProviderID) }

// Action is what to do with a node and why.
type Action struct {
	// Reason says which rule wants it.
	Reason Reason
	// Step is what to do.
	Step Step
	// Targets are what to do it to, sorted by String. Rules
	// give one each. Propose gives any number to save money, and several
	// drifted nodes where new nodes for all of them cost less than for each:
	// then Detail, Cause and Since are those of the node that drifted first.
	Targets []Target
	// Detail completes the reason, and sums up what is launched and where pods
	// go as far as that is known: one line without a full stop.
	Detail string
	// Cause is a word for metrics and conditions: what has drifted, such as
	// NodePoolDrifted; the node condition that asks for repair; the kind of
	// interruption. May be empty.
	Cause string
	// StepCause is a word for why the step is what it is: of TerminateFirst,
	// NoReservedCapacity or StaticAtLimit; of a Replace, RebootsSpent if a
	// reboot is called for and did not help. Otherwise empty.
	StepCause string
	// Since is when the reason began to hold, zero if that is not known.
	Since time.Time
	// DrainBound, if not nil, bounds the drain from the moment that the
	// deletion begins, beside what the NodeClaim says: the shorter holds. Zero
	// does not drain. A deadline that is there already is never put off.
	DrainBound *time.Duration
	// DrainBy, if not zero, is the instant at which the drain must have ended.
	DrainBy time.Time

	// Simulated says that the engine found a place for every pod that needs
	// one: then Replacements, Moves and Savings hold. Actions of Propose that
	// launch nodes first are, apart from those of static pools.
	Simulated bool
	// Replacements are the nodes to launch first, and to wait for: dearest
	// first, then by name. NewNode.Request is the request to launch one, and
	// NewNode.NodeClaim the object.
	Replacements []provisioning.NewNode
	// Moves say where the pods of the targets find a place, by namespace and
	// name. kube-scheduler has the last word on that. Pods that nothing can
	// evict (Candidate.Held) have none where the action does without.
	Moves []Move
	// Savings is what the targets cost less what the Replacements do at their
	// cheapest, in USD per hour. It may be below zero, except for
	// Underutilized. Targets of unknown price count as 0. Of actions that are
	// not Simulated only those of Empty have it: the price of the node.
	Savings float64
	// DisruptionCost is the sum of Candidate.DisruptionCost of the targets, of
	// actions that have Savings.
	DisruptionCost float64
	// After names the actions of the same proposal that have to be done before this one
	// begins, each by the name of its first target (Target.String): they change what a
	// topology spread, an affinity or an anti-affinity counts, and pods of this one land
	// under it, or the other way round. They come before it in Proposal.Actions, in the
	// order of which these names are. Empty if it may begin at once, beside all others
	// that may.
	After []string

	held []*corev1.Pod // see Held
}

// Held are the pods of the targets that nothing may evict and whose drain nothing bounds, by
// node, namespace and name: the nodes of these pods are deleted, and stay until the pods have
// ended. No place is planned for them. Only an action of a proposal that deletes nodes
// without a simulation has any.
func (a Action) Held() []*corev1.Pod { return slices.Clone(a.held) }

// String is the action in one line.
func (a Action) String() string {
	names := make([]string, len(a.Targets))
	for i, t := range a.Targets {
		names[i] = t.String()
	}
	text := fmt.Sprintf("%s %s (%s)", a.Step, strings.Join(names, ", "), a.Reason)
	if a.Detail != "" {
		text += ": " + a.Detail
	}
	return text
}

// fault is what keeps it from being an action, whatever the cluster is like. It is
// empty for every action of a proposal.
func (a Action) fault() string {
	switch {
	case len(a.Targets) == 0:
		return "it names no node; take it from Propose"
	case slices.ContainsFunc(a.Replacements, func(n provisioning.NewNode) bool { return n.Pool == nil || len(n.Options) == 0 }):
		return "a replacement has no NodePool or no option; take it from Propose"
	case slices.ContainsFunc(a.Moves, func(m Move) bool { return m.Pod == nil }):
		return "a move is of no pod; take it from Propose"
	}
	return ""
}

// EditClaim is a NodeClaim as it should be stored before it is deleted for the
// action: with its deadline brought forward to DrainBy and DrainBound, as drain.Bound
// does. The zero Action stands for a deletion that somebody else asked for.
//
// The claim given is not changed, and returned itself where there is nothing to
// change. A nil claim stays nil.
func (a Action) EditClaim(claim *v1.NodeClaim, now time.Time) *v1.NodeClaim {
	return drain.Bound(claim, a.DrainBy, a.DrainBound, now)
}

// drainedBy is when the action has the drain end at the latest, in addition to what
// NodeClaims say; zero is no limit.
func (a Action) drainedBy(now time.Time) time.Time {
	if a.DrainBound == nil {
		return a.DrainBy
	}
	return state.Sooner(a.DrainBy, now.Add(*a.DrainBound))
}

// Result is the answer of a rule.
type Result struct {
	// Actions are in the order in which they should be carried out; each rule
	// says which that is.
	Actions []Action
	// Blocked are the nodes that the rule would act on but for something, in
	// the order of Blocked.Compare.
	Blocked []Blocked
	// Next is the earliest instant at which the same input can have another
	// answer; zero if time alone never changes it. Candidate.LifetimeCost changes all the
	// time, and with it the order of nodes that are equally urgent to repair, and which
	// nodes go of a static pool that has too many: neither is foreseen.
	Next time.Time
}

// Actions asks the rules that act for the reasons given, or for no reason all of them.
// The actions are in this order: Interrupted; LaunchTimeout, RegistrationTimeout and
// InitializationTimeout; GarbageCollected; Expired; ScaledDown; Unhealthy; Empty;
// Drifted. Of those about one node the first stays: what must happen anyhow comes
// first, then what is broken, and a node that is empty is not replaced because it has
// drifted.
//
// The search for cheaper ways to run the same pods, for the reason Underutilized, is
// not among them: see Propose.
func (f *Cluster) Actions(reasons ...Reason) Result {
	r, _ := f.actions(reasons...)
	return r
}

// actions is the same with what else the notices of the cloud say.
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

// merge joins results in the order given. Of the actions that share a target
// the first stays.
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
		out.Next = state.Sooner(out.Next, r.Next)
	}
	slices.SortFunc(out.Blocked, Blocked.Compare)
	return out
}

// sortActions puts the older ones first, those of unknown age last, and sorts
// by name otherwise.
func sortActions(list []Action) {
	slices.SortFunc(list, func(a, b Action) int {
		return cmp.Or(compareSince(a.Since, b.Since), strings.Compare(a.Targets[0].String(), b.Targets[0].String()),
			strings.Compare(a.Targets[0].ProviderID, b.Targets[0].ProviderID))
	})
}

func compareSince(a, b time.Time) int {
	return cmp.Or(cmp.Compare(state.ZeroOrOne(a.IsZero()), state.ZeroOrOne(b.IsZero())), a.Compare(b))
}
