package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// snapshot is the cluster and the cloud as the library wants to see them.
func (a *autoscaler) snapshot(ctx context.Context) (disruption.Input, error) {
	in := disruption.Input{
		PodDisruptionBudgets: a.cluster.budgets.all(),
		Drift:                a.drift,
		Underway:             a.underway(),
		Nominations:          a.nominations(),
		PodEvents:            a.cluster.podEvents,
		Interruptions:        a.notices,
		Instances:            a.instances,
		Shortages:            a.shortages,
	}
	in.NodePools = a.pools
	in.Vocabulary = cloudprovider.Vocabulary(a.cloud)
	in.DaemonSetPods = []*corev1.Pod{a.cluster.daemon}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	for _, pool := range a.pools {
		types, err := a.catalog(ctx, pool.Name)
		if err != nil {
			return in, err
		}
		in.InstanceTypes[pool.Name] = types
	}
	pods := a.cluster.podsByNode()
	claimed := map[string]bool{}
	for _, node := range a.cluster.nodes.all() {
		entry := provisioning.Node{Node: node, NodeClaim: a.claimOf(node), Pods: pods[node.Name]}
		if entry.NodeClaim != nil {
			claimed[entry.NodeClaim.Name] = true
		}
		in.Nodes = append(in.Nodes, entry)
	}
	for _, claim := range a.cluster.claims.all() {
		if !claimed[claim.Name] {
			in.Nodes = append(in.Nodes, provisioning.Node{NodeClaim: claim})
		}
	}
	for _, p := range a.cluster.pods.all() {
		if p.pending() {
			in.Pods = append(in.Pods, p.Pod)
		}
	}
	return in, nil
}

// catalog is what the cloud sells to a pool, less what it was out of lately.
func (a *autoscaler) catalog(ctx context.Context, pool string) ([]*cloudprovider.InstanceType, error) {
	i := slices.IndexFunc(a.pools, func(p *v1.NodePool) bool { return p.Name == pool })
	if i < 0 {
		return nil, fmt.Errorf("there is no NodePool %q", pool)
	}
	types, err := a.cloud.InstanceTypes(ctx, a.pools[i])
	return a.stock.Apply(types), err
}

// claimOf is the NodeClaim of a Node, nil if it has none.
func (a *autoscaler) claimOf(node *corev1.Node) *v1.NodeClaim {
	for _, claim := range a.cluster.claims.all() {
		if claim.Status.ProviderID == node.Spec.ProviderID {
			return claim
		}
	}
	return nil
}

// underway are the nodes that commands remove, but for those that the cloud is
// about to take away: they can not wait until a replacement is there.
func (a *autoscaler) underway() map[string]disruption.Reason {
	going := map[string]bool{}
	for _, n := range a.notices {
		going[n.InstanceID] = true
	}
	nodes := map[string]disruption.Reason{}
	for _, c := range a.commands {
		for _, s := range c.Command.Sources {
			claim, ok := a.cluster.claims.get(s.NodeClaim)
			if ok && (claim.DeletionTimestamp != nil || !going[claim.Status.ProviderID]) {
				nodes[s.Node] = disruption.Reason(c.Command.Reason)
			}
		}
	}
	return nodes
}

// running is a command under way. Of one that was recovered it is not known what it
// was to launch.
type running struct {
	disruption.ActionCommand
	created []string // replacements by now
}

// lost says why a command has to be undone that was recovered before all of its
// replacements were there: nobody knows any more what they were to be.
func (c *running) lost(v disruption.CommandView) string {
	if len(c.Claims) == len(c.Command.Replacements) {
		return ""
	}
	for _, r := range c.Command.Replacements {
		if !slices.ContainsFunc(v.Claims, func(claim disruption.CommandClaim) bool { return claim.Name == r.Token }) {
			return "what it was to launch is not known any more"
		}
	}
	return ""
}

// view is what commands look at.
func (a *autoscaler) view() (v disruption.CommandView) {
	pods := a.cluster.podsByNode()
	for _, claim := range a.cluster.claims.all() {
		node, ok := a.cluster.nodes.get(claim.Status.NodeName)
		if !ok {
			node = nil
		}
		moving := 0
		for _, p := range pods[claim.Status.NodeName] {
			if p.Namespace == namespace {
				moving++
			}
		}
		v.Claims = append(v.Claims, disruption.ObserveCommandClaim(claim, node, moving))
	}
	for _, node := range a.cluster.nodes.all() {
		v.Nodes = append(v.Nodes, disruption.ObserveCommandNode(node))
	}
	return v
}

// deleting are the NodeClaims that are being deleted.
func (a *autoscaler) deleting() (claims []*v1.NodeClaim) {
	for _, claim := range a.cluster.claims.all() {
		if claim.DeletionTimestamp != nil {
			claims = append(claims, claim)
		}
	}
	return claims
}

// drainInput are the nodes to drain. They are closed to new pods, and have a deadline
// if their NodeClaims say so.
func (a *autoscaler) drainInput(claims []*v1.NodeClaim) (in disruption.DrainInput, errs []error) {
	now := a.cluster.now()
	pods := a.cluster.podsByNode()
	for _, claim := range claims {
		claim = disruption.Action{}.EditClaim(claim, now)
		a.cluster.claims.put(claim.Name, claim)
		node, ok := a.cluster.nodes.get(claim.Status.NodeName)
		if !ok {
			continue
		}
		node = disruption.CloseNode(node)
		a.cluster.nodes.put(node.Name, node)
		n, err := disruption.ObserveDrainNode(claim, node, pods[node.Name], now)
		if err != nil {
			errs = append(errs, err)
		}
		in.Nodes = append(in.Nodes, n)
	}
	for _, b := range a.cluster.budgets.all() {
		in.Budgets = append(in.Budgets, disruption.ObserveDrainBudget(b))
	}
	return in, errs
}

// proposalDue says whether to ask about the fleet: there is news from the cloud, time
// alone makes a difference now, something must happen whatever it costs, or, now and
// then, the cluster has changed. What was decided is confirmed first.
func (a *autoscaler) proposalDue(ctx context.Context, now time.Time) (bool, error) {
	changed := a.cluster.changes() != a.proposedAt
	switch {
	case len(a.notices) > 0 || a.instances != nil:
		return true, nil
	case len(a.decided) > 0:
		return false, nil
	case changed && !now.Before(a.nextPropose), !a.nextChange.IsZero() && !now.Before(a.nextChange):
		return true, nil
	case a.cluster.changes() == a.watchedAt:
		return false, nil
	}
	// What has changed since can be due before that, such as a NodeClaim that is
	// new and never launched. Without the search the rules are cheap to ask.
	in, err := a.snapshot(ctx)
	if err != nil {
		return false, err
	}
	fleet, err := disruption.Observe(now, in, a.options())
	if err != nil {
		return false, err
	}
	forceful := disruption.Merge(fleet.Liveness(), fleet.Garbage(), fleet.Expiration(), fleet.ScaleDown())
	if next := forceful.Next; a.nextChange.IsZero() || !next.IsZero() && next.Before(a.nextChange) {
		a.nextChange = next
	}
	a.watchedAt = a.cluster.changes()
	return len(forceful.Actions) > 0, nil
}

// options are those of the library, but for one: what-ifs about a few nodes need no
// long search for the best packing.
func (a *autoscaler) options() *disruption.Options {
	return &disruption.Options{Provisioning: &provisioning.Options{MaxSteps: 100}}
}
