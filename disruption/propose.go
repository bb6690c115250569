package disruption

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Propose decides what to do with the nodes of a cluster: it asks every rule
// and the search for cheaper ways to run the same pods, and lets begin what
// budgets and PodDisruptionBudgets allow. In this order:
//
//  1. Observe reads the input.
//  2. Cluster.Actions asks the rules.
//  3. Budgets and PodDisruptionBudgets say which of their actions may begin, in the order of
//     Cluster.Actions.
//  4. One simulation is made of the cluster once those are under way that leave their pods to
//     the next plan, such as those of nodes that have expired. In it pods without a node have
//     places. Empty nodes that some of them are about to come to are left alone.
//  5. The engine is asked what the other actions have to launch. What it finds is accepted,
//     and changes the simulation. Actions whose pods would find no place, or only once others
//     are done, are Blocked, and others may begin in their stead.
//  6. Cheaper ways to run the same pods are searched in the same simulation, for what may
//     begin as well.
//  7. The Detail of actions that leave their pods to the next plan says where these will find
//     places.
//
// The error is that of ctx, once that is done; then there is no proposal. Faults
// of the input are in the proposal, and an answer nonetheless: look at them. Nil
// options mean the defaults.
//
// Time grows with the nodes that may go, and with what the search tries for them, which
// ConsolidationOptions.MaxSteps bounds. Input.CatalogCache saves reading the catalogs
// again. It runs on the goroutine of the caller.
func Propose(ctx context.Context, now time.Time, in Input, opts *Options) (*Proposal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, faults := Observe(now, in, opts)
	progress.Report(ctx, progress.Event{Work: simulation.Work, Stage: "rules"})
	rules, notices := f.actions()
	d := &proposer{Cluster: f, gate: f.newGate()}
	if err := d.decide(ctx, rules.Actions); err != nil {
		return nil, err
	}
	p, err := d.consolidate(ctx)
	if err != nil {
		return nil, err
	}
	d.foretell()
	d.awaitHolds()
	p.Actions, p.Waiting = slices.Concat(d.accepted, p.Actions), slices.Concat(d.waiting, p.Waiting)
	p.Blocked = slices.Concat(rules.Blocked, d.blocked, p.Blocked)
	slices.SortFunc(p.Blocked, Blocked.Compare)
	p.Next = state.Sooner(state.Sooner(rules.Next, d.next), p.Next)
	p.Ignored, p.Unavailable, p.Faults, p.Warnings, p.cluster = notices.Ignored, notices.Unavailable, faults, f.Warnings(), f
	p.CostBefore, p.UnknownPrices = f.cost()
	p.CostAfter = p.CostBefore
	for _, a := range p.Actions {
		p.CostAfter -= f.savings(a)
	}
	return p, nil
}

// cost is what the managed nodes cost that are not on their way out.
func (f *Cluster) cost() (sum float64, unknown int) {
	for _, m := range f.seen.Nodes {
		if !m.Managed() || m.Marked() {
			continue
		}
		price, known := m.Price()
		sum += price
		if !known {
			unknown++
		}
	}
	return sum, unknown
}

// savings is what an action saves of cost. One that was not simulated replaces
// what it removes by the same, or by nothing.
func (f *Cluster) savings(a Action) float64 {
	switch {
	case a.Simulated:
		return a.Savings
	case a.Step != Delete:
		return 0
	}
	var targets []*state.StateNode
	for _, t := range a.Targets {
		m := f.seen.ByName[t.Node]
		if m != nil && !m.Marked() && !f.staysUntilPodsEnd(a, m) { // an interrupted node may be on its way out
			targets = append(targets, m)
		}
	}
	return state.PriceOf(targets)
}

// Proposal is the answer of Propose: what to do with the nodes of a cluster now,
// and why each node that is left alone is left alone. What it points at is the
// input's.
type Proposal struct {
	// Actions hold in the order in which they are listed: each in the state that those
	// before it leave. Those whose Action.After is empty may begin now, together; the
	// others once the actions that After names are done. Ask Confirm before each begins.
	// The order is that of Cluster.Actions, and then of the search for savings, best
	// first, but that each comes after those that it names.
	Actions []Action
	// Waiting are actions that are wanted but may not begin now, in the same
	// order. Those that save money are simulated together with Actions, and may
	// follow without another search.
	Waiting []Waiting
	// Blocked are the nodes that are left alone, with every reason, in the
	// order of Blocked.Compare. A node may be in Actions for one reason and
	// Blocked for the method of another.
	Blocked []Blocked
	// Next is the earliest instant after now at which the same input can have
	// another answer; zero if time alone never changes it. See Result.Next.
	Next time.Time

	// CostBefore is what the managed nodes cost that are not on their way out,
	// in USD per hour, and CostAfter what they cost once Actions are done.
	// Nodes whose price is not known count as 0 in both, and UnknownPrices is
	// how many those are.
	CostBefore, CostAfter float64
	UnknownPrices         int

	// Ignored and Unavailable are what follows from Input.Interruptions: the notices that
	// ask for nothing, and the offerings that the cloud is taking back.
	Ignored     []IgnoredNotice
	Unavailable []cloudprovider.OfferingKey

	// CatalogCache is for the next Input: see Input.CatalogCache. Nil if there was nothing
	// to search.
	CatalogCache *CatalogCache

	// Stats counts the work done; it is the same for the same input.
	Stats SearchStats
	// Truncated says that Options.Consolidation.MaxSteps ended the search. What was found is
	// proposed, and each node that was not looked at says so.
	Truncated bool

	// Faults are those of the input, each an InputError of package
	// provisioning; nil if there are none. What is at fault is left alone: see
	// Observe. If the engine refuses the input, nothing is simulated, and every
	// node that a simulation is needed for is Blocked by CodeNotSearched.
	Faults error
	// Warnings are those of Cluster.Warnings.
	Warnings []*provisioning.InputError

	cluster *Cluster // for Explain
}

// Savings is what Actions save together, in USD per hour. It is below zero where
// nodes that must go are replaced by dearer ones.
func (p *Proposal) Savings() float64 { return p.CostBefore - p.CostAfter }

// SearchStats says how much work a search took. Times are for a benchmark; this
// is the same on any machine.
type SearchStats struct {
	// Candidates are the nodes that could be consolidated.
	Candidates int
	// Steps is the work of the simulation, of replacements and of the search, in the unit of
	// Options.Consolidation.MaxSteps: one attempt to place the pods of one or more nodes
	// somewhere else.
	Steps int
	// WhatIfs is how many sets of nodes were looked at by the estimate that
	// finds what is worth simulating.
	WhatIfs int
	// Simulations is how many times the engine solved the cluster without some
	// of its nodes.
	Simulations int
}

// Move is a pod that finds another place.
type Move struct {
	// Pod is the pod, as it is in the input.
	Pod *corev1.Pod
	// From is the name of the node that it leaves.
	From string
	// Node is the name of the node that it goes to, empty if that is yet to be
	// launched.
	Node string
	// Replacement is the index in Action.Replacements of the node that it goes
	// to; -1 if it goes to Node.
	Replacement int
}

// String is the move in one line.
func (m Move) String() string {
	text := "a pod"
	if m.Pod != nil {
		text = state.PodObject(m.Pod)
	}
	text += " from " + m.From + " to "
	if m.Node != "" {
		return text + m.Node
	}
	return text + fmt.Sprintf("Replacements[%d]", m.Replacement)
}

// ObjectionKind is what speaks against an action. The set is closed within a
// major version.
type ObjectionKind string

// The kinds, in the order in which they are looked at.
const (
	// ObjectionBefore: an action that has to be done before this one is not done: it
	// has not begun, is under way or was given up. See Action.After.
	ObjectionBefore ObjectionKind = "Before"
	// ObjectionInput: the fresh input cannot be simulated, as it is at fault, or the
	// action is none.
	ObjectionInput ObjectionKind = "Input"
	// ObjectionBlocked: a rule keeps the action from one of its nodes by now;
	// see Code.
	ObjectionBlocked ObjectionKind = "Blocked"
	// ObjectionBudget: budgets or PodDisruptionBudgets do not let the action
	// begin.
	ObjectionBudget ObjectionKind = "Budget"
	// ObjectionNewPods: pods have come to a node of the action since.
	ObjectionNewPods ObjectionKind = "NewPods"
	// ObjectionDestination: a node that pods were to go to is gone, takes none,
	// or has no room left for them.
	ObjectionDestination ObjectionKind = "Destination"
	// ObjectionOffering: none of the ways to launch a replacement can be had
	// any more.
	ObjectionOffering ObjectionKind = "Offering"
	// ObjectionLimits: the limits of a pool leave no room for a replacement any
	// more.
	ObjectionLimits ObjectionKind = "Limits"
	// ObjectionUnplaced: a pod would find no place.
	ObjectionUnplaced ObjectionKind = "Unplaced"
	// ObjectionPrice: the action does not save what it must any more.
	ObjectionPrice ObjectionKind = "Price"
)

// Objection is one thing that speaks against an action by now.
type Objection struct {
	// Kind is what it is.
	Kind ObjectionKind
	// Target is the node of the action that it is about; zero if it is about
	// the action as a whole.
	Target Target
	// Code is that of ObjectionBlocked, otherwise empty.
	Code Code
	// Object is what is concerned, such as Pod "shop/web-1" or Node "n7". May
	// be empty.
	Object string
	// Detail is the objection in one line without a full stop.
	Detail string
	// Until is when it ceases to hold by itself; zero if time alone does not
	// make it.
	Until time.Time
}

// String is the objection in one line.
func (o Objection) String() string {
	if o.Target == (Target{}) {
		return string(o.Kind) + ": " + o.Detail
	}
	return string(o.Kind) + " of " + o.Target.String() + ": " + o.Detail
}
