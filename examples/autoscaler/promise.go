package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

const (
	promiseHolds  = 10 * time.Minute // for a machine to come up, and longer than it needs
	bindHolds     = 30 * time.Second // for kube-scheduler to bind a pod to a node that is ready
	retryUnplaced = time.Minute
)

// promises are those of plans to pods. Nodes are open to all here, so that pods need no
// toleration; examples/controller has nodes that are kept.
func promises() *nomination.Options {
	return &nomination.Options{NoTaint: true, Hold: bindHolds, Launch: promiseHolds, Move: promiseHolds}
}

// review reads the promises that stand, and writes them into the pods: kube-scheduler
// tries that node first.
func (a *autoscaler) review() (nomination.State, error) {
	now, last := a.cluster.Now(), &a.reviewed
	if last.changes == a.cluster.Changes() && (last.state.Next.IsZero() || now.Before(last.state.Next)) {
		return last.state, nil
	}
	in := nomination.Input{NodeClaims: a.cluster.Claims.All(), Nodes: a.cluster.Nodes.All(), Bindings: a.bindings}
	for _, p := range a.cluster.Pods.All() {
		in.Pods = append(in.Pods, p.Pod)
	}
	state, err := nomination.Review(in, now, promises())
	a.bindings = state.Bindings
	hints := map[string]string{}
	for _, p := range state.Pods {
		hints[simcluster.Key(p.Pod)] = p.Node
	}
	for _, p := range a.cluster.Pods.All() {
		a.cluster.Nominate(simcluster.Key(p.Pod), hints[simcluster.Key(p.Pod)])
	}
	if err == nil {
		*last = reviewed{state, a.cluster.Changes()}
	}
	return state, err
}

// reviewed is what a review found, and Cluster.Changes() then.
type reviewed struct {
	state   nomination.State
	changes int
}

// waiting counts the pods that nothing was planned for: those that are pending, and
// those on nodes that are going down.
func (a *autoscaler) waiting() (int, error) {
	now, leaving := a.cluster.Now(), map[string]bool{}
	for _, claim := range a.deleting() {
		leaving[claim.Status.NodeName] = claim.Status.NodeName != ""
	}
	state, err := a.review()
	promised := map[string]bool{}
	for _, p := range state.Pods {
		promised[simcluster.Key(p.Pod)] = true
	}
	count := 0
	for _, p := range a.cluster.Pods.All() {
		asks := p.Work != nil && p.DeletionTimestamp == nil && (p.Pending() || leaving[p.Spec.NodeName])
		if asks && !promised[simcluster.Key(p.Pod)] && !now.Before(a.considered[p.UID]) {
			count++
		}
	}
	for _, n := range state.Nodes {
		count -= n.Moving
	}
	return max(0, count), err
}

// reserve creates the NodeClaim of a new node, with the pods in it that it is for.
func (a *autoscaler) reserve(n *provisioning.NewNode) error {
	claim := n.NodeClaim()
	claim.Name = a.cluster.GenerateName(claim.GenerateName)
	claim, err := nomination.Reserve(claim, a.stored(n.Pods), a.cluster.Now(), promises())
	if err == nil {
		a.cluster.CreateClaim(claim)
	}
	return err
}

// bind promises a node that is there to pods in memory, and one that is coming in its
// NodeClaim.
func (a *autoscaler) bind(b provisioning.Binding) error {
	claim, ok := a.cluster.Claims.Get(b.Node)
	if node, joined := a.cluster.Nodes.Get(b.Node); joined {
		claim = a.claimOf(node)
		ok = claim != nil && !has(claim, v1.ConditionTypeInitialized)
	}
	if !ok {
		until := a.cluster.Now().Add(bindHolds)
		a.bindings = append(a.bindings, nomination.Bind(b.Node, b.Pods, until)...)
		a.reviewed.changes = -1
		a.consider(until, b.Pods...)
		return nil
	}
	claim, err := nomination.Reserve(claim, a.stored(b.Pods), a.cluster.Now(), promises())
	if err == nil {
		a.cluster.Claims.Put(claim.Name, claim)
	}
	return err
}

// consider plans nothing for pods until an instant.
func (a *autoscaler) consider(until time.Time, pods ...*corev1.Pod) {
	for _, p := range pods {
		a.considered[p.UID] = until
	}
}

// stored are pods of a plan as they are in the cluster: on the nodes that they leave.
func (a *autoscaler) stored(pods []*corev1.Pod) (list []*corev1.Pod) {
	for _, p := range pods {
		if there, ok := a.cluster.Pods.Get(simcluster.Key(p)); ok {
			list = append(list, there.Pod)
		}
	}
	return list
}

// nominations are the nodes that are kept for pods, and until when: for those that
// were promised a place, and replacements for the pods of what they replace.
func (a *autoscaler) nominations() (map[string]time.Time, error) {
	state, err := a.review()
	kept := state.Nominations()
	for _, c := range a.commands {
		for _, r := range c.Command.Replacements {
			name := r.Token
			if claim, ok := a.cluster.Claims.Get(name); ok && claim.Status.NodeName != "" {
				name = claim.Status.NodeName
			}
			if until := a.cluster.Now().Add(promiseHolds); until.After(kept[name]) {
				kept[name] = until
			}
		}
	}
	return kept, err
}
