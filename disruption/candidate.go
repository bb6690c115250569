package disruption

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Candidate is a node that a method may disrupt. What it points at is the
// input's.
type Candidate struct {
	// Target names the node.
	Target
	// Entry is the node in Input.Nodes.
	Entry provisioning.Node
	// Pool is its NodePool.
	Pool *v1.NodePool
	// InstanceType is its type, nil if the catalog of the pool does not have it.
	InstanceType *cloudprovider.InstanceType
	// Offering is what it was bought by, available or not, nil if it is not
	// offered. That of a node whose reservation is not offered any more is the
	// on-demand one.
	Offering *cloudprovider.Offering
	// Price is what the machine costs, in USD per hour, and PriceKnown whether
	// that is known; if not, Price is 0.
	Price      float64
	PriceKnown bool

	// Pods are the pods that need another place when the node goes, by
	// namespace and name: those that are active, and pods of StatefulSets that
	// are terminating, even if they have ended, as they come back; without pods
	// of DaemonSets and static pods.
	Pods []*corev1.Pod
	// Held are those of Pods that nothing can evict as things are written: by
	// do-not-disrupt, by a PodDisruptionBudget that never lets a pod go, or by
	// several of them. A place for them is not needed before the drain is ended
	// by force.
	Held []*corev1.Pod

	// DisruptionCost is 1 for the node and, for each of Pods, what it costs to
	// evict it, if that is above 0. See EvictionCost.
	DisruptionCost float64
	// LifetimeCost is the sum of EvictionCost over all pods on the node, also
	// where it is below 0, times the part of expireAfter that is left.
	LifetimeCost float64
	// SavingsRatio is Price / DisruptionCost, in USD per hour.
	SavingsRatio float64
	// Empty is whether the node counts as empty: without Pods, or with
	// Options.FreePodsAreEmpty if DisruptionCost is 1.
	Empty bool
}

// Candidates sorts the nodes of the fleet into those that a method may disrupt,
// highest SavingsRatio first and then by name, and those that it may not, with
// every reason, in the order of Blocked.Compare. Each node is in one of the two.
//
// The rules are looked at in the order of the constants of Rule. To be a
// candidate for
//
//   - any method, a node must be managed, registered, initialized, not being
//     dealt with, rebooted, deleted or kept for a pending pod, and have a
//     NodePool with a catalog;
//   - Interruption, Emptiness and Consolidation, nothing must hold it: no
//     do-not-disrupt on the node, or on an active pod, including those of
//     DaemonSets and static pods; and every pod that would be evicted must have
//     at most one PodDisruptionBudget, that lets it go;
//   - Emptiness and Consolidation, the pool must be dynamic and consolidateAfter
//     must have passed as well;
//   - Emptiness, it must be empty, and no spare room be kept on it;
//   - Consolidation, it must not be empty, its type, zone and capacity type
//     must be known, and the policy be other than WhenEmpty;
//   - Drift, it must have drifted in a way that is not tolerated, do-not-disrupt
//     on the node holds it, and what holds its pods counts only if the NodeClaim
//     has no terminationGracePeriod;
//   - Repair, it must be registered but need not be initialized, and a
//     condition must ask for repair that karpenter.sh/do-not-repair does not
//     veto. do-not-disrupt on the node does not count. What holds its pods
//     counts only if nothing bounds the drain.
func (f *Fleet) Candidates(method Method) ([]Candidate, []Blocked) {
	var candidates []Candidate
	var blocked []Blocked
	for _, m := range f.members {
		reasons := f.check(m, method)
		if len(reasons) == 0 {
			candidates = append(candidates, f.candidate(m))
		}
		blocked = append(blocked, reasons...)
	}
	slices.SortStableFunc(candidates, compareSavings)
	slices.SortFunc(blocked, Blocked.Compare)
	return candidates, blocked
}

func compareSavings(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.SavingsRatio, a.SavingsRatio), strings.Compare(a.Node, b.Node))
}

func (f *Fleet) candidate(m *member) Candidate {
	c := Candidate{
		Target: m.target(), Entry: m.Node, InstanceType: m.instanceType, Offering: m.offering,
		DisruptionCost: (oneEviction + m.cost).float(),
		LifetimeCost:   m.allCost.float() * m.lifetimeLeft(f.now),
		Empty:          f.empty(m),
	}
	if m.pool != nil {
		c.Pool = m.pool.NodePool
	}
	c.Price, c.PriceKnown = m.price()
	c.SavingsRatio = c.Price / c.DisruptionCost
	for _, p := range m.pods {
		if p.reschedulable {
			c.Pods = append(c.Pods, p.Pod)
			if p.stuck() {
				c.Held = append(c.Held, p.Pod)
			}
		}
	}
	return c
}

// empty reports whether the node counts as empty.
func (f *Fleet) empty(m *member) bool {
	if f.opts.FreePodsAreEmpty {
		return m.cost == 0
	}
	return m.homeless() == 0
}

// homeless counts the pods that need another place when the node goes.
func (m *member) homeless() int {
	n := 0
	for _, p := range m.pods {
		if p.reschedulable {
			n++
		}
	}
	return n
}
