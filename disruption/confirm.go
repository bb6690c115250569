package disruption

import (
	"context"
	"fmt"
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

// Confirm says what speaks against an action that was decided on an earlier
// input: nothing if it still does what it was to do. Ask it right before the
// action begins, and some seconds after it was proposed, as a passing state
// should not cost a node.
//
//  0. The actions that Action.After names are done: their nodes are gone. One that has
//     not begun, is under way or was given up is the only objection then.
//  1. The rules find no objection to the targets, and budgets and
//     PodDisruptionBudgets let the action begin.
//  2. No pod has come to the targets since that needs another place.
//  3. The nodes that pods go to are there and take pods. One that pods have come to within
//     consolidateAfter takes none that are moved to save money, unless the action comes
//     after others: these may have sent them there.
//  4. Some option of each replacement can still be had.
//  5. The limits of its pool leave room for it once the targets are gone, beside
//     what has been launched since and what pods that wait need.
//  6. With these replacements, and nothing else, every pod of the targets finds
//     a place: where Moves say, or elsewhere.
//  7. An action to save money still saves what Options asks for.
//
// The first two hold for every action, the others for those that are Simulated. The
// objections are in this order, and then in that of names. The error is that of
// ctx, once that is done; faults of the input are objections only if they keep it
// from being simulated. An action without targets, or with a replacement or a move of
// nothing, is none: that is the only objection then. Nil options mean the defaults.
func Confirm(ctx context.Context, now time.Time, fresh Input, a Action, opts *Options) ([]Objection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if fault := a.fault(); fault != "" {
		return []Objection{{Kind: ObjectionInput, Detail: fault}}, nil
	}
	f, _ := Observe(now, fresh, opts)
	c := &confirmation{cluster: f, a: a}
	if c.before(); len(c.objections) > 0 {
		return c.objections, nil
	}
	c.recheck()
	if !a.Simulated || c.missing() {
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
	objections []Objection
}

func (c *confirmation) add(kind ObjectionKind, object, format string, args ...any) {
	c.objections = append(c.objections, Objection{Kind: kind, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// before asks for what has to be done before the action.
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
		return // admit would say the same in other words
	}
	for _, w := range c.cluster.admit(c.cluster.newGate(), []Action{c.a}).Wait {
		c.objections = append(c.objections, Objection{Kind: ObjectionBudget, Object: w.For, Detail: w.Why, Until: w.Until})
	}
}

// missing reports whether a target is not there.
func (c *confirmation) missing() bool {
	return slices.ContainsFunc(c.a.Targets, func(t Target) bool { return c.cluster.seen.ByName[t.Node] == nil })
}

func (c *confirmation) targets() []*state.StateNode {
	var out []*state.StateNode
	for _, t := range c.a.Targets {
		out = append(out, c.cluster.seen.ByName[t.Node])
	}
	return out
}

func (c *confirmation) pods() {
	known := map[string]bool{}
	for _, m := range c.a.Moves {
		known[state.PodObject(m.Pod)] = true
	}
	for _, m := range c.targets() {
		for _, p := range m.Movable() {
			if !known[state.PodObject(p)] {
				c.objections = append(c.objections, Objection{Kind: ObjectionNewPods, Target: targetOf(m), Object: state.PodObject(p),
					Detail: state.PodObject(p) + " has come to it since"})
			}
		}
	}
}

func (c *confirmation) destinations() {
	closed := map[string]bool{}
	for _, name := range simulation.ClosedNodes(c.cluster.seen, nil, c.receivers()) {
		closed[name] = true
	}
	var names []string
	for _, m := range c.a.Moves {
		if m.Node != "" && !slices.Contains(names, m.Node) {
			names = append(names, m.Node)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		object := fmt.Sprintf("Node %q", name)
		switch m := c.cluster.seen.ByName[name]; {
		case m == nil:
			c.add(ObjectionDestination, object, "%s, where pods were to go, is not there any more", object)
		case m.Marked():
			c.add(ObjectionDestination, object, "%s, where pods were to go, is on its way out", object)
		case closed[name] && c.a.Reason == Underutilized:
			c.add(ObjectionDestination, object, "%s, where pods were to go, takes none for now: pods have come or gone within consolidateAfter, or it is not ready for pods", object)
		}
	}
}

// receivers are the nodes of Moves, if others have sent them pods before.
func (c *confirmation) receivers() map[string]bool {
	if len(c.a.After) == 0 {
		return nil
	}
	out := map[string]bool{}
	for _, m := range c.a.Moves {
		out[m.Node] = true
	}
	return out
}

// offerings narrows the options of the replacements to those that can be had.
func (c *confirmation) offerings() []provisioning.NewNode {
	dry := c.cluster.seen.WithoutUnavailable()
	out := slices.Clone(c.a.Replacements)
	for i := range out {
		n := &out[i]
		object := fmt.Sprintf("replacement %q", n.Name)
		pool := c.cluster.seen.Pools[n.Pool.Name]
		if pool == nil || !pool.Ready() {
			c.add(ObjectionOffering, object, "%s cannot launch %s any more: it is gone, being deleted or not ready", state.PoolObject(n.Pool.Name), object)
			continue
		}
		catalog := map[string]*cloudprovider.InstanceType{}
		for _, t := range dry[n.Pool.Name] {
			if t != nil {
				catalog[t.Name] = t
			}
		}
		var had []cloudprovider.LaunchOption
		for _, o := range n.Options {
			if current, ok := currentOption(o, catalog, pool.Types); ok {
				had = append(had, current)
			}
		}
		slices.SortStableFunc(had, cloudprovider.LaunchOption.Compare)
		n.Pool = pool.NodePool // its limits may be others by now
		if len(had) == 0 {
			c.add(ObjectionOffering, object, "none of the %d ways to launch %s can be had any more, the cheapest %s", len(n.Options), object, n.Options[0].Key())
			continue
		}
		n.Options = had
	}
	return out
}

// currentOption is an option at what it costs now, if it can be had.
func currentOption(o cloudprovider.LaunchOption, catalog, priced map[string]*cloudprovider.InstanceType) (cloudprovider.LaunchOption, bool) {
	t, p := catalog[o.InstanceType.Name], priced[o.InstanceType.Name]
	if t == nil || p == nil {
		return o, false
	}
	key := o.Key()
	if offered, found := t.Offering(key); !found || !offered.Launchable() {
		return o, false
	}
	offering, found := p.Offering(key)
	return cloudprovider.LaunchOption{InstanceType: p, Offering: offering}, found
}

// places asks the engine whether the pods fit on the nodes that stay and on the
// replacements.
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
	if full := simulation.NewLimitsMeter(w).Takes(&simulation.CandidateSet{Targets: c.targets(), Nodes: replacements}); full != nil {
		c.add(ObjectionLimits, state.PoolObject(full.Name), "the limits of %s leave no room for what would be launched: more of them is used, or needed for pods that wait, than when this was decided", state.PoolObject(full.Name))
		return nil
	}
	w.In.NodePools, w.In.InstanceTypes, w.Market, w.Shared = nil, nil, nil, nil
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
	// The engine fills one node after the other, and may miss a way to place all pods that
	// is known: the one that was decided on. Where part of that does not hold any more, the
	// rest of it may be in the way of the pods that have to go elsewhere.
	var sets []*simulation.CandidateSet
	for _, places := range []map[types.NamespacedName]string{c.destinationsByPod(), nil} {
		var err error
		if sets, err = w.Try(ctx, c.targets(), places); err != nil {
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

// refused objects to a cluster that the engine refuses.
func (c *confirmation) refused(w *simulation.Simulation) bool {
	if w.Refused != nil {
		c.add(ObjectionInput, "", "the cluster cannot be planned for: %s", words.FirstLine(w.Refused))
	}
	return w.Refused != nil
}

// unplaced says which pod has lost its place.
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

// price asks whether the action still saves enough.
func (c *confirmation) price(replacements []provisioning.NewNode) {
	if c.a.Reason != Underutilized {
		return
	}
	targets := c.targets()
	removed, cost := state.PriceOf(targets), simulation.TotalPrice(replacements)
	required := c.cluster.priceRules().Required(targets)
	if saved := removed - cost; saved <= simulation.PriceSlack || saved < required-simulation.PriceSlack {
		c.add(ObjectionPrice, "", "it would save %s by now, %s instead of %s, and %s is asked for", words.USD(saved), words.USD(cost), words.USD(removed), words.USD(required))
	}
}

// destinationsByPod are the nodes that the action moves pods to, by pod that is still on
// its targets.
func (c *confirmation) destinationsByPod() map[types.NamespacedName]string {
	decided := map[types.NamespacedName]string{}
	for _, m := range c.a.Moves {
		decided[state.NameOf(m.Pod)] = m.Node
		if m.Replacement >= 0 {
			decided[state.NameOf(m.Pod)] = c.coming(m.Replacement)
		}
	}
	to := map[types.NamespacedName]string{}
	for _, m := range c.targets() {
		for _, p := range m.Movable() {
			to[state.NameOf(p)] = decided[state.NameOf(p)]
		}
	}
	return to
}

// coming is the name of a replacement of the action.
func (c *confirmation) coming(i int) string { return fmt.Sprintf("%s~%d", c.a.Targets[0].Node, i) }

// recheck says what speaks against an action that was decided on an earlier
// input: nothing if it could be decided on this one. Some time between the two
// looks keeps a passing state from costing a node: see Transient.
//
// For each target, in this order:
//
//  1. the node must be there, with the same NodeClaim and machine; a target
//     without a node is not looked at;
//  2. for a voluntary reason, nothing may keep the method of that reason from it:
//     see Candidates. Those of Empty, Drifted, Unhealthy and Underutilized are
//     MethodEmptiness, MethodDrift, MethodRepair and MethodConsolidation;
//  3. for another reason, it must not be underway or be deleted already, but a
//     voluntary decision gives way to Interrupted, and a deletion to
//     GarbageCollected while the machine is not there.
//
// Budgets are asked by admit. Whether the pods still fit elsewhere is for a
// simulation to say. The order is that of Blocked.Compare.
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

// methodOf is the method that acts for a reason, empty if none does.
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

// isTarget reports whether a target is this node and not another of the same name. A
// claim that was without a machine may have one by now.
func isTarget(m *state.StateNode, t Target) bool {
	now := targetOf(m)
	return now.NodeClaim == t.NodeClaim && (t.ProviderID == "" || now.ProviderID == t.ProviderID)
}
