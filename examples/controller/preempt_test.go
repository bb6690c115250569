package main

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// scheduled is a cluster with all that happens between two passes: ReplicaSets, kubelets, and a
// kube-scheduler that knows taints, CPUs and priorities.
type scheduled struct {
	*cluster
	preempted int
	rounds    int
	ends      map[types.UID]int // the round in which a pod that is being deleted is gone
}

// grace is for how many rounds a pod that is being deleted is still there.
const grace = 3

func (s *scheduled) pods() []corev1.Pod {
	s.Helper()
	var l corev1.PodList
	s.must(s.List(s.Context(), &l))
	return l.Items
}

// replicate makes the pods that ReplicaSets lack: of four priorities.
func (s *scheduled) replicate() {
	s.Helper()
	have := map[string]int{}
	for _, p := range s.pods() {
		if p.DeletionTimestamp == nil {
			have[p.Labels["app"]]++
		}
	}
	for _, w := range []struct {
		name     string
		replicas int
		cpu      string
		priority int32
	}{{"web", 20, "700m", 100}, {"db", 4, "1", 1000}, {"batch", 16, "900m", 0}, {"tiny", 20, "100m", -10}} {
		for ; have[w.name] < w.replicas; have[w.name]++ {
			p := pod(fmt.Sprintf("%s-%d", w.name, s.made), w.cpu)
			yes := true
			p.GenerateName, p.Labels, p.Finalizers = w.name+"-", map[string]string{"app": w.name}, []string{"example.com/kubelet"}
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.name, UID: types.UID(w.name), Controller: &yes}}
			p.Spec.Priority = new(w.priority)
			s.must(s.Create(s.Context(), p))
		}
	}
}

// kubelets make Nodes ready that are not, and end pods that are being deleted.
func (s *scheduled) kubelets() {
	s.Helper()
	s.rounds++
	for _, n := range s.nodes() {
		if len(n.Status.Conditions) == 0 {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			s.must(s.Status().Update(s.Context(), &n))
		}
	}
	for _, p := range s.pods() {
		if p.DeletionTimestamp == nil {
			continue
		}
		if s.ends[p.UID] == 0 {
			s.ends[p.UID] = s.rounds + grace
		}
		if p.Spec.NodeName == "" || s.rounds >= s.ends[p.UID] {
			p.Finalizers = nil
			s.must(s.Update(s.Context(), &p))
		}
	}
}

// room is a Node with the pods that are there, and those that others were preempted for.
type room struct {
	node            corev1.Node
	pods, nominated []corev1.Pod
}

func cpuOf(p *corev1.Pod) int64 { return p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() }

// free returns the room for a pod. Nominated pods keep theirs from pods of a lower priority.
func (r *room) free(p *corev1.Pod) int64 {
	free := r.node.Status.Allocatable.Cpu().MilliValue()
	for i := range r.pods {
		free -= cpuOf(&r.pods[i])
	}
	for i := range r.nominated {
		if n := &r.nominated[i]; n.UID != p.UID && *n.Spec.Priority >= *p.Spec.Priority {
			free -= cpuOf(n)
		}
	}
	return free
}

// admits says whether a pod may come to a Node if there is room.
func (r *room) admits(p *corev1.Pod) bool {
	for _, taint := range r.node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == taint.Key && t.Value == taint.Value }) {
			return false
		}
	}
	return len(r.node.Status.Conditions) > 0
}

// victims lists the pods of a lower priority that would have to go for a pod, the lowest first.
// Those that are being deleted make room by themselves.
func (r *room) victims(p *corev1.Pod) (out []corev1.Pod, ok bool) {
	if !r.admits(p) {
		return nil, false
	}
	free := r.free(p)
	lower := slices.DeleteFunc(slices.Clone(r.pods), func(o corev1.Pod) bool {
		if o.DeletionTimestamp != nil {
			free += cpuOf(&o)
		}
		return o.DeletionTimestamp != nil || *o.Spec.Priority >= *p.Spec.Priority
	})
	slices.SortStableFunc(lower, func(a, b corev1.Pod) int { return cmp.Compare(*a.Spec.Priority, *b.Spec.Priority) })
	for _, o := range lower {
		if free >= cpuOf(p) {
			break
		}
		free += cpuOf(&o)
		out = append(out, o)
	}
	return out, free >= cpuOf(p)
}

// bind is kube-scheduler: a pod goes to the Node with the most room, or waits for the one on which it
// preempts the fewest others.
func (s *scheduled) bind() {
	s.Helper()
	var rooms []*room
	at := map[string]*room{"": {}}
	for _, n := range s.nodes() {
		r := &room{node: n}
		rooms, at[n.Name] = append(rooms, r), r
	}
	var waiting []corev1.Pod
	for _, p := range s.pods() {
		switch r := at[cmp.Or(p.Spec.NodeName, p.Status.NominatedNodeName)]; {
		case p.Spec.NodeName != "":
			r.pods = append(r.pods, p)
		case p.DeletionTimestamp == nil:
			waiting = append(waiting, p)
			if r != nil {
				r.nominated = append(r.nominated, p)
			}
		}
	}
	slices.SortStableFunc(waiting, func(a, b corev1.Pod) int { return cmp.Compare(*b.Spec.Priority, *a.Spec.Priority) })
	for i := range waiting {
		s.place(&waiting[i], rooms)
	}
}

// place binds a pod, or says that it cannot be bound yet.
func (s *scheduled) place(p *corev1.Pod, rooms []*room) {
	s.Helper()
	rank := func(r *room) int64 {
		if r.node.Name == p.Status.NominatedNodeName {
			return 1 << 40
		}
		return r.free(p)
	}
	var best *room
	for _, r := range rooms {
		if r.admits(p) && r.free(p) >= cpuOf(p) && (best == nil || rank(r) > rank(best)) {
			best = r
		}
	}
	if best != nil {
		p.Spec.NodeName = best.node.Name
		s.must(s.Update(s.Context(), p))
		best.pods = append(best.pods, *p)
		for _, r := range rooms {
			r.nominated = slices.DeleteFunc(r.nominated, func(o corev1.Pod) bool { return o.UID == p.UID })
		}
		return
	}
	s.preempt(p, rooms)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.Now()}}
	s.must(s.Status().Update(s.Context(), p))
}

// preempt makes room for a pod, if none is being made yet.
func (s *scheduled) preempt(p *corev1.Pod, rooms []*room) {
	s.Helper()
	var best *room
	var victims []corev1.Pod
	for _, r := range rooms {
		if r.node.Name == p.Status.NominatedNodeName && slices.ContainsFunc(r.pods, func(o corev1.Pod) bool { return o.DeletionTimestamp != nil }) {
			return
		}
		if v, ok := r.victims(p); ok && (best == nil || len(v) < len(victims)) {
			best, victims = r, v
		}
	}
	if p.Status.NominatedNodeName = ""; best == nil {
		return
	}
	p.Status.NominatedNodeName = best.node.Name
	best.nominated = append(best.nominated, *p)
	for _, v := range victims {
		s.preempted++
		s.must(s.Delete(s.Context(), &v))
		best.pods[slices.IndexFunc(best.pods, func(o corev1.Pod) bool { return o.UID == v.UID })].DeletionTimestamp = new(metav1.Now())
	}
}

// until lets all work until each Node is open and of a team, and no pod waits but the one that is
// too large for any Node.
func (s *scheduled) until(team string) {
	s.Helper()
	end := time.Now().Add(2 * time.Minute)
	for waits := true; waits; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("the nodes of team %q are not alone: %v", team, s.nodes())
		}
		s.a.changes.Add(1)
		s.pass(1)
		s.kubelets()
		s.replicate()
		s.bind()
		waits = len(s.nodes()) == 0 || len(s.nodes()) != len(s.claims())
		for _, n := range s.nodes() {
			closed := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
			waits = waits || closed || n.Labels["team"] != team
		}
		for _, p := range s.pods() {
			waits = waits || p.Spec.NodeName == "" && p.Name != "huge" || p.DeletionTimestamp != nil
		}
	}
}

// All nodes of a pool are replaced, while a pod waits that has no place anywhere. Pods that come back
// find the node that was launched for them open, and preempt nobody.
func TestEvictedPodsPreemptNobody(t *testing.T) {
	pool, huge := general(), pod("huge", "500")
	pool.Spec.Template.Spec.Requirements = requirements.MustParse("karpenter.sh/capacity-type = on-demand, karpenter.k8s.aws/instance-cpu < 9").NodeSelectorRequirements()
	pool.Spec.Template.Labels = map[string]string{"team": "a"}
	pool.Spec.Disruption.Budgets, pool.Spec.Disruption.ConsolidationPolicy = []v1.Budget{{Nodes: "100%"}}, v1.ConsolidationPolicyWhenEmpty
	huge.Spec.Priority = new(int32(0))
	s := &scheduled{cluster: newCluster(t, pool, huge), ends: map[types.UID]int{}}
	s.until("a")
	require.Greater(t, len(s.nodes()), 2)
	s.preempted = 0
	s.must(s.Get(t.Context(), client.ObjectKey{Name: "general"}, pool))
	pool.Spec.Template.Labels = map[string]string{"team": "b"}
	s.must(s.Update(t.Context(), pool))
	s.until("b")
	require.Zero(t, s.preempted)
	require.Greater(t, len(s.ends), 59)
}
