package simcluster

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// schedule binds pending pods to nodes, as kube-scheduler does, with those of its
// rules that the sample needs: node selectors, taints, requests, and topology
// spread over zones. It is written apart from the engine, so that plans are held
// against something else than themselves.
//
// A pod goes where status.nominatedNodeName says if it can, as there its place
// was planned, and others leave that room to it; else to a node without a taint of effect
// PreferNoSchedule, if there is one, and of these to the fullest, as with the scoring strategy MostAllocated.
func schedule(c *Cluster) {
	s := newSchedule(c)
	for progress := true; progress; {
		progress = false
		for _, p := range c.Pods.All() {
			if !p.Pending() {
				continue
			}
			if n := s.choose(p); n != nil {
				s.bind(c, p, n)
				progress = true // a zone that was too full may not be so any more
			}
		}
	}
	for _, p := range c.Pods.All() {
		if p.Pending() {
			c.NoPlace(p)
		}
	}
}

// place is a node as the scheduler sees it.
type place struct {
	node        *corev1.Node
	allocatable resources.List
	used        resources.List
	promised    resources.List // to pending pods that are nominated
}

// schedulingRun is the state of one pass of the scheduler over the pods.
type schedulingRun struct {
	places []place
	zones  map[string]map[string]int // pods that spread, by workload and zone
}

func newSchedule(c *Cluster) *schedulingRun {
	s := &schedulingRun{zones: map[string]map[string]int{}}
	index := map[string]int{}
	for _, n := range c.Nodes.All() {
		allocatable, err := resources.FromResourceList(n.Status.Allocatable)
		if err != nil {
			continue // no node of the fake
		}
		index[n.Name] = len(s.places)
		s.places = append(s.places, place{node: n, allocatable: allocatable})
	}
	for _, p := range c.Pods.All() {
		if i, ok := index[p.Spec.NodeName]; ok {
			s.take(p, i)
		}
		if i, ok := index[p.Status.NominatedNodeName]; ok && p.Pending() {
			s.places[i].promised = sum(s.places[i].promised, p.Requests)
		}
	}
	return s
}

// take counts a pod where it is.
func (s *schedulingRun) take(p *Pod, i int) {
	at := &s.places[i]
	at.used = sum(at.used, p.Requests)
	if p.Work == nil || p.DeletionTimestamp != nil {
		return
	}
	if s.zones[p.Work.Name] == nil {
		s.zones[p.Work.Name] = map[string]int{}
	}
	s.zones[p.Work.Name][at.node.Labels[corev1.LabelTopologyZone]]++
}

// choose returns the node for a pod, nil if there is none.
func (s *schedulingRun) choose(p *Pod) *place {
	best, bestSoft, bestFree := -1, 0, 0.0
	for i := range s.places {
		at := &s.places[i]
		if !s.admits(at, p) {
			continue
		}
		if at.node.Name == p.Status.NominatedNodeName {
			return at
		}
		soft, free := at.softTaints(), at.free()
		if best < 0 || cmp.Or(cmp.Compare(soft, bestSoft), cmp.Compare(free, bestFree)) < 0 {
			best, bestSoft, bestFree = i, soft, free
		}
	}
	if best < 0 {
		return nil
	}
	return &s.places[best]
}

// softTaints counts the taints of effect PreferNoSchedule, which no pod of the sample tolerates.
func (at *place) softTaints() int {
	n := 0
	for _, t := range at.node.Spec.Taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			n++
		}
	}
	return n
}

// free returns the part of a node that is not requested: the mean of CPU and memory.
func (at *place) free() float64 {
	sum := 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum += 1 - float64(at.used.Get(name))/float64(max(1, at.allocatable.Get(name)))
	}
	return sum / 2
}

// admits says whether a pod may be bound to a node.
func (s *schedulingRun) admits(at *place, p *Pod) bool {
	if !matches(p.Pod, at.node) || !tolerates(p.Pod, at.node) {
		return false
	}
	taken := sum(at.used, p.Requests)
	if at.node.Name != p.Status.NominatedNodeName {
		taken = sum(taken, at.promised)
	}
	return taken.Fits(at.allocatable) && s.spreads(at, p)
}

// sum adds amounts, which are far from overflowing.
func sum(a, b resources.List) resources.List {
	total, err := a.Add(b)
	if err != nil {
		return a.Max(b)
	}
	return total
}

func matches(p *corev1.Pod, n *corev1.Node) bool {
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	return true
}

// tolerates says whether a pod tolerates the taints of a node. It ignores the effects of
// tolerations, because no workload here sets them.
func tolerates(p *corev1.Pod, n *corev1.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(p.Spec.Tolerations, func(have corev1.Toleration) bool {
			return have.Operator == corev1.TolerationOpExists && (have.Key == "" || have.Key == t.Key) || have.Key == t.Key && have.Value == t.Value
		}) {
			return false
		}
	}
	return true
}

// spreads says whether the spread over zones still holds with the pod on the
// node. The zones are those of the nodes that the pod's selector admits.
func (s *schedulingRun) spreads(at *place, p *Pod) bool {
	for _, constraint := range p.Spec.TopologySpreadConstraints {
		counts := s.zones[p.Work.Name]
		zone := at.node.Labels[constraint.TopologyKey]
		least := counts[zone]
		for i := range s.places {
			if n := s.places[i].node; matches(p.Pod, n) {
				least = min(least, counts[n.Labels[constraint.TopologyKey]])
			}
		}
		if counts[zone]+1-least > int(constraint.MaxSkew) {
			return false
		}
	}
	return true
}

// bind puts a pod on a node.
func (s *schedulingRun) bind(c *Cluster, p *Pod, at *place) {
	if p.Status.NominatedNodeName == at.node.Name {
		if rest, err := at.promised.Sub(p.Requests); err == nil {
			at.promised = rest
		}
	}
	c.Bind(p, at.node.Name)
	bound, _ := c.Pods.Get(Key(p.Pod))
	s.take(bound, slices.IndexFunc(s.places, func(other place) bool { return other.node == at.node }))
}

// Dice returns a pseudo-random number that depends only on the parts.
func Dice(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, parts...)
	return h.Sum64()
}
