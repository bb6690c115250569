package replay

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// How many nodes kube-scheduler looks for that a pod fits on, when nothing configures it.
const (
	fewNodes     = 100 // of which all are looked at
	mostPercent  = 50
	leastPercent = 5
	percentStep  = 125 // nodes for which one percent less is looked at
)

// maxScore is what a plugin gives a node at most.
const maxScore = 100

// scheduler imitates kube-scheduler over the nodes that are up.
type scheduler struct {
	run     *run
	cluster *verify.Cluster
	nodes   []*nodeState
	order   []int // of nodes, in which they are looked at
	start   int   // index into order where the next look begins
	counts  counts
}

// nodeState is a node with what scores ask of it.
type nodeState struct {
	name        string
	node        *corev1.Node // name, labels and taints
	pods        []*corev1.Pod
	allocatable [2]int64 // milli-CPU and bytes of memory
	requested   [2]int64
	assumed     [2]int64 // requested, a container that says nothing counting as a small one
}

// newScheduler reads the cluster of a run.
func newScheduler(r *run) *scheduler {
	s := &scheduler{run: r, cluster: verify.NewCluster(r.in, r.opts.Engine), start: r.start}
	for i := range r.in.Nodes {
		s.nodes = append(s.nodes, readNode(&r.in.Nodes[i]))
	}
	s.counts = newCounts(s.nodes, r.in.Pods, r.in.Namespaces)
	s.order = lookingOrder(s.nodes)
	return s
}

func readNode(n *provisioning.Node) *nodeState {
	s := &nodeState{name: n.Name(), pods: slices.Clone(n.Pods), node: n.Node}
	var allocatable corev1.ResourceList
	if n.Node != nil {
		allocatable = n.Node.Status.Allocatable
	}
	if n.NodeClaim != nil {
		if len(allocatable) == 0 {
			allocatable = n.NodeClaim.Status.Allocatable
		}
		if s.node == nil {
			s.node = &corev1.Node{}
			s.node.Name, s.node.Labels, s.node.Spec.Taints = s.name, n.NodeClaim.Labels, n.NodeClaim.Spec.Taints
		}
	}
	s.allocatable = [2]int64{allocatable.Cpu().MilliValue(), allocatable.Memory().Value()}
	for _, pod := range s.pods {
		s.take(pod)
	}
	return s
}

// take counts what a pod that is here requests.
func (s *nodeState) take(pod *corev1.Pod) {
	if podlife.Finished(pod) {
		return
	}
	asked, assumed := requestsOf(pod)
	for i := range asked {
		s.requested[i] += asked[i]
		s.assumed[i] += assumed[i]
	}
}

// requestsOf is what a pod requests of CPU and memory, and what the scorer of least
// allocation assumes that it does: 100m and 200 MiB where a container says nothing.
func requestsOf(pod *corev1.Pod) (asked, assumed [2]int64) {
	read := func(opts resourcehelper.PodResourcesOptions) [2]int64 {
		list := resourcehelper.PodRequests(pod, opts)
		return [2]int64{list.Cpu().MilliValue(), list.Memory().Value()}
	}
	return read(resourcehelper.PodResourcesOptions{}),
		read(resourcehelper.PodResourcesOptions{NonMissingContainerRequests: smallContainer()})
}

// lookingOrder takes a node of each zone in turn, as kube-scheduler does.
func lookingOrder(nodes []*nodeState) []int {
	var zones []string
	byZone := map[string][]int{}
	for i, n := range nodes {
		zone := n.node.Labels[corev1.LabelTopologyRegion] + "\x00" + n.node.Labels[corev1.LabelTopologyZone]
		if byZone[zone] == nil {
			zones = append(zones, zone)
		}
		byZone[zone] = append(byZone[zone], i)
	}
	order := make([]int, 0, len(nodes))
	for at := 0; len(order) < len(nodes); at++ {
		for _, zone := range zones {
			if at < len(byZone[zone]) {
				order = append(order, byZone[zone][at])
			}
		}
	}
	return order
}

// schedule binds a pod to the node with the highest score among those it fits on, and
// says whether there is one.
func (s *scheduler) schedule(pod *corev1.Pod) bool {
	feasible := s.feasible(pod)
	if len(feasible) == 0 {
		return false
	}
	s.bind(pod, s.choose(pod, feasible))
	return true
}

// feasible lists the nodes that pass all filters, or as many as kube-scheduler looks for.
func (s *scheduler) feasible(pod *corev1.Pod) []int {
	var found []int
	wanted := wantedNodes(len(s.order))
	looked := 0
	for ; looked < len(s.order) && len(found) < wanted; looked++ {
		i := s.order[(s.start+looked)%len(s.order)]
		if name := s.nodes[i].name; s.run.opens(name, pod) && s.trusted(pod, name) && s.cluster.Fits(pod, name) {
			found = append(found, i)
		}
	}
	if len(s.order) > 0 {
		s.start = (s.start + looked) % len(s.order)
	}
	return found
}

// wantedNodes is how many nodes kube-scheduler looks for among so many.
func wantedNodes(all int) int {
	if all < fewNodes {
		return all
	}
	percent := max(mostPercent-all/percentStep, leastPercent)
	return max(all*percent/100, fewNodes)
}

// trusted says whether a pod may be tried on a node: resource claims are not filtered
// by, so a pod that has some goes where the plan has it, or waits.
func (s *scheduler) trusted(pod *corev1.Pod, node string) bool {
	return len(pod.Spec.ResourceClaims) == 0 || s.run.home[keyOf(pod)] == node
}

// choose draws one of the nodes with the highest score.
func (s *scheduler) choose(pod *corev1.Pod, feasible []int) int {
	if len(feasible) == 1 {
		return feasible[0]
	}
	totals := s.scores(pod, feasible)
	best := slices.Max(totals)
	var top []int
	for k, total := range totals {
		if total == best {
			top = append(top, feasible[k])
		}
	}
	return top[draw(&s.run.dice, len(top))]
}

// bind puts a pod on a node.
func (s *scheduler) bind(pod *corev1.Pod, at int) {
	n := s.nodes[at]
	s.cluster.Bind(pod, n.name)
	n.take(pod)
	n.pods = append(n.pods, pod)
	s.counts.add(pod, at)
	s.run.bound(pod, n.name)
}

// weighted is what one plugin says of each feasible node, and its weight.
type weighted struct {
	weight int64
	scores []int64 // from 0 to maxScore; nil where the plugin has nothing to say
}

// scores adds up what the plugins say.
func (s *scheduler) scores(pod *corev1.Pod, feasible []int) []int64 {
	totals := make([]int64, len(feasible))
	for _, w := range []weighted{
		{1, s.leastAllocated(pod, feasible)},
		{1, s.balancedAllocation(pod, feasible)},
		{2, s.spread(pod, feasible)},
		{2, s.podAffinity(pod, feasible)},
		{2, s.nodeAffinity(pod, feasible)},
		{3, s.taints(pod, feasible)},
	} {
		for k, score := range w.scores {
			totals[k] += w.weight * score
		}
	}
	return totals
}

// normalize stretches scores so that the highest is maxScore, and turns them round
// if less is better.
func normalize(scores []int64, lessIsBetter bool) []int64 {
	most := slices.MaxFunc(scores, cmp.Compare[int64])
	for k := range scores {
		if most > 0 {
			scores[k] = maxScore * scores[k] / most
		}
		if lessIsBetter {
			scores[k] = maxScore - scores[k]
		}
	}
	return scores
}
