package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
)

const (
	promiseHolds  = 10 * time.Minute // for a machine to come up, and longer than it needs
	bindHolds     = 30 * time.Second // for kube-scheduler to bind a pod to a node that is ready
	retryUnplaced = time.Minute
)

// gather says whether to plan now for so many pods that wait: ten that are planned
// together share nodes better than one at a time.
func (a *autoscaler) gather(now time.Time, waiting int) bool {
	switch {
	case waiting == 0:
		a.window = a.window.Clear()
	case waiting > a.gathered || !a.window.Open():
		a.window = a.window.Add(now)
	}
	a.gathered = waiting
	if !a.window.Due(now) {
		return false
	}
	a.window, a.gathered = a.window.Clear(), 0
	return true
}

// promise is where a pod will have its place: the name of a Node or NodeClaim, or
// nowhere yet. Until it is over nothing more is planned for the pod.
type promise struct {
	node  string
	until time.Time
}

// promise notes where pods will go.
func (a *autoscaler) promise(pods []*corev1.Pod, node string, until time.Time) {
	for _, p := range pods {
		a.promises[simcluster.Key(p)] = promise{node, until}
		if a.cluster.HasNode(node) {
			a.cluster.Nominate(simcluster.Key(p), node)
		}
	}
}

// arrived turns promises of a NodeClaim into promises of its Node, and writes them
// into the pods: kube-scheduler tries that node first. Once the node is ready they
// do not hold for long. Something else may have taken the room.
func (a *autoscaler) arrived(claim, node string, ready bool) {
	soon := a.cluster.Now().Add(bindHolds)
	for _, p := range a.cluster.Pods.All() {
		was, ok := a.promises[simcluster.Key(p.Pod)]
		if !ok || was.node != claim && was.node != node {
			continue
		}
		was.node = node
		if ready && was.until.After(soon) {
			was.until = soon
		}
		a.promises[simcluster.Key(p.Pod)] = was
		a.cluster.Nominate(simcluster.Key(p.Pod), node)
	}
}

// waiting counts the pods that nothing was planned for: those that are pending,
// and those on nodes that are going down. Promises that are kept or broken are
// forgotten on the way.
func (a *autoscaler) waiting() int {
	now := a.cluster.Now()
	going := map[string]bool{}
	for _, claim := range a.cluster.Claims.All() {
		if claim.DeletionTimestamp != nil && claim.Status.NodeName != "" {
			going[claim.Status.NodeName] = true
		}
	}
	count := 0
	for _, p := range a.cluster.Pods.All() {
		if p.Work == nil || p.DeletionTimestamp != nil || !p.Pending() && !going[p.Spec.NodeName] {
			delete(a.promises, simcluster.Key(p.Pod))
			continue
		}
		was, ok := a.promises[simcluster.Key(p.Pod)]
		if ok && now.Before(was.until) && (was.node == "" || a.comes(was.node)) {
			continue
		}
		if ok {
			delete(a.promises, simcluster.Key(p.Pod))
			a.cluster.Nominate(simcluster.Key(p.Pod), "")
		}
		count++
	}
	return count
}

// comes says whether a Node or NodeClaim is there and will take pods.
func (a *autoscaler) comes(name string) bool {
	if claim, ok := a.cluster.Claims.Get(name); ok {
		return claim.DeletionTimestamp == nil
	}
	node, ok := a.cluster.Nodes.Get(name)
	if !ok {
		return false
	}
	claim := a.claimOf(node)
	return claim != nil && claim.DeletionTimestamp == nil
}

// nominations are the nodes that are kept for pods, and until when: for those that
// were promised a place, and replacements for the pods of what they replace.
func (a *autoscaler) nominations() disruption.Nominations {
	kept := disruption.Nominations{}
	for _, was := range a.promises {
		if was.node != "" && kept[was.node].Before(was.until) {
			kept[was.node] = was.until
		}
	}
	for _, c := range a.commands {
		for _, r := range c.Command.Replacements {
			name := r.Token
			if claim, ok := a.cluster.Claims.Get(name); ok && claim.Status.NodeName != "" {
				name = claim.Status.NodeName
			}
			kept = kept.Keep(name, a.cluster.Now().Add(promiseHolds))
		}
	}
	return kept
}
