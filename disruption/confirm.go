package disruption

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
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
//  3. The nodes that pods go to are there and take pods.
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
// from being simulated. Nil options mean the defaults.
func Confirm(ctx context.Context, now time.Time, fresh Input, a Action, opts *Options) ([]Objection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
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
		m := c.cluster.byName[name]
		object := fmt.Sprintf("Node %q", name)
		switch {
		case m == nil:
		case m.marked():
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
		return // Pace would say the same in other words
	}
	for _, w := range c.cluster.admit([]Action{c.a}).Wait {
		c.objections = append(c.objections, Objection{Kind: ObjectionBudget, Object: w.For, Detail: w.Why, Until: w.Until})
	}
}

// missing reports whether a target is not there.
func (c *confirmation) missing() bool {
	return slices.ContainsFunc(c.a.Targets, func(t Target) bool { return c.cluster.byName[t.Node] == nil })
}

func (c *confirmation) targets() []*stateNode {
	var out []*stateNode
	for _, t := range c.a.Targets {
		out = append(out, c.cluster.byName[t.Node])
	}
	return out
}

func (c *confirmation) pods() {
	known := map[string]bool{}
	for _, m := range c.a.Moves {
		known[podObject(m.Pod)] = true
	}
	for _, m := range c.targets() {
		for _, p := range m.movable() {
			if !known[podObject(p)] {
				c.objections = append(c.objections, Objection{Kind: ObjectionNewPods, Target: m.target(), Object: podObject(p),
					Detail: podObject(p) + " has come to it since"})
			}
		}
	}
}

func (c *confirmation) destinations() {
	closed := map[string]bool{}
	for _, name := range c.cluster.closed(nil) {
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
		switch m := c.cluster.byName[name]; {
		case m == nil:
			c.add(ObjectionDestination, object, "%s, where pods were to go, is not there any more", object)
		case m.marked():
			c.add(ObjectionDestination, object, "%s, where pods were to go, is on its way out", object)
		case closed[name] && c.a.Reason == Underutilized:
			c.add(ObjectionDestination, object, "%s, where pods were to go, takes none for now: pods have come or gone within consolidateAfter, or it is not ready for pods", object)
		}
	}
}

// offerings narrows the options of the replacements to those that can be had.
func (c *confirmation) offerings() []provisioning.NewNode {
	dry := c.cluster.withoutUnavailable()
	out := slices.Clone(c.a.Replacements)
	for i := range out {
		n := &out[i]
		object := fmt.Sprintf("replacement %q", n.Name)
		pool := c.cluster.pools[n.Pool.Name]
		if pool == nil || !pool.ready() {
			c.add(ObjectionOffering, object, "%s cannot launch %s any more: it is gone, being deleted or not ready", poolObject(n.Pool.Name), object)
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
			if current, ok := currentOption(o, catalog, pool.types); ok {
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
	w, err := newSimulation(ctx, c.cluster, nil)
	if err != nil {
		return err
	}
	if w.refused != nil {
		c.add(ObjectionInput, "", "the cluster cannot be planned for: %s", firstLine(w.refused))
		return nil
	}
	if full := newLimitsMeter(w).takes(&candidateSet{targets: c.targets(), nodes: replacements}); full != nil {
		c.add(ObjectionLimits, poolObject(full.Name), "the limits of %s leave no room for what would be launched: more of them is used, or needed for pods that wait, than when this was decided", poolObject(full.Name))
		return nil
	}
	w.in.NodePools, w.in.InstanceTypes, w.market, w.shared = nil, nil, nil, nil
	for i := range replacements {
		n, err := comingNode(c.coming(i), &replacements[i])
		if err != nil {
			c.add(ObjectionInput, replacements[i].Name, "what the replacement can hold is not known: %v", err)
			return nil
		}
		w.in.Nodes = append(w.in.Nodes, n)
	}
	if w.compile(); w.refused != nil {
		c.add(ObjectionInput, "", "the cluster cannot be planned for: %s", firstLine(w.refused))
		return nil
	}
	parts, err := w.try(ctx, c.targets())
	if err != nil {
		return err
	}
	if w.refused != nil {
		c.add(ObjectionInput, "", "the cluster cannot be planned for: %s", firstLine(w.refused))
		return nil
	}
	if !slices.ContainsFunc(parts, func(pt *candidateSet) bool { return pt.outcome.bad() }) {
		return nil
	}
	// The engine fills one node after the other, and may miss a way to place all
	// pods that is known: the one that was decided on.
	if c.holdsAsMoved(w) {
		return nil
	}
	for _, pt := range parts {
		if pt.outcome.bad() {
			c.unplaced(pt)
		}
	}
	return nil
}

// unplaced says which pod has lost its place.
func (c *confirmation) unplaced(pt *candidateSet) {
	for _, m := range c.a.Moves {
		if podObject(m.Pod) == pt.outcome.object && m.Node != "" {
			object := fmt.Sprintf("Node %q", m.Node)
			c.add(ObjectionDestination, object, "%s has no room left for %s: %s", object, pt.outcome.object, pt.outcome.detail)
			return
		}
	}
	c.add(ObjectionUnplaced, pt.outcome.object, "%s", pt.outcome.detail)
}

// price asks whether the action still saves enough.
func (c *confirmation) price(replacements []provisioning.NewNode) {
	if c.a.Reason != Underutilized {
		return
	}
	targets := c.targets()
	removed, cost := priceOf(targets), totalPrice(replacements)
	required := c.cluster.required(targets, c.cluster.poolTotals())
	if saved := removed - cost; saved <= priceSlack || saved < required-priceSlack {
		c.add(ObjectionPrice, "", "it would save %s by now, %s instead of %s, and %s is asked for", usd(saved), usd(cost), usd(removed), usd(required))
	}
}

// comingNode is a replacement as it will be when it has come up as the cheapest
// of its options.
func comingNode(name string, n *provisioning.NewNode) (provisioning.Node, error) {
	option := n.Options[0]
	room, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return provisioning.Node{}, errors.New(firstLine(err))
	}
	out := replacementNode(name, n)
	out.Pods = nil
	out.Node.Status.Allocatable, out.NodeClaim.Status.Allocatable = room.ResourceList(), room.ResourceList()
	out.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return out, nil
}

// coming is the name of a replacement of the action.
func (c *confirmation) coming(i int) string { return fmt.Sprintf("%s~%d", c.a.Targets[0].Node, i) }

// holdsAsMoved reports whether kube-scheduler can bind the pods of the targets where the
// action moves them, in some order. Spare room of buffers gives way.
func (c *confirmation) holdsAsMoved(w *simulation) bool {
	to := map[string]string{}
	for _, m := range c.a.Moves {
		to[podObject(m.Pod)] = m.Node
		if m.Replacement >= 0 {
			to[podObject(m.Pod)] = c.coming(m.Replacement)
		}
	}
	in := w.in
	in.Nodes, in.Pods, in.Buffers = slices.Clone(w.in.Nodes), nil, nil
	for _, m := range c.targets() {
		for _, p := range m.movable() {
			in.Pods = append(in.Pods, onNode(p, ""))
		}
		n := &in.Nodes[w.at[m.name]]
		*n = leavingNode(*n)
		n.Pods = m.staying()
	}
	slices.SortFunc(in.Pods, comparePods)
	binds := map[string][]*corev1.Pod{}
	for _, p := range in.Pods {
		binds[to[podObject(p)]] = append(binds[to[podObject(p)]], p)
	}
	plan := &provisioning.Plan{}
	for _, node := range slices.Sorted(maps.Keys(binds)) {
		plan.Bind = append(plan.Bind, provisioning.Binding{Node: node, Pods: binds[node]})
	}
	return landIn(in, plan, &w.opts)
}

// landIn reports whether the pods of a plan can be bound in some order: those with topology
// spreads come first or last, and those that are refused after the others, or before.
func landIn(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) bool {
	for way := range 4 {
		plan.Order = slices.SortedStableFunc(slices.Values(in.Pods), func(a, b *corev1.Pod) int {
			return (1 - way&2) * cmp.Compare(len(b.Spec.TopologySpreadConstraints), len(a.Spec.TopologySpreadConstraints))
		})
		for range 2 + len(plan.Order) {
			late := map[string]bool{}
			for _, v := range verify.Plan(in, plan, opts) {
				if v.Pod != "" || v.Node != "" { // the accounts of the plan are left out
					late[v.Pod] = true
				}
			}
			if len(late) == 0 {
				return true
			}
			isLate := func(p *corev1.Pod) bool { return late[p.Namespace+"/"+p.Name] }
			others := slices.DeleteFunc(slices.Clone(plan.Order), isLate)
			refused := slices.DeleteFunc(slices.Clone(plan.Order), func(p *corev1.Pod) bool { return !isLate(p) })
			if len(refused) == 0 {
				return false // it is not about the order
			}
			next := slices.Concat(others, refused)
			if way&1 != 0 {
				next = slices.Concat(refused, others)
			}
			if slices.Equal(next, plan.Order) {
				break // it would be the same again
			}
			plan.Order = next
		}
	}
	return false
}

// honors reports whether a policy of a topology spread is Honor, which is not the
// default for taints.
func honors(policy *corev1.NodeInclusionPolicy) bool {
	return policy != nil && *policy == corev1.NodeInclusionPolicyHonor
}

// recheck says what speaks against an action that was decided on an earlier
// input: nothing if it could be decided on this one. Some time between the two
// looks keeps a passing state from costing a node; Karpenter waits 15 seconds.
//
// For each target, in this order:
//
//  1. the node must be there, with the same NodeClaim and machine; a target
//     without a node is not looked at;
//  2. for a voluntary reason, nothing may keep the method of that reason from it:
//     see Candidates. Those of Empty, Drifted, Unhealthy and Underutilized are
//     MethodEmptiness, MethodDrift, MethodRepair and MethodConsolidation;
//  3. for another reason, it must not be underway or be deleted already, but a
//     voluntary decision gives way to Interrupted.
//
// Budgets are asked by Pace. Whether the pods still fit elsewhere is for a
// simulation to say. The order is that of Blocked.Compare.
func (f *Cluster) recheck(a Action) []Blocked {
	var out []Blocked
	method := methodOf(a.Reason)
	for _, t := range a.Targets {
		if t.Node == "" {
			continue
		}
		m := f.byName[t.Node]
		if m == nil || !m.is(t) {
			out = append(out, Blocked{Target: t, Method: method, Code: ruleNoNode.code(), rule: ruleNoNode, Detail: "it is not there any more"})
			continue
		}
		if method != "" {
			out = append(out, f.check(m, method)...)
			continue
		}
		c := &check{cluster: f, m: m}
		switch {
		case f.yields(m, a.Reason):
		case m.underway:
			c.existence()
		case m.leaving:
			c.add(ruleDeleting, never, "it is being deleted")
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

// is reports whether a target is this node and not another of the same name. A
// claim that was without a machine may have one by now.
func (m *stateNode) is(t Target) bool {
	now := m.target()
	return now.NodeClaim == t.NodeClaim && (t.ProviderID == "" || now.ProviderID == t.ProviderID)
}
