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
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// snapshot is the cluster and the cloud as the library wants to see them.
func (a *autoscaler) snapshot(ctx context.Context) (disruption.Input, error) {
	kept, err := a.nominations()
	if err != nil {
		return disruption.Input{}, err
	}
	in := disruption.Input{
		PodDisruptionBudgets: a.cluster.Budgets.All(),
		Drift:                a.drift,
		MarkedForDeletion:    a.underway(),
		Nominations:          kept,
		PodEvents:            a.cluster.PodEvents,
		Interruptions:        a.notices,
		Instances:            a.instances,
		UnavailableOfferings: a.shortages,
	}
	in.NodePools = a.pools
	in.Vocabulary = cloudprovider.Vocabulary(a.cloud)
	in.DaemonSetPods = []*corev1.Pod{a.cluster.Daemon}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	for _, pool := range a.pools {
		types, err := a.catalog(ctx, pool.Name)
		if err != nil {
			return in, err
		}
		in.InstanceTypes[pool.Name] = types
	}
	var pods []*corev1.Pod
	for _, p := range a.cluster.Pods.All() {
		if p.Spec.NodeName != "" || p.Pending() {
			pods = append(pods, p.Pod)
		}
	}
	joined, err := provisioning.Join(a.cluster.Nodes.All(), a.cluster.Claims.All(), pods)
	in.Nodes, in.Pods = joined.Nodes, joined.Pending
	return in, err
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
	for _, claim := range a.cluster.Claims.All() {
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
			claim, ok := a.cluster.Claims.Get(s.NodeClaim)
			if ok && (claim.DeletionTimestamp != nil || !going[claim.Status.ProviderID]) {
				nodes[s.Node] = disruption.Reason(c.Command.Reason)
			}
		}
	}
	return nodes
}

// running is a command under way.
type running struct {
	command.Prepared
	created []string // replacements by now
}

// view is what commands look at.
func (a *autoscaler) view() (v command.View) {
	pods := a.cluster.PodsByNode()
	for _, claim := range a.cluster.Claims.All() {
		node, ok := a.cluster.Nodes.Get(claim.Status.NodeName)
		if !ok {
			node = nil
		}
		moving := 0
		for _, p := range pods[claim.Status.NodeName] {
			if p.Namespace == simcluster.Namespace {
				moving++
			}
		}
		v.Claims = append(v.Claims, command.ObserveClaim(claim, node, moving))
	}
	for _, node := range a.cluster.Nodes.All() {
		v.Nodes = append(v.Nodes, command.ObserveNode(node))
	}
	return v
}

// deleting are the NodeClaims that are being deleted.
func (a *autoscaler) deleting() (claims []*v1.NodeClaim) {
	for _, claim := range a.cluster.Claims.All() {
		if claim.DeletionTimestamp != nil {
			claims = append(claims, claim)
		}
	}
	return claims
}

// drainInput are the nodes to drain. They are closed to new pods, and have a deadline
// if their NodeClaims say so.
func (a *autoscaler) drainInput(claims []*v1.NodeClaim) (in drain.Input, errs []error) {
	now := a.cluster.Now()
	pods := a.cluster.PodsByNode()
	for _, claim := range claims {
		claim = disruption.Action{}.EditClaim(claim, now)
		a.cluster.Claims.Put(claim.Name, claim)
		node, ok := a.cluster.Nodes.Get(claim.Status.NodeName)
		if !ok {
			continue
		}
		node = drain.CloseNode(node)
		a.cluster.Nodes.Put(node.Name, node)
		n, err := drain.Observe(claim, node, pods[node.Name], now)
		if err != nil {
			errs = append(errs, err)
		}
		in.Nodes = append(in.Nodes, n)
	}
	for _, b := range a.cluster.Budgets.All() {
		in.Budgets = append(in.Budgets, drain.ObserveBudget(b))
	}
	return in, errs
}

// proposalDue says whether to ask about the fleet: there is news from the cloud, time
// alone makes a difference now, something must happen whatever it costs, or, now and
// then, the cluster has changed. What was decided is confirmed first.
func (a *autoscaler) proposalDue(ctx context.Context, now time.Time) (bool, error) {
	changed := a.cluster.Changes() != a.proposedAt
	switch {
	case len(a.notices) > 0 || a.instances != nil:
		return true, nil
	case len(a.decided) > 0:
		return false, nil
	case changed && !now.Before(a.nextPropose), !a.nextChange.IsZero() && !now.Before(a.nextChange):
		return true, nil
	case a.cluster.Changes() == a.watchedAt:
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
	forceful := fleet.Actions(disruption.LaunchTimeout, disruption.RegistrationTimeout, disruption.InitializationTimeout,
		disruption.GarbageCollected, disruption.Expired, disruption.ScaledDown)
	if next := forceful.Next; a.nextChange.IsZero() || !next.IsZero() && next.Before(a.nextChange) {
		a.nextChange = next
	}
	a.watchedAt = a.cluster.Changes()
	return len(forceful.Actions) > 0, nil
}

// options are those of the library, but for one: what-ifs about a few nodes need no
// long search for the best packing.
func (a *autoscaler) options() *disruption.Options {
	return &disruption.Options{Provisioning: &provisioning.Options{MaxSteps: 100}}
}
