package simulation

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// limitsMeter checks which candidate sets of one simulation fit within the limits of pools. The
// engine assumes that all nodes tried together, and those of other actions, are removed. limitsMeter
// does not: a node that stays in the end still counts against its limits.
type limitsMeter struct {
	w    *Simulation
	used map[string]map[corev1.ResourceName]int64 // by pool, for the resources that it limits
}

// NewLimitsMeter returns a meter for the pools of a simulation.
func NewLimitsMeter(w *Simulation) *limitsMeter {
	return &limitsMeter{w: w, used: map[string]map[corev1.ResourceName]int64{}}
}

// Takes counts a set if its pools stay within their limits, whichever other sets are carried out;
// resources that those sets release do not count. Otherwise it changes nothing and returns the full
// pool.
func (l *limitsMeter) Takes(cs *CandidateSet) (full *v1.NodePool) {
	growth := map[string]map[corev1.ResourceName]int64{}
	for i := range cs.Nodes {
		pool := cs.Nodes[i].Pool
		limits, err := resources.FromResourceList(corev1.ResourceList(pool.Spec.Limits))
		if err != nil || limits.Len() == 0 || growth[pool.Name] != nil {
			continue // the engine has refused limits that cannot be read
		}
		used, more := l.of(pool.Name), cs.growth(pool.Name)
		for name, limit := range limits.All() {
			if more[name] > 0 && used[name] > limit-more[name] {
				return pool
			}
		}
		growth[pool.Name] = more
	}
	for pool, more := range growth { // the order does not matter
		for name, amount := range more {
			l.used[pool][name] += max(0, amount)
		}
	}
	return nil
}

// of returns the most that a pool may use after the decisions so far. Each action may be carried
// out or given up, so the resources that an action releases are not available to others.
func (l *limitsMeter) of(pool string) map[corev1.ResourceName]int64 {
	used := l.used[pool]
	if used != nil {
		return used
	}
	used = map[corev1.ResourceName]int64{}
	for _, m := range l.w.Cluster.Nodes {
		if !m.Marked() && poolOf(m.Node) == pool {
			addCapacity(used, capacityOf(m.Node), 1)
		}
	}
	if l.w.Settled != nil {
		for i := range l.w.Settled.Create {
			if n := &l.w.Settled.Create[i]; n.Pool.Name == pool {
				addCapacity(used, largestCapacity(n), 1)
			}
		}
	}
	for _, cs := range l.w.decided {
		for name, amount := range cs.growth(pool) { // the order does not matter
			used[name] += max(0, amount)
		}
	}
	l.used[pool] = used
	return used
}

// growth returns by how much the resources of a pool grow when a set is carried out.
func (cs *CandidateSet) growth(pool string) map[corev1.ResourceName]int64 {
	more := map[corev1.ResourceName]int64{}
	for i := range cs.Nodes {
		if n := &cs.Nodes[i]; n.Pool.Name == pool {
			addCapacity(more, largestCapacity(n), 1)
		}
	}
	for _, m := range cs.Targets {
		if poolOf(m.Node) == pool {
			addCapacity(more, capacityOf(m.Node), -1)
		}
	}
	return more
}

// largestCapacity returns the most of each resource that a new node may have.
func largestCapacity(n *provisioning.NewNode) resources.List {
	most := resources.List{}
	for _, o := range n.Options {
		capacity := o.InstanceType.Capacity
		if o.Offering.Capacity != nil {
			capacity = capacity.Merge(*o.Offering.Capacity)
		}
		most = most.Max(capacity)
	}
	return most
}

// capacityOf returns the capacity of a node.
func capacityOf(n provisioning.Node) resources.List {
	var capacity resources.List
	if n.NodeClaim != nil {
		capacity, _ = resources.FromResourceList(n.NodeClaim.Status.Capacity) // the engine refuses a capacity that cannot be read
	}
	if n.Node != nil {
		own, _ := resources.FromResourceList(n.Node.Status.Capacity)
		capacity = capacity.Merge(own)
	}
	return capacity
}

// addCapacity adds the capacity of the given number of nodes, and that number.
func addCapacity(sum map[corev1.ResourceName]int64, capacity resources.List, nodes int64) {
	for name, amount := range capacity.With(v1.ResourceNodes, 1).All() {
		sum[name] += nodes * amount
	}
}

// poolOf returns the name of the pool of a node.
func poolOf(n provisioning.Node) string {
	if n.Node != nil && n.Node.Labels[v1.NodePoolLabelKey] != "" {
		return n.Node.Labels[v1.NodePoolLabelKey]
	}
	if n.NodeClaim != nil {
		return n.NodeClaim.Labels[v1.NodePoolLabelKey]
	}
	return ""
}
