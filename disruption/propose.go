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
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Propose decides what to do with the nodes of a cluster: it evaluates every rule and the search
// for cheaper ways to run the same pods, and admits what budgets and PodDisruptionBudgets allow. In
// this order:
//
//  1. Observe reads the input.
//  2. Cluster.Actions evaluates the rules.
//  3. Budgets and PodDisruptionBudgets decide which of their actions may begin, in the order of
//     Cluster.Actions.
//  4. One simulation is made of the cluster with those actions under way that leave their pods to
//     the next plan, such as expirations. In the simulation, pods without a node have places. Empty
//     nodes to which some of these pods will go are kept.
//  5. The engine decides which nodes the other actions must launch. The accepted results change the
//     simulation. Actions whose pods have no place, or only once other actions are done, are
//     Blocked, and other actions may begin instead.
//  6. The same simulation is searched for cheaper ways to run the same pods, again only for actions
//     that may begin.
//  7. The Detail of actions that leave their pods to the next plan says where these pods will find
//     places.
//
// The faults are those of the input and the options, in the order of Observe; nil if there are none.
// Objects at fault are not disrupted: see Observe. If the engine refuses the input, nothing is
// simulated, every node that needs a simulation is Blocked by CodeNotSearched, and the faults that
// the engine names follow those of Observe.
//
// The error is that of ctx once ctx is done; then there is no proposal. Nil options mean the defaults.
//
// The time grows with the nodes that may be removed, and with what the search tries for them, which
// ConsolidationOptions.MaxSteps limits. Input.CatalogCache saves reading the catalogs again. The
// goroutines that it starts end before it does.
func Propose(ctx context.Context, now time.Time, in Input, opts *Options) (p *Proposal, faults []*provisioning.InputError, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	f, fault := Observe(now, in, opts)
	p, refused, err := f.propose(ctx)
	if err != nil {
		return nil, nil, err
	}
	faults = provisioning.Faults(fault)
	for _, r := range provisioning.Faults(refused) {
		if !slices.ContainsFunc(faults, func(known *provisioning.InputError) bool { return state.CompareFaults(known, r) == 0 }) {
			faults = append(faults, r)
		}
	}
	return p, faults, nil
}

// propose is Propose for a cluster that was observed. refused is why the engine refuses the input.
func (f *Cluster) propose(ctx context.Context) (p *Proposal, refused, err error) {
	progress.Report(ctx, progress.Event{Work: simulation.Work, Stage: "rules"})
	rules, notices := f.actions()
	d := &proposer{Cluster: f, gate: f.newGate()}
	if err := d.decide(ctx, rules.Actions); err != nil {
		return nil, nil, err
	}
	if p, err = d.consolidate(ctx); err != nil {
		return nil, nil, err
	}
	if d.sim != nil {
		refused = d.sim.Refused
	}
	d.foretell()
	d.awaitHolds()
	p.Actions, p.Waiting = slices.Concat(d.accepted, p.Actions), slices.Concat(d.waiting, p.Waiting)
	p.Blocked = slices.Concat(rules.Blocked, d.blocked, p.Blocked)
	slices.SortFunc(p.Blocked, Blocked.Compare)
	p.Next = order.Sooner(rules.Next, d.next, p.Next)
	p.Ignored, p.Unavailable, p.Warnings, p.cluster = notices.Ignored, notices.Unavailable, f.Warnings(), f
	p.CostBefore, p.UnknownPrices = f.cost()
	p.CostAfter = p.CostBefore
	for _, a := range p.Actions {
		p.CostAfter -= f.savings(a)
	}
	return p, refused, nil
}

// cost returns the total price of the managed nodes that are not being removed, in USD per hour,
// and the number of those with an unknown price.
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

// savings returns by how much an action lowers cost, in USD per hour. An action that was not
// simulated replaces what it removes at the same price, or deletes it without replacement.
func (f *Cluster) savings(a Action) float64 {
	switch {
	case a.Simulated:
		return a.Savings
	case a.Operation != Delete:
		return 0
	}
	var targets []*state.StateNode
	for _, m := range f.nodesOf(a) {
		if m != nil && !m.Marked() && !f.staysUntilPodsEnd(a, m) { // an interrupted node may be marked already
			targets = append(targets, m)
		}
	}
	return state.PriceOf(targets)
}

// Proposal is the result of Propose: what to do with the nodes of a cluster now, and why each other
// node is left alone. Its pointers point into the input.
type Proposal struct {
	// Actions are valid in the order in which they are listed: each in the state that those before
	// it leave. Those with an empty Action.After may begin now, together; the others once the
	// actions named by After are done. Call Confirm before each begins. They are in the order of
	// Cluster.Actions, followed by the actions that save money, best first, except that each comes
	// after those that it names.
	Actions []Action
	// Waiting are proposed actions that may not begin now, in the same order. Those that save money
	// were simulated together with Actions, and may follow without another search.
	Waiting []Waiting
	// Blocked are the nodes that are left alone, with every cause, in the order of Blocked.Compare.
	// A node may have an action for one reason and be Blocked for the method of another.
	Blocked []Blocked
	// Next is the earliest instant after now at which the same input can give another result; zero
	// if time alone never changes it. See Result.Next.
	Next time.Time

	// CostBefore is the total price of the managed nodes that are not being removed, in USD per
	// hour, and CostAfter that price once Actions are done. Nodes of unknown price count as 0 in
	// both; UnknownPrices is their number.
	CostBefore, CostAfter float64
	UnknownPrices         int

	// Ignored and Unavailable follow from Input.Interruptions: the notices that require no action,
	// and the offerings that the cloud is taking back.
	Ignored     []IgnoredNotice
	Unavailable []cloudprovider.OfferingKey

	// CatalogCache is for the next Input: see Input.CatalogCache. It is nil if there was nothing to
	// search.
	CatalogCache *CatalogCache

	// Stats counts the work done; it is equal for equal inputs.
	Stats SearchStats
	// Truncated says that Options.Consolidation.MaxSteps ended the search. What was found is
	// proposed, and each node that was not tried is Blocked by CodeNotSearched.
	Truncated bool

	// Warnings are Cluster.Warnings.
	Warnings []*provisioning.InputError

	cluster *Cluster // for Explain
}

// Savings returns the total saving of Actions in USD per hour. It is negative if nodes that must be
// removed are replaced by more expensive ones.
func (p *Proposal) Savings() float64 { return p.CostBefore - p.CostAfter }

// SearchStats is the amount of work of a search, which is the same on any machine. For times use a
// benchmark.
type SearchStats struct {
	// Candidates is the number of nodes that could be consolidated.
	Candidates int
	// Steps is the work of the simulation, of replacements and of the search, in the unit of
	// Options.Consolidation.MaxSteps: one attempt to place the pods of one or more nodes elsewhere.
	Steps int
	// WhatIfs is the number of sets of nodes that the estimate evaluated to find sets worth
	// simulating.
	WhatIfs int
	// Simulations is the number of times the engine solved the cluster without some of its nodes.
	Simulations int
}

// Move is a pod that gets another place.
type Move struct {
	// Pod is the pod, as it is in the input.
	Pod *corev1.Pod
	// From is the name of the node that the pod leaves.
	From string
	// Node is the name of the node to which the pod goes, empty if that node is yet to be launched.
	Node string
	// Replacement is the index in Action.Replacements of the node to which the pod goes; -1 if it
	// goes to Node.
	Replacement int
}

// String renders the move on one line.
func (m Move) String() string {
	text := "a pod"
	switch {
	case m.Pod != nil:
		text = state.PodObject(m.Pod)
	case m.From == "":
		return "no pod"
	}
	text += " from " + m.From + " to "
	if m.Node != "" {
		return text + m.Node
	}
	return text + fmt.Sprintf("Replacements[%d]", m.Replacement)
}

// ObjectionKind is a kind of objection to an action. No kind is added or removed within a major
// version.
type ObjectionKind string

// The kinds, in the order in which Confirm checks them.
const (
	// ObjectionBefore: an action that must be done before this one is not done: it has not begun,
	// is under way or was given up. See Action.After.
	ObjectionBefore ObjectionKind = "Before"
	// ObjectionInput: the fresh input cannot be simulated because it is at fault, or the action is
	// not valid.
	ObjectionInput ObjectionKind = "Input"
	// ObjectionBlocked: a rule now prevents the action on one of its nodes; see Code.
	ObjectionBlocked ObjectionKind = "Blocked"
	// ObjectionBudget: budgets or PodDisruptionBudgets do not allow the action.
	ObjectionBudget ObjectionKind = "Budget"
	// ObjectionNewPods: further pods are on a node of the action.
	ObjectionNewPods ObjectionKind = "NewPods"
	// ObjectionDestination: a node to which pods should go is gone, takes no pods, or has no room
	// left for them.
	ObjectionDestination ObjectionKind = "Destination"
	// ObjectionOffering: no option of a replacement is available any more.
	ObjectionOffering ObjectionKind = "Offering"
	// ObjectionLimits: the limits of a pool leave no room for a replacement any more.
	ObjectionLimits ObjectionKind = "Limits"
	// ObjectionUnplaced: a pod has no place.
	ObjectionUnplaced ObjectionKind = "Unplaced"
	// ObjectionPrice: the action no longer saves enough.
	ObjectionPrice ObjectionKind = "Price"
)

// Objection is one objection to an action.
type Objection struct {
	// Kind is the kind of objection.
	Kind ObjectionKind
	// Target is the node of the action concerned; zero if the objection concerns the action as a
	// whole.
	Target Target
	// Code is the code of ObjectionBlocked, otherwise empty.
	Code Code
	// Object is the object concerned, such as Pod "shop/web-1" or Node "n7". It may be empty.
	Object string
	// Detail is the objection on one line without a full stop.
	Detail string
	// Until is when the objection ends by itself; zero if time alone does not end it.
	Until time.Time
}

// String renders the objection on one line.
func (o Objection) String() string {
	if o.Target == (Target{}) {
		return string(o.Kind) + ": " + o.Detail
	}
	return string(o.Kind) + " of " + o.Target.String() + ": " + o.Detail
}
