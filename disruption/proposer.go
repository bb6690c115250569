package disruption

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// proposer decides which actions begin. There is one simulation of the cluster: each accepted
// action changes it, and later ones are tried in the changed simulation.
type proposer struct {
	*Cluster
	gate *admission.Admission   // accepted actions have passed it
	sim  *simulation.Simulation // nil if nothing needs a simulation

	// going are the names of nodes that must be removed because they have drifted or are unhealthy,
	// now or later. Pods are not moved to them, because they would have to move again.
	going []string

	accepted []Action
	waiting  []Waiting
	blocked  []Blocked
	next     time.Time // when budgets can allow more
}

// simulatable reports whether an action of a rule replaces one node of a dynamic pool.
func (f *Cluster) simulatable(a Action) bool {
	if a.Operation != Replace || a.Simulated || len(a.Targets) != 1 {
		return false
	}
	m := f.seen.ByName[a.Targets[0].Node]
	return m != nil && m.Pool != nil && !m.Pool.Static() && !m.Marked()
}

// decide decides which actions of the rules begin, in the order of reasons:
//
//  1. Budgets and PodDisruptionBudgets decide which may begin: see Cluster.admit.
//  2. Of those, the actions that leave their pods to the next plan begin. A node to which pods are
//     about to go is Blocked if it is empty, or was to be replaced instead of another.
//  3. Those that replace a node of a dynamic pool (Drifted, Unhealthy, and Interrupted by a
//     recommendation) are simulated together: see simulation.Replace. Each has its own
//     replacements, but drifted nodes whose pods share a new node become one action. The pods may go
//     where Moves say in the state that the actions before leave; Action.After names the actions
//     that are needed first. No pod moves to another node that must be removed, now or later.
//     Capacity for pods that nothing can evict is launched too, because they need it when the drain
//     is ended by force. Prices, consolidation policies and Options.Consolidation.NoReplacements
//     have no influence. An action whose pods have no place is Blocked, or terminates its node
//     first: see terminateReserved.
//  4. Blocked actions return what they took of budgets, and actions that waited are tried again, in
//     addition to those that begin.
//
// If no node can be replaced so, one is replaced whose pods find places while the other nodes that
// must be removed accept pods: see oneOf.
func (p *proposer) decide(ctx context.Context, actions []Action) error {
	report := func(done int) {
		progress.Report(ctx, progress.Event{Work: simulation.Work, Stage: "replacements", Done: done, Total: len(actions), Unit: "actions"})
	}
	report(0)
	for _, a := range actions {
		if p.simulatable(a) {
			p.going = append(p.going, a.Targets[0].Node)
		}
	}
	var inTheWay []Action
	for round, asked := 0, actions; ; round++ {
		begin, wait := p.admit(p.gate, asked)
		p.waiting, p.next = wait, order.Sooner(p.next, p.gate.Next)
		if round == 0 {
			if err := p.simulate(ctx, begin); err != nil {
				return err
			}
		}
		refused, err := p.begin(ctx, begin)
		if err != nil {
			return err
		}
		if len(refused) == 0 {
			break
		}
		inTheWay = append(inTheWay, refused...)
		p.gate = p.gateAfter(p.accepted)
		if len(p.waiting) == 0 || round == mostRounds {
			break
		}
		asked = nil
		for _, w := range p.waiting {
			asked = append(asked, w.Action)
		}
	}
	if err := p.oneOf(ctx, inTheWay); err != nil {
		return err
	}
	p.close()
	place := map[Target]int{}
	for i, a := range actions {
		place[a.Targets[0]] = i
	}
	slices.SortStableFunc(p.accepted, func(a, b Action) int { return cmp.Compare(place[a.Targets[0]], place[b.Targets[0]]) })
	p.accepted = inOrder(p.accepted)
	report(len(p.accepted))
	return nil
}

// mostRounds is the largest number of rounds in which actions begin instead of blocked ones.
const mostRounds = 4

// simulate makes the simulation if anything needs one: of the cluster with those actions under way
// that leave pods to the next plan.
func (p *proposer) simulate(ctx context.Context, actions []Action) error {
	asks := func(a Action) bool {
		return p.simulatable(a) || p.displaces(a) || a.Reason == Empty && len(p.in.Pods) > 0
	}
	consolidatable := func(m *state.StateNode) bool { return len(p.keepsConsolidation(m)) == 0 }
	if !slices.ContainsFunc(actions, asks) && !slices.ContainsFunc(p.seen.Nodes, consolidatable) {
		return nil
	}
	var begun []simulation.Decision
	var going []string
	for _, a := range actions {
		switch {
		case p.simulatable(a):
			going = append(going, a.Targets[0].Node)
		case a.Reason != Empty:
			begun = append(begun, decisionOf(a, p.seen.Now))
		}
	}
	config := p.simulationConfig()
	config.Pin = true
	var err error
	p.sim, err = simulation.New(ctx, p.seen, config, begun, going)
	return err
}

// begin accepts actions that budgets allow, and returns those that are refused.
func (p *proposer) begin(ctx context.Context, actions []Action) (refused []Action, err error) {
	var wanted []Action
	for _, a := range actions {
		switch pod := p.promised(a); {
		case pod != "":
			p.turnDown(a, rule.Outcome{Rule: rule.Promised, Object: pod, Detail: pod + " is about to come here"})
			refused = append(refused, a)
		case p.simulatable(a):
			wanted = append(wanted, a)
		default:
			p.accept(a)
		}
	}
	if len(wanted) == 0 {
		return refused, nil
	}
	p.close()
	found, err := p.replace(ctx, wanted)
	if err != nil {
		return nil, err
	}
	carried := map[*simulation.CandidateSet]bool{}
	for i, a := range wanted {
		first, ok := a, false
		switch v := found[i].Outcome; {
		case !v.Bad():
			if !carried[found[i]] { // otherwise an action before it removes the node too
				carried[found[i]] = true
				p.accepted = append(p.accepted, completed(found[i], a))
			}
			continue
		case v.Rule != rule.NotSearched: // otherwise it waits for others
			if first, ok, err = p.terminateReserved(ctx, a); err != nil {
				return nil, err
			}
		}
		if ok {
			p.accepted = append(p.accepted, first)
			continue
		}
		p.turnDown(a, found[i].Outcome)
		refused = append(refused, a)
	}
	return refused, nil
}

// promised returns a pod that is about to go to the node of an action that could wait, "" if there
// is none.
func (p *proposer) promised(a Action) string {
	if p.sim == nil || a.Reason != Empty && !p.simulatable(a) {
		return ""
	}
	return p.sim.Promised[a.Targets[0].Node]
}

// accept accepts an action that leaves its pods to the next plan.
func (p *proposer) accept(a Action) {
	p.accepted = append(p.accepted, a)
	if p.sim != nil {
		p.sim.Begin(decisionOf(a, p.seen.Now))
	}
}

// turnDown records the cause that prevents an action.
func (p *proposer) turnDown(a Action, v rule.Outcome) {
	p.blocked = append(p.blocked, blockedBy(a.Targets[0], methodOf(a.Reason), v))
}

// replace returns the places of the pods of each action, or the cause that prevents the action.
func (p *proposer) replace(ctx context.Context, wanted []Action) ([]*simulation.CandidateSet, error) {
	targets := make([]*state.StateNode, len(wanted))
	for i, a := range wanted {
		targets[i] = p.seen.ByName[a.Targets[0].Node]
	}
	var found map[*state.StateNode]*simulation.CandidateSet
	if p.sim.Refused == nil {
		var err error
		if found, err = p.sim.Replace(ctx, targets, p.together(wanted)); err != nil {
			return nil, err
		}
	}
	out := make([]*simulation.CandidateSet, len(wanted))
	for i, m := range targets {
		if out[i] = found[m]; out[i] == nil {
			out[i] = &simulation.CandidateSet{Outcome: rule.Forbid(rule.NotSimulated, "the cluster cannot be planned for: %s", words.FirstLine(p.sim.Refused))}
		}
	}
	return out, nil
}

// together returns the largest number of nodes that one action may replace. Only drifted nodes are
// replaced together, because nodes of other reasons differ in the limit of their drain.
func (p *proposer) together(wanted []Action) int {
	if slices.ContainsFunc(wanted, func(a Action) bool { return a.Reason != Drifted }) {
		return 1
	}
	return p.opts.Consolidation.MaxNodes
}

// close excludes pods from the nodes that must be removed, and opens all other nodes.
func (p *proposer) close() {
	if p.sim == nil {
		return
	}
	for _, m := range p.seen.Nodes {
		p.sim.Open(m.Name)
	}
	for _, name := range p.going {
		p.sim.Close(name)
	}
}

// oneOf accepts one of the refused actions if no node could be replaced: the first whose pods find
// places while the other nodes that must be removed accept pods. Moving twice is better than not
// moving.
func (p *proposer) oneOf(ctx context.Context, refused []Action) error {
	refused = slices.DeleteFunc(refused, func(a Action) bool { return !p.simulatable(a) || p.promised(a) != "" })
	replaces := func(a Action) bool { return a.Simulated || a.Operation == TerminateFirst }
	if len(refused) == 0 || len(p.going) < 2 || slices.ContainsFunc(p.accepted, replaces) {
		return nil
	}
	for _, name := range p.going {
		p.sim.Open(name)
	}
	for _, a := range refused[:min(len(refused), simulation.AskedAlone(len(p.seen.Nodes)))] {
		if no, _ := p.gate.Judge(a.request()); no != nil {
			continue // others have begun meanwhile
		}
		found, err := p.replace(ctx, []Action{a})
		if err != nil {
			return err
		}
		if found[0].Outcome.Bad() {
			p.sim.Open(a.Targets[0].Node) // it may wait for others
			continue
		}
		p.accepted = append(p.accepted, completed(found[0], a))
		p.gate = p.gateAfter(p.accepted)
		p.blocked = slices.DeleteFunc(p.blocked, func(b Blocked) bool { return b.Target == a.Targets[0] && b.Method == methodOf(a.Reason) })
		break
	}
	return nil
}

// foretell adds to actions that remove nodes without a simulation where the next plan will place
// their pods, and which pods delay the drain.
func (p *proposer) foretell() {
	for i := range p.accepted {
		a := &p.accepted[i]
		pods := map[string]bool{}
		for _, d := range p.departures(*a) {
			for _, pod := range d.Displaced {
				pods[state.PodObject(pod)] = true
			}
			for _, pod := range d.Endless {
				a.held = append(a.held, pod.Pod)
			}
			p.next = order.Sooner(p.next, d.Next)
			if text := heldText(d); text != "" {
				a.Detail += "; " + text
			}
		}
		if len(pods) == 0 {
			continue
		}
		text := "its pod is for the next plan"
		if len(pods) > 1 {
			text = fmt.Sprintf("its %d pods are for the next plan", len(pods))
		}
		if d := destinationsIn(p.sim.Settled, pods).String(); d != "" {
			text += ": " + d
		}
		a.Detail += "; " + text
	}
}

// awaitHolds records when pods on nodes being deleted first need a place.
func (p *proposer) awaitHolds() {
	for _, m := range p.seen.Nodes {
		if m.Leaving {
			p.next = order.Sooner(p.next, p.seen.Departs(m, time.Time{}).Next)
		}
	}
}

// staysUntilPodsEnd reports whether nothing limits the drain of a node with pods that nothing may
// evict.
func (f *Cluster) staysUntilPodsEnd(a Action, m *state.StateNode) bool {
	return a.Operation == Delete && !a.Simulated && len(f.seen.Departs(m, a.drainedBy(f.seen.Now)).Endless) > 0
}

// heldText describes the pods that delay the drain of a node, "" if there are none.
func heldText(d state.Departure) string {
	pods := func(list []*state.PodView) string {
		if len(list) == 1 {
			return list[0].Object()
		}
		return fmt.Sprintf("%d pods, the first %s", len(list), list[0].Object())
	}
	switch {
	case len(d.Held) == 0:
		return ""
	case len(d.Endless) > 0:
		return fmt.Sprintf("nothing may evict %s, and nothing bounds the drain, so that the node stays until %s",
			pods(d.Endless), words.Verb(len(d.Endless), "the pod ends", "these end"))
	}
	return fmt.Sprintf("nothing may evict %s yet, and a place is planned for at %s", pods(d.Held), words.Instant(d.Next))
}

// displaces reports whether an action leaves pods to the next plan.
func (f *Cluster) displaces(a Action) bool {
	return slices.ContainsFunc(f.departures(a), func(d state.Departure) bool { return len(d.Displaced) > 0 })
}

// departures returns, for each node that an action removes without places for its pods, what
// happens to the pods.
func (f *Cluster) departures(a Action) (out []state.Departure) {
	if a.Simulated || a.Operation != Delete {
		return nil
	}
	for _, m := range f.nodesOf(a) {
		if m != nil {
			out = append(out, f.seen.Departs(m, a.drainedBy(f.seen.Now)))
		}
	}
	return out
}

// simulationConfig returns the settings of simulations.
func (f *Cluster) simulationConfig() simulation.Config {
	c := simulation.Config{Provisioning: f.opts.Provisioning}
	if f.in.CatalogCache != nil {
		c.Before = f.in.CatalogCache.compiled
	}
	return c
}

// decisionOf converts an action that leaves its pods to the next plan for the simulation.
func decisionOf(a Action, now time.Time) simulation.Decision {
	return simulation.Decision{Name: a.name(), Nodes: nodeNames(a), Reboots: a.Operation == Reboot, By: a.drainedBy(now)}
}
