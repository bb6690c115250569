package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// simulate finds out what actions have to launch that replace nodes of dynamic
// pools: those of Drift and Repair, and of Interruption for a recommendation. It
// returns all actions in the same order, these with Simulated, Replacements,
// Moves, Savings, DisruptionCost and a Detail that sums them up, and less those
// whose pods would find no place, which are Blocked by ruleUnplaced. Capacity for pods that nothing can
// evict is launched as well, as they will need it when the drain is ended by
// force.
//
// All are thought of as done together, on a cluster where the other actions are
// under way. Each has replacements of its own, and its pods may go where Moves say in
// the state that those before it leave; Action.After names those that it needs. Pods
// with a topology spread, affinity or anti-affinity over zones that must hold, and pods
// that such affinity selects, stay in their zones where they can, so that most actions
// need none. What holds in no such order is Blocked by ruleNotSearched: ask again once the
// others are done. If none of them could begin so, one does that can by itself. Neither prices nor consolidation policies play a part, but
// Options.Consolidation.NoReplacements does not hold.
//
// Where the pods of a node would find no place, but would if the node gave its
// place in a reservation back, it is terminated first (StepCause
// NoReservedCapacity) if Options.Drift.TerminateFirst or Options.Repair.TerminateFirst let
// that be. It is looked at by itself, and is not Simulated: where its pods go is
// for the next plan.
//
// The error is that of ctx, once that is done.
//
// Of nodes that are tied no pod goes to those that are about to go.
func (f *Cluster) simulate(ctx context.Context, actions []Action, tied []Blocked) (Result, error) {
	var others, wanted []Action
	for _, a := range actions {
		if f.simulatable(a) {
			wanted = append(wanted, a)
		} else {
			others = append(others, a)
		}
	}
	if len(wanted) == 0 {
		return Result{Actions: actions}, ctx.Err()
	}
	w, err := simulation.New(ctx, f.seen, f.replacing(wanted), decisionsOf(others))
	if err != nil {
		return Result{}, err
	}
	found, verdicts, err := f.replace(ctx, w, wanted, tied)
	if err != nil {
		return Result{}, err
	}
	var r Result
	for _, a := range actions {
		var m *state.StateNode
		if f.simulatable(a) {
			m = f.seen.ByName[a.Targets[0].Node]
		}
		if v := verdicts[m]; v.Bad() {
			if v.Rule != rule.NotSearched { // else it waits for others
				first, ok, err := f.terminateReserved(ctx, a)
				if err != nil {
					return Result{}, err
				}
				if ok {
					r.Actions = append(r.Actions, first)
					continue
				}
			}
			r.Blocked = append(r.Blocked, Blocked{Target: a.Targets[0], Method: methodOf(a.Reason), Code: codeOf(v.Rule), rule: v.Rule, Object: v.Object, Detail: v.Detail})
			continue
		}
		if cs := found[m]; m != nil && cs != nil {
			a = completed(cs, a)
		}
		r.Actions = append(r.Actions, a)
	}
	r.Actions = inOrder(r.Actions)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}

// replace finds what becomes of the pods of actions, and what speaks against each.
func (f *Cluster) replace(ctx context.Context, w *simulation.Simulation, wanted []Action, tied []Blocked) (map[*state.StateNode]*simulation.CandidateSet, map[*state.StateNode]rule.Outcome, error) {
	var found map[*state.StateNode]*simulation.CandidateSet
	verdicts := map[*state.StateNode]rule.Outcome{}
	targets := make([]*state.StateNode, len(wanted))
	for i, a := range wanted {
		targets[i] = f.seen.ByName[a.Targets[0].Node]
	}
	if w.Refused == nil {
		r := simulation.NewReplacements(w)
		for _, b := range tied {
			r.Close(b.Node)
		}
		if err := r.Find(ctx, targets); err != nil {
			return nil, nil, err
		}
		found = r.Found
	}
	for _, m := range targets {
		switch cs := found[m]; {
		case cs == nil:
			verdicts[m] = rule.Forbid(rule.NotSimulated, "the cluster cannot be planned for: %v", refusalOf(w))
		case cs.Outcome.Bad():
			verdicts[m] = cs.Outcome
		}
	}
	return found, verdicts, nil
}

// simulationConfig is what simulations to save money keep to.
func (f *Cluster) simulationConfig() simulation.Config {
	c := simulation.Config{Provisioning: f.opts.Provisioning, NoReplacements: f.opts.Consolidation.NoReplacements}
	if f.in.CatalogCache != nil {
		c.Market = f.in.CatalogCache.market
	}
	return c
}

// pinned is the same with pods that stay in the domains that they are spread over.
func (f *Cluster) pinned() simulation.Config {
	c := f.simulationConfig()
	c.Pin = true
	return c
}

// launching is the same for an engine that may launch nodes in any case.
func (f *Cluster) launching() simulation.Config {
	c := f.simulationConfig()
	c.NoReplacements = false
	return c
}

// replacing is the same with the pods of the nodes of some actions pinned, as others do
// not move.
func (f *Cluster) replacing(actions []Action) simulation.Config {
	c := f.launching()
	c.Pin, c.PinOn = true, map[string]bool{}
	for _, a := range actions {
		for _, t := range a.Targets {
			c.PinOn[t.Node] = true
		}
	}
	return c
}

// decisionsOf are actions as simulations know them.
func decisionsOf(actions []Action) []simulation.Decision {
	out := make([]simulation.Decision, len(actions))
	for i, a := range actions {
		d := simulation.Decision{Name: a.name(), Reboots: a.Step == Reboot, Simulated: a.Simulated, Replacements: a.Replacements}
		for _, t := range a.Targets {
			d.Nodes = append(d.Nodes, t.Node)
		}
		for _, m := range a.Moves {
			d.Moves = append(d.Moves, simulation.Move(m))
		}
		out[i] = d
	}
	return out
}

func refusalOf(w *simulation.Simulation) string {
	if w.Refused == nil {
		return "it has not such a node"
	}
	return words.FirstLine(w.Refused)
}

// simulatable reports whether an action of a rule replaces one node of a dynamic
// pool.
func (f *Cluster) simulatable(a Action) bool {
	if a.Step != Replace || a.Simulated || len(a.Targets) != 1 {
		return false
	}
	m := f.seen.ByName[a.Targets[0].Node]
	return m != nil && m.Pool != nil && !m.Pool.Static() && !m.Marked()
}

// admitSimulated says which actions begin, with what they have to launch. Where
// one is blocked others may begin in its stead.
func (f *Cluster) admitSimulated(ctx context.Context, actions []Action) (admitted, []Blocked, error) {
	wanted := actions
	var blocked, tied []Blocked
	for round := 0; ; round++ {
		pacing := f.admit(actions)
		r, err := f.simulate(ctx, pacing.Go, tied)
		if err != nil {
			return admitted{}, nil, err
		}
		blocked = append(blocked, r.Blocked...)
		waits := waitingForOthers(r.Blocked)
		tied = append(tied, waits...)
		if len(r.Blocked) == 0 || round == mostRepaced || len(pacing.Wait) == 0 && len(waits) == len(r.Blocked) {
			pacing.Go = r.Actions
			if len(blocked) > 1 && !slices.ContainsFunc(r.Actions, isReplacement) {
				return f.oneOf(ctx, wanted, pacing, blocked)
			}
			return pacing, blocked, nil
		}
		failed := map[string]bool{}
		for _, b := range r.Blocked {
			failed[fmt.Sprint(b.Method, b.Target)] = true
		}
		actions = slices.DeleteFunc(slices.Clone(actions), func(a Action) bool {
			return len(a.Targets) == 1 && failed[fmt.Sprint(methodOf(a.Reason), a.Targets[0])]
		})
	}
}

// isReplacement reports whether an action has been simulated, or could not be as the
// node is terminated first.
func isReplacement(a Action) bool { return a.Simulated || a.Step == TerminateFirst }

// oneOf lets one action begin where several were in each other's way, so that none
// could: the first whose pods find places while the nodes of the others stay open.
func (f *Cluster) oneOf(ctx context.Context, wanted []Action, pacing admitted, blocked []Blocked) (admitted, []Blocked, error) {
	tries := max(4, simulation.AskedAlone/len(f.seen.Nodes))
	for _, a := range wanted {
		if !f.simulatable(a) {
			continue
		}
		paced := f.admit(slices.DeleteFunc(slices.Clone(wanted), func(b Action) bool {
			return f.simulatable(b) && b.Targets[0] != a.Targets[0]
		}))
		if !slices.ContainsFunc(paced.Go, f.simulatable) {
			continue
		}
		if tries == 0 {
			break
		}
		tries--
		r, err := f.simulate(ctx, paced.Go, nil)
		if err != nil {
			return admitted{}, nil, err
		}
		if len(r.Blocked) == 0 {
			pacing.Go = r.Actions
			pacing.Wait = slices.DeleteFunc(pacing.Wait, func(w Waiting) bool { return w.Targets[0] == a.Targets[0] })
			blocked = slices.DeleteFunc(blocked, func(b Blocked) bool { return b.Target == a.Targets[0] && b.Method == methodOf(a.Reason) })
			break
		}
	}
	return pacing, blocked, nil
}

// waitingForOthers are those that are blocked only as others go first: their nodes are
// about to go.
func waitingForOthers(blocked []Blocked) []Blocked {
	return slices.DeleteFunc(slices.Clone(blocked), func(b Blocked) bool { return b.rule != rule.NotSearched })
}

// mostRepaced bounds how often actions are let begin in the stead of others.
const mostRepaced = 4

// keepPromised leaves empty nodes alone that pods without a node are about to come
// to: those that are pending, and those of nodes that the other actions remove. To
// know where they go, the engine is asked, if there is any such node and pod.
func (f *Cluster) keepPromised(ctx context.Context, r Result) (Result, error) {
	empty := func(a Action) bool { return a.Reason == Empty && a.Step == Delete }
	if len(f.in.Pods) == 0 || !slices.ContainsFunc(r.Actions, empty) {
		return r, nil
	}
	w, err := simulation.NewSettled(ctx, f.seen, f.simulationConfig(), decisionsOf(slices.DeleteFunc(slices.Clone(r.Actions), empty)))
	if err != nil {
		return Result{}, err
	}
	promised := func(a Action) bool {
		return empty(a) && slices.ContainsFunc(a.Targets, func(t Target) bool { return w.Promised[t.Node] != "" })
	}
	r.Blocked = slices.Clone(r.Blocked)
	for _, a := range r.Actions {
		if promised(a) {
			t := a.Targets[0]
			r.Blocked = append(r.Blocked, Blocked{Target: t, Method: MethodEmptiness, Code: codeOf(rule.Promised), rule: rule.Promised,
				Object: w.Promised[t.Node], Detail: w.Promised[t.Node] + " is about to come here"})
		}
	}
	r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), promised)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}

// terminateReserved makes an action that wants to replace a node of a dynamic
// pool, and found no place for its pods, one that terminates it first: if the
// options allow that for the reason, the node holds a place in a reservation that
// is still offered, and all pods that need a place would have one if that place
// were free. It reports false otherwise.
//
// Nothing but reserved capacity is named beside a reservation in that
// simulation: a launch that could end up elsewhere would have found a place
// without ending the node.
func (f *Cluster) terminateReserved(ctx context.Context, a Action) (Action, bool, error) {
	if !f.mayTerminateFirst(a.Reason) || a.Step != Replace || len(a.Targets) != 1 {
		return a, false, nil
	}
	m := f.seen.ByName[a.Targets[0].Node]
	if m == nil || m.Pool == nil || m.Pool.Static() || !m.Pool.Ready() || !holdsReservation(m) {
		return a, false, nil
	}
	var opts provisioning.Options
	if f.opts.Provisioning != nil {
		opts = *f.opts.Provisioning
	}
	opts.Reserved = provisioning.ReservedStrict
	in := f.in.Input
	in.InstanceTypes = credited(in.InstanceTypes, m.Reservation())
	problem, err := provisioning.Prepare(in, &opts)
	if err == nil {
		problem, err = problem.Without(m.Name)
	}
	if err != nil {
		return a, false, nil // faults of the input are reported elsewhere
	}
	plan, err := problem.Solve(progress.With(ctx, nil))
	if err != nil {
		return a, false, err
	}
	for _, u := range plan.Unplaced {
		if needsPlace(m, u.Pod) {
			return a, false, nil
		}
	}
	a.Step, a.StepCause = TerminateFirst, NoReservedCapacity
	pods := map[string]bool{}
	nameMovable(m, pods)
	a.Detail += fmt.Sprintf("; it goes first, as its pods find a place only once its own in reservation %s is free: %s",
		m.Reservation(), destinationsIn(plan, pods))
	if bound := f.opts.TerminateFirstDrain; a.DrainBound == nil && m.ClaimBound() == nil && bound >= 0 {
		a.DrainBound = &bound
	}
	return a, true, nil
}

// mayTerminateFirst reports whether nodes may be terminated first for a reason.
func (f *Cluster) mayTerminateFirst(r Reason) bool {
	switch r {
	case Drifted:
		return f.opts.Drift.TerminateFirst
	case Unhealthy:
		return f.opts.Repair.TerminateFirst
	}
	return false
}

// holdsReservation reports whether the node has a place in a reservation that is
// still offered.
func holdsReservation(m *state.StateNode) bool {
	return m.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved && m.Reservation() != "" && m.Offering.Available
}

// needsPlace reports whether a pod runs on the node and needs another place when
// that goes. Those that nothing can evict need none before the drain is ended by
// force.
func needsPlace(m *state.StateNode, pod *corev1.Pod) bool {
	i := slices.IndexFunc(m.PodViews, func(p *state.PodView) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	return i >= 0 && m.PodViews[i].Reschedulable && !m.PodViews[i].Stuck()
}

// credited is a catalog in which a reservation has one more place.
func credited(types map[string][]*cloudprovider.InstanceType, reservation string) map[string][]*cloudprovider.InstanceType {
	a := aftermath{in: Input{Input: provisioning.Input{InstanceTypes: types}}, reserved: map[string]int{reservation: 1}}
	return a.catalogs()
}

// foretell adds to the Detail of actions that end nodes without looking for places
// where the pods of those nodes will go, as the next plan will have it. settled is a
// simulation in which they have found places, nil if there is none.
func (f *Cluster) foretell(ctx context.Context, actions []Action, settled *simulation.Simulation) ([]Action, error) {
	if !slices.ContainsFunc(actions, func(a Action) bool { return len(f.homeless(a)) > 0 }) {
		return actions, nil
	}
	if settled == nil || f.opts.Consolidation.NoReplacements { // that is about saving money: the next plan launches
		var err error
		if settled, err = simulation.NewSettled(ctx, f.seen, f.launching(), decisionsOf(actions)); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(actions)
	for i := range out {
		pods := f.homeless(out[i])
		if len(pods) == 0 {
			continue
		}
		text := fmt.Sprintf("its %s for the next plan", arePlural(len(pods), "pod"))
		if d := destinationsIn(settled.Settled, pods).String(); d != "" {
			text += ": " + d
		}
		out[i].Detail += "; " + text
	}
	return out, nil
}

// homeless names the pods that need a place when an action has ended their nodes, and
// for which it has none.
func (f *Cluster) homeless(a Action) map[string]bool {
	if a.Simulated || a.Step != Delete {
		return nil
	}
	out := map[string]bool{}
	for _, t := range a.Targets {
		if m := f.seen.ByName[t.Node]; m != nil {
			nameMovable(m, out)
		}
	}
	return out
}

// nameMovable adds the names of the pods that need another place when the node goes.
func nameMovable(m *state.StateNode, to map[string]bool) {
	for _, p := range m.Movable() {
		to[state.PodObject(p)] = true
	}
}
