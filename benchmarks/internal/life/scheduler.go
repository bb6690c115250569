package life

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Scheduler binds the pending pods of a cluster.
type Scheduler interface {
	Schedule(c *simcluster.Cluster) error
}

// KubeScheduler binds pods as kube-scheduler does with its default profile: its own plugins filter
// and score the nodes. Among nodes with equal scores one is drawn at random.
//
// A pod with a nominated node is tried there first. While such a pod cannot be bound, its room on
// that node is kept, as in kube-scheduler. A pod without a place gets the condition that says so.
// Nothing is preempted.
type KubeScheduler struct {
	Program *kubescheduler.Program
	Seed    uint64
}

// Schedule tries all pending pods once, in the order of the scheduling queue: by priority, then by
// age.
func (s *KubeScheduler) Schedule(c *simcluster.Cluster) error {
	var in provisioning.Input
	var nominated, others []*corev1.Pod
	index := map[string]int{}
	for i, n := range c.Nodes.All() {
		index[n.Name] = i
	}
	for _, p := range c.Pods.All() {
		if !p.Pending() {
			continue
		}
		if _, there := index[p.Status.NominatedNodeName]; there {
			nominated = append(nominated, p.Pod)
		} else {
			others = append(others, p.Pod)
		}
	}
	if len(index) == 0 {
		for _, pod := range others {
			noPlace(c, pod)
		}
		return nil
	}
	if len(nominated)+len(others) == 0 {
		return nil
	}
	bound := c.PodsByNode()
	for _, n := range c.Nodes.All() {
		in.Nodes = append(in.Nodes, provisioning.Node{Node: n, Pods: bound[n.Name]})
	}
	slices.SortStableFunc(nominated, kubescheduler.QueueOrder)
	slices.SortStableFunc(others, kubescheduler.QueueOrder)
	in.Pods = slices.Concat(nominated, others)
	in.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: simcluster.Namespace}}}
	state := kubescheduler.StateOf(in)
	first, err := s.bindNominated(c, state, nominated, index)
	if err != nil {
		return err
	}
	if first != nil {
		state, others = nil, slices.Concat(first.left, others)
		slices.SortStableFunc(others, kubescheduler.QueueOrder)
	}
	return s.choose(c, state, first, others)
}

// nominations are the pods that could not be bound to their nominated nodes.
type nominations struct {
	left   []*corev1.Pod
	rooms  []*corev1.Pod // placeholder pods that keep the room, with the containers of the pods in left
	places []int         // index of the node of each placeholder
}

// bindNominated binds pods to their nominated nodes. It returns the pods that could not be bound,
// or nil if pods is empty.
func (s *KubeScheduler) bindNominated(c *simcluster.Cluster, state *kubescheduler.State, pods []*corev1.Pod, index map[string]int) (*nominations, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	q := &kubescheduler.Question{State: state, Pods: kubescheduler.Pods(pods)}
	for i, pod := range pods {
		q.Bind = append(q.Bind, [2]int{i, index[pod.Status.NominatedNodeName]})
	}
	a, err := s.Program.Ask(q)
	if err != nil {
		return nil, err
	}
	out := &nominations{}
	for i, pod := range pods {
		if a.Bind[i].Plugin == "" {
			bind(c, pod, pod.Status.NominatedNodeName)
			continue
		}
		room := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-room", UID: pod.UID + "-room"}}
		room.Spec.Containers, room.Spec.InitContainers, room.Spec.Overhead = pod.Spec.Containers, pod.Spec.InitContainers, pod.Spec.Overhead
		room.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		out.left, out.rooms, out.places = append(out.left, pod), append(out.rooms, room), append(out.places, index[pod.Status.NominatedNodeName])
	}
	return out, nil
}

// choose binds pods to the nodes with the best scores.
func (s *KubeScheduler) choose(c *simcluster.Cluster, state *kubescheduler.State, kept *nominations, pods []*corev1.Pod) error {
	if len(pods) == 0 {
		return nil
	}
	q := &kubescheduler.Question{State: state, Pods: kubescheduler.Pods(pods)}
	if kept != nil {
		for i, room := range kept.rooms {
			q.Bind = append(q.Bind, [2]int{len(q.Pods), kept.places[i]})
			q.Pods = append(q.Pods, room)
		}
	}
	for i, pod := range pods {
		q.Schedule = append(q.Schedule, kubescheduler.Choice{Pod: i, Draw: simcluster.Dice(s.Seed, pod.UID)})
	}
	a, err := s.Program.Ask(q)
	if err != nil {
		return err
	}
	nodes := c.Nodes.All()
	for i, node := range a.Schedule {
		if node >= len(nodes) {
			return fmt.Errorf("kube-scheduler chose node %d of %d", node, len(nodes))
		}
		if node >= 0 {
			bind(c, pods[i], nodes[node].Name)
		} else {
			noPlace(c, pods[i])
		}
	}
	return nil
}

func bind(c *simcluster.Cluster, pod *corev1.Pod, node string) {
	if p, ok := c.Pods.Get(simcluster.Key(pod)); ok {
		c.Bind(p, node)
	}
}

func noPlace(c *simcluster.Cluster, pod *corev1.Pod) {
	if p, ok := c.Pods.Get(simcluster.Key(pod)); ok {
		c.NoPlace(p)
	}
}
