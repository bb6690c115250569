package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Confirm returns the objections to an action that was decided on an earlier input: none if it can
// still be carried out. Call it right before the action begins. For actions with a transient reason
// also wait some seconds after the proposal, so that a short-lived state does not cost a node.
//
//  0. The actions that Action.After names are done: their nodes are gone. If one has not begun, is
//     under way or was given up, that is the only objection.
//  1. The rules have no objection to the targets, and budgets and PodDisruptionBudgets allow the
//     action.
//  2. No further pod on the targets needs another place.
//  3. The nodes to which pods move exist and take pods. consolidateAfter does not matter for them: it
//     had passed when the action was proposed, and pods that have come since may be of an action
//     that began before. Other nodes that got pods within consolidateAfter take none.
//  4. Some option of each replacement is still available.
//  5. The limits of the replacement's pool leave room for it once the targets are gone, in addition
//     to nodes launched since and nodes for pending pods.
//  6. With only these replacements, every pod of the targets has a place: where Moves say, or
//     elsewhere.
//  7. An action to save money still saves what Options require.
//
// The first two conditions apply to every action, the others to those that are Simulated.
// Objections are in this order, and then sorted by name. The error is that of ctx once ctx is done.
// Faults of the input are objections only if they prevent the simulation. An action without
// targets, with a node twice, with an unknown reason or operation, or with an empty replacement or move,
// is invalid: that is then the only objection. Nil options mean the defaults.
func Confirm(ctx context.Context, now time.Time, fresh Input, a Action, opts *Options) ([]Objection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if fault := a.fault(); fault != "" {
		return []Objection{{Kind: ObjectionInput, Detail: fault}}, nil
	}
	for i, t := range a.Targets {
		if slices.ContainsFunc(a.Targets[:i], func(b Target) bool { return b.String() == t.String() }) {
			return []Objection{{Kind: ObjectionInput, Detail: fmt.Sprintf("it names %s twice; take it from Propose", t)}}, nil
		}
	}
	f, _ := Observe(now, fresh, opts)
	c := &confirmation{cluster: f, a: a, targets: f.nodesOf(a)}
	if c.before(); len(c.objections) > 0 {
		return c.objections, nil
	}
	c.recheck()
	if !a.Simulated || slices.Contains(c.targets, nil) {
		return c.objections, nil
	}
	c.pods()
	c.destinations()
	replacements := c.offerings()
	if len(c.objections) > 0 {
		return c.objections, nil
	}
	if err := c.places(ctx, replacements); err != nil {
		return nil, err
	}
	c.price(replacements)
	return c.objections, nil
}

// confirmation collects objections.
type confirmation struct {
	cluster    *Cluster
	a          Action
	targets    []*state.StateNode // nil for each that does not exist
	objections []Objection
}

func (c *confirmation) add(kind ObjectionKind, object, format string, args ...any) {
	c.objections = append(c.objections, Objection{Kind: kind, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// before checks that the actions of After are done.
func (c *confirmation) before() {
	for _, name := range c.a.After {
		m := c.cluster.seen.ByName[name]
		object := fmt.Sprintf("Node %q", name)
		switch {
		case m == nil:
		case m.Marked():
			c.add(ObjectionBefore, object, "it comes after the action on %s, which is under way", object)
		default:
			c.add(ObjectionBefore, object, "it comes after the action on %s, which has not begun or was given up", object)
		}
	}
}

func (c *confirmation) recheck() {
	for _, b := range c.cluster.recheck(c.a) {
		c.objections = append(c.objections, Objection{Kind: ObjectionBlocked, Target: b.Target, Code: b.Code,
			Object: b.Object, Detail: b.Detail, Until: b.Until})
	}
	if len(c.objections) > 0 {
		return // admit would repeat these objections
	}
	_, wait := c.cluster.admit(c.cluster.newGate(), []Action{c.a})
	for _, w := range wait {
		c.objections = append(c.objections, Objection{Kind: ObjectionBudget, Object: w.For, Detail: w.Why, Until: w.Until})
	}
}

func (c *confirmation) pods() {
	known := map[string]bool{}
	for _, m := range c.a.Moves {
		known[state.PodObject(m.Pod)] = true
	}
	for _, m := range c.targets {
		for _, p := range m.Movable() {
			if !known[state.PodObject(p)] {
				c.objections = append(c.objections, Objection{Kind: ObjectionNewPods, Target: targetOf(m), Object: state.PodObject(p),
					Detail: state.PodObject(p) + " has come to it since"})
			}
		}
	}
}

func (c *confirmation) destinations() {
	for _, name := range slices.Sorted(maps.Keys(c.receivers())) {
		object := fmt.Sprintf("Node %q", name)
		switch m := c.cluster.seen.ByName[name]; {
		case m == nil:
			c.add(ObjectionDestination, object, "%s, where pods were to go, is not there any more", object)
		case m.Marked():
			c.add(ObjectionDestination, object, "%s, where pods were to go, is on its way out", object)
		case m.Closed() && c.a.Reason == Underutilized:
			c.add(ObjectionDestination, object, "%s, where pods were to go, takes none for now: it is not ready for pods", object)
		}
	}
}

// receivers returns the existing nodes of Moves.
func (c *confirmation) receivers() map[string]bool {
	out := map[string]bool{}
	for _, m := range c.a.Moves {
		if m.Node != "" {
			out[m.Node] = true
		}
	}
	return out
}

// offerings returns the replacements with only their available options.
func (c *confirmation) offerings() []provisioning.NewNode {
	out := slices.Clone(c.a.Replacements)
	for i := range out {
		n := &out[i]
		object := fmt.Sprintf("replacement %q", n.Name)
		pool := c.cluster.seen.Pools[n.Pool.Name]
		if pool == nil || !pool.Ready() {
			c.add(ObjectionOffering, object, "%s cannot launch %s any more: it is gone, being deleted or not ready", state.PoolObject(n.Pool.Name), object)
			continue
		}
		var had []cloudprovider.LaunchOption
		for _, o := range n.Options {
			if current, ok := c.currentOption(o, pool); ok {
				had = append(had, current)
			}
		}
		slices.SortStableFunc(had, cloudprovider.LaunchOption.Compare)
		n.Pool = pool.NodePool // its limits may have changed
		if len(had) == 0 {
			c.add(ObjectionOffering, object, "none of the %d ways to launch %s can be had any more, the cheapest %s", len(n.Options), object, n.Options[0].Key())
			continue
		}
		n.Options = had
	}
	return out
}

// currentOption returns an option of a pool at its current price, if it is available.
func (c *confirmation) currentOption(o cloudprovider.LaunchOption, pool *state.NodePool) (cloudprovider.LaunchOption, bool) {
	key, t := o.Key(), pool.Types[o.InstanceType.Name]
	if t == nil || c.cluster.seen.In.Unavailable[key] {
		return o, false
	}
	offering, found := t.Offering(key)
	return cloudprovider.LaunchOption{InstanceType: t, Offering: offering}, found && offering.Launchable()
}

// places checks with the engine that the pods fit on the staying nodes and the replacements.
func (c *confirmation) places(ctx context.Context, replacements []provisioning.NewNode) error {
	config := c.cluster.simulationConfig()
	config.Receivers = c.receivers()
	w, err := simulation.New(ctx, c.cluster.seen, config, nil, nil)
	if err != nil {
		return err
	}
	if c.refused(w) {
		return nil
	}
	if full := simulation.NewLimitsMeter(w).Takes(&simulation.CandidateSet{Targets: c.targets, Nodes: replacements}); full != nil {
		c.add(ObjectionLimits, state.PoolObject(full.Name), "the limits of %s leave no room for what would be launched: more of them is used, or needed for pods that wait, than when this was decided", state.PoolObject(full.Name))
		return nil
	}
	w.In.NodePools, w.In.InstanceTypes = nil, nil
	for i := range replacements {
		n, err := simulation.ComingNode(c.coming(i), &replacements[i])
		if err != nil {
			c.add(ObjectionInput, replacements[i].Name, "what the replacement can hold is not known: %v", err)
			return nil
		}
		w.In.Nodes = append(w.In.Nodes, n)
	}
	if w.Compile(); c.refused(w) {
		return nil
	}
	// The engine fills one node after the other, and may miss the known way to place all pods: the
	// one that was decided. But if part of that way is no longer valid, the rest of it may exclude
	// pods that must go elsewhere. So both are tried.
	var sets []*simulation.CandidateSet
	for _, places := range []map[types.NamespacedName]string{c.destinationsByPod(), nil} {
		var err error
		if sets, err = w.Try(ctx, c.targets, places); err != nil {
			return err
		}
		if c.refused(w) || !slices.ContainsFunc(sets, func(cs *simulation.CandidateSet) bool { return cs.Outcome.Bad() }) {
			return nil
		}
	}
	for _, cs := range sets {
		if cs.Outcome.Bad() {
			c.unplaced(cs)
		}
	}
	return nil
}

// refused adds an objection if the engine refuses the cluster.
func (c *confirmation) refused(w *simulation.Simulation) bool {
	if w.Refused != nil {
		c.add(ObjectionInput, "", "the cluster cannot be planned for: %s", words.FirstLine(w.Refused))
	}
	return w.Refused != nil
}

// unplaced adds an objection for the pod without a place.
func (c *confirmation) unplaced(cs *simulation.CandidateSet) {
	for _, m := range c.a.Moves {
		if state.PodObject(m.Pod) == cs.Outcome.Object && m.Node != "" {
			object := fmt.Sprintf("Node %q", m.Node)
			c.add(ObjectionDestination, object, "%s has no room left for %s: %s", object, cs.Outcome.Object, cs.Outcome.Detail)
			return
		}
	}
	c.add(ObjectionUnplaced, cs.Outcome.Object, "%s", cs.Outcome.Detail)
}

// price checks that the action still saves enough.
func (c *confirmation) price(replacements []provisioning.NewNode) {
	if c.a.Reason != Underutilized {
		return
	}
	removed, cost := state.PriceOf(c.targets), simulation.TotalPrice(replacements)
	required := c.cluster.priceRules().Required(c.targets)
	if saved := removed - cost; saved <= simulation.PriceSlack || saved < required-simulation.PriceSlack {
		c.add(ObjectionPrice, "", "it would save %s by now, %s instead of %s, and %s is asked for", words.USD(saved), words.USD(cost), words.USD(removed), words.USD(required))
	}
}

// destinationsByPod returns the node to which the action moves each pod that is still on its
// targets.
func (c *confirmation) destinationsByPod() map[types.NamespacedName]string {
	decided := map[types.NamespacedName]string{}
	for _, m := range c.a.Moves {
		decided[state.NameOf(m.Pod)] = m.Node
		if m.Replacement >= 0 {
			decided[state.NameOf(m.Pod)] = c.coming(m.Replacement)
		}
	}
	to := map[types.NamespacedName]string{}
	for _, m := range c.targets {
		for _, p := range m.Movable() {
			to[state.NameOf(p)] = decided[state.NameOf(p)]
		}
	}
	return to
}

// coming returns the name of a replacement of the action.
func (c *confirmation) coming(i int) string { return fmt.Sprintf("%s~%d", c.a.Targets[0].Node, i) }

// recheck returns the causes that prevent an action decided on an earlier input: none if it could
// be decided on this one. Some time between the two checks avoids removing a node because of a
// short-lived state: see Transient.
//
// For each target, in this order:
//
//  1. the node must exist, with the same NodeClaim and machine; a target without a node is not
//     checked;
//  2. for a voluntary reason, the node must be a candidate for the method of that reason: see
//     Candidates. Those of Empty, Drifted, Unhealthy and Underutilized are MethodEmptiness,
//     MethodDrift, MethodRepair and MethodConsolidation;
//  3. for another reason, the node must not be dealt with or deleted already. Interrupted overrides
//     a voluntary decision, and GarbageCollected a deletion while the machine is missing.
//
// admit checks budgets, and a simulation checks whether the pods still fit elsewhere. The order is
// that of Blocked.Compare.
func (f *Cluster) recheck(a Action) []Blocked {
	var out []Blocked
	method := methodOf(a.Reason)
	for _, t := range a.Targets {
		if t.Node == "" {
			continue
		}
		m := f.seen.ByName[t.Node]
		if m == nil || !isTarget(m, t) {
			out = append(out, blockedBy(t, method, rule.Forbid(rule.NoNode, "it is not there any more")))
			continue
		}
		if method != "" {
			out = append(out, f.check(m, method)...)
			continue
		}
		c := &check{cluster: f, m: m}
		switch {
		case a.Reason == Interrupted && f.seen.Yields(m):
		case a.Reason == GarbageCollected && m.Leaving && f.lost(m):
		case m.Underway:
			c.existence()
		case m.Leaving:
			c.add(rule.Deleting, never, "it is being deleted")
		}
		out = append(out, c.blocked...)
	}
	slices.SortFunc(out, Blocked.Compare)
	return out
}

// methodOf returns the method that acts for a reason, "" if none does.
func methodOf(r Reason) Method {
	switch r {
	case Empty:
		return MethodEmptiness
	case Drifted:
		return MethodDrift
	case Unhealthy:
		return MethodRepair
	case Underutilized:
		return MethodConsolidation
	}
	return ""
}

// isTarget reports whether a target is this node and not another one of the same name. A claim
// without a machine may have one by now.
func isTarget(m *state.StateNode, t Target) bool {
	now := targetOf(m)
	return now.NodeClaim == t.NodeClaim && (t.ProviderID == "" || now.ProviderID == t.ProviderID)
}
