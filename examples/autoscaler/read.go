package main

import (
	"context"
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
		types, err := a.cloud.InstanceTypes(ctx, pool)
		if err != nil {
			return in, err
		}
		in.InstanceTypes[pool.Name] = a.stock.Apply(types)
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

// claimOf is the NodeClaim of a Node, nil if it has none.
func (a *autoscaler) claimOf(node *corev1.Node) *v1.NodeClaim {
	for _, claim := range a.cluster.claims.all() {
		if claim.Status.ProviderID == node.Spec.ProviderID {
			return claim
		}
	}
	return nil
}

// goingDown are the nodes whose pods have to go elsewhere, by name in the
// snapshot.
func (a *autoscaler) goingDown(in disruption.Input) (names []string) {
	for _, n := range in.Nodes {
		if n.NodeClaim != nil && n.NodeClaim.DeletionTimestamp != nil {
			names = append(names, n.Name())
		}
	}
	return names
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

// running is a command under way, and the action that it carries out. Of one that
// was recovered the action is not known.
type running struct {
	disruption.ActionCommand
	action  disruption.Action
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

// drainInput are the nodes to drain, and the NodeClaims that are being deleted.
func (a *autoscaler) drainInput() (in disruption.DrainInput, deleting []*v1.NodeClaim) {
	for _, claim := range a.cluster.claims.all() {
		if claim.DeletionTimestamp != nil {
			deleting = append(deleting, claim)
		}
	}
	if len(deleting) == 0 {
		return in, nil
	}
	pods := a.cluster.podsByNode()
	for _, claim := range deleting {
		if !a.cluster.hasNode(claim.Status.NodeName) {
			continue
		}
		n := disruption.DrainNode{Name: claim.Status.NodeName, Since: claim.DeletionTimestamp.Time}
		if by, err := time.Parse(time.RFC3339, claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]); err == nil {
			n.Deadline = by
		}
		for _, p := range pods[n.Name] {
			n.Pods = append(n.Pods, disruption.ObserveDrainPod(p, nil))
		}
		in.Nodes = append(in.Nodes, n)
	}
	for _, b := range a.cluster.budgets.all() {
		in.Budgets = append(in.Budgets, disruption.ObserveDrainBudget(b))
	}
	return in, deleting
}

// proposalDue says whether there is something to ask about: news from the cloud,
// or changes in the cluster since the last time, or an instant at which time alone
// makes a difference.
func (a *autoscaler) proposalDue(now time.Time) bool {
	if len(a.notices) > 0 || a.instances != nil {
		return true
	}
	changed := a.cluster.changes() != a.proposedAt || !a.nextChange.IsZero() && !now.Before(a.nextChange)
	return changed && len(a.decided) == 0 && !now.Before(a.nextPropose)
}

// options are those of the library, but for one: what-ifs about a few nodes need no
// long search for the best packing.
func (a *autoscaler) options() *disruption.Options {
	return &disruption.Options{Provisioning: &provisioning.Options{MaxSteps: 100}}
}
