package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// cluster is Kubernetes as far as an autoscaler sees it: the objects, and what
// kubelets, kube-scheduler and the controllers of workloads do to them while time
// passes. The autoscaler reads and writes objects and calls nothing else here.
type cluster struct {
	cloud     *fake.Cloud
	workloads []*workload
	daemon    *corev1.Pod // what the DaemonSet runs on each node

	claims  table[*v1.NodeClaim]
	nodes   table[*corev1.Node]
	pods    table[*pod] // by namespace/name
	budgets table[*policyv1.PodDisruptionBudget]

	seen      map[string]*corev1.Node // by name: the Node as the cloud had it last
	podEvents map[string]time.Time    // by node: when a pod last came or went
	scheduled int                     // changes() when the scheduler had nothing to do
	numbers   int                     // of UIDs and names
	evicted   int                     // pods so far
	lost      int                     // pods that went with their machine so far
	waits     []time.Duration         // of each pod that was bound, until it was; unsorted
}

// pod is a Pod, and what its kubelet knows about it.
type pod struct {
	*corev1.Pod
	requests resources.List
	work     *workload // nil for the DaemonSet
	since    time.Time // when it became pending
	readyAt  time.Time // once bound
	goneAt   time.Time // once it is ending
}

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

func (p *pod) pending() bool { return p.Spec.NodeName == "" && p.DeletionTimestamp == nil }

func (p *pod) ready() bool {
	return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Status == corev1.ConditionTrue
}

// edit replaces a pod by a changed copy.
func (c *cluster) edit(p *pod, change func(*pod)) {
	copied := *p
	copied.Pod = p.DeepCopy()
	change(&copied)
	c.pods.put(key(copied.Pod), &copied)
}

// find is the workload of a name.
func (c *cluster) find(name string) *workload {
	i := slices.IndexFunc(c.workloads, func(w *workload) bool { return w.name == name })
	return c.workloads[i]
}

func (c *cluster) now() time.Time { return c.cloud.Now() }

// changes is a number that grows with every change of an object.
func (c *cluster) changes() int {
	return c.claims.writes + c.nodes.writes + c.pods.writes + c.budgets.writes
}

// uid is a new one.
func (c *cluster) uid() types.UID {
	c.numbers++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", c.numbers))
}

// generateName is a name that no object has had, as the API server makes it.
func (c *cluster) generateName(prefix string) string {
	c.numbers++
	return fmt.Sprintf("%s%04d", prefix, c.numbers)
}

// advance lets time pass. The order is that in which one thing leads to the
// next, so that a step of some seconds is enough for all that needs no waiting.
func (c *cluster) advance(step time.Duration) {
	c.cloud.Advance(step)
	now := c.now()
	c.syncNodes()
	for _, p := range c.pods.all() {
		c.run(p, now)
	}
	for _, w := range c.workloads {
		w.control(c, now)
	}
	if c.changes() != c.scheduled {
		schedule(c)
	}
	for _, w := range c.workloads {
		c.setBudget(w)
	}
	c.scheduled = c.changes()
}

// syncNodes brings the Nodes in line with the cloud's. Kubelets make and report
// on them; what the autoscaler wrote stays.
func (c *cluster) syncNodes() {
	there := map[string]bool{}
	for _, n := range c.cloud.Nodes() {
		there[n.Name] = true
		if c.seen[n.Name] == n {
			continue
		}
		c.seen[n.Name] = n
		have, known := c.nodes.get(n.Name)
		if !known {
			have = n
		}
		have = have.DeepCopy()
		have.DeletionTimestamp = nil
		have.Status = n.Status
		have.Spec.Taints = slices.DeleteFunc(have.Spec.Taints, byKubernetes)
		for _, t := range n.Spec.Taints {
			if byKubernetes(t) {
				have.Spec.Taints = append(have.Spec.Taints, t)
			}
		}
		c.nodes.put(n.Name, have)
		if !known {
			c.startDaemon(n.Name)
		}
	}
	for _, n := range c.nodes.all() {
		if !there[n.Name] {
			c.loseNode(n.Name)
		}
	}
}

// byKubernetes says whether a taint is that of a controller of Kubernetes.
func byKubernetes(t corev1.Taint) bool {
	return strings.HasPrefix(t.Key, "node.kubernetes.io/") || strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/")
}

// startDaemon puts the pod of the DaemonSet on a node.
func (c *cluster) startDaemon(node string) {
	p := &pod{Pod: c.daemon.DeepCopy(), since: c.now()}
	p.Name, p.UID, p.Spec.NodeName = "agent-"+node, c.uid(), node
	p.requests, _ = resources.PodRequests(p.Pod) // checked when the world was made
	c.pods.put(key(p.Pod), p)
}

// loseNode removes a Node whose machine is gone, and the pods that were on it.
func (c *cluster) loseNode(name string) {
	if name == "" {
		return // a machine that never joined
	}
	c.nodes.remove(name)
	delete(c.seen, name)
	delete(c.podEvents, name)
	for _, p := range c.pods.all() {
		if p.Spec.NodeName != name {
			continue
		}
		if p.work != nil && p.DeletionTimestamp == nil {
			c.lost++
		}
		c.pods.remove(key(p.Pod))
	}
}

// run is what a kubelet does: pods become ready, finish, and end.
func (c *cluster) run(p *pod, now time.Time) {
	switch {
	case !p.goneAt.IsZero() && !now.Before(p.goneAt):
		c.pods.remove(key(p.Pod))
		c.podEvent(p, now)
	case p.Spec.NodeName == "" || p.work == nil || p.DeletionTimestamp != nil:
	case !p.ready() && !now.Before(p.readyAt):
		c.edit(p, func(p *pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	case p.work.runs > 0 && !now.Before(p.readyAt.Add(p.work.runs)):
		p.work.finished++
		c.pods.remove(key(p.Pod)) // as ttlSecondsAfterFinished: 0 does
		c.podEvent(p, now)
	}
}

func (c *cluster) podEvent(p *pod, now time.Time) {
	if p.work != nil && p.Spec.NodeName != "" {
		c.podEvents[p.Spec.NodeName] = now
	}
}

// endPod asks a pod to end: it does so within its grace period.
func (c *cluster) endPod(p *pod, grace time.Duration) {
	if p.DeletionTimestamp != nil {
		return
	}
	now := c.now()
	if p.Spec.NodeName == "" {
		c.pods.remove(key(p.Pod))
		return
	}
	c.edit(p, func(p *pod) {
		end := metav1.NewTime(now.Add(grace))
		p.DeletionTimestamp = &end
		p.goneAt = now.Add(min(grace, stopTime))
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	})
	c.podEvent(p, now)
}

// deletePod deletes a pod, whatever protects it.
func (c *cluster) deletePod(namespace, name string, grace time.Duration) {
	if p, ok := c.pods.get(namespace + "/" + name); ok {
		if p.work != nil && p.DeletionTimestamp == nil {
			c.evicted++
		}
		c.endPod(p, grace)
	}
}

// evict is the eviction API, which keeps to PodDisruptionBudgets.
func (c *cluster) evict(e *policyv1.Eviction) error {
	p, ok := c.pods.get(e.Namespace + "/" + e.Name)
	if !ok || p.DeletionTimestamp != nil {
		return nil
	}
	if p.work != nil {
		// A budget does not protect a pod that has not started.
		if b, ok := c.budgets.get(p.work.name); ok && p.Status.Phase != corev1.PodPending {
			if b.Status.DisruptionsAllowed < 1 {
				return fmt.Errorf("evict %s: the budget %s lets no pod go now", key(p.Pod), b.Name)
			}
			b = b.DeepCopy()
			b.Status.DisruptionsAllowed--
			c.budgets.put(p.work.name, b)
		}
		c.evicted++
	}
	c.endPod(p, gracePeriod)
	return nil
}

// setBudget does what the disruption controller of Kubernetes does.
func (c *cluster) setBudget(w *workload) {
	if w.maxUnavailable == 0 {
		return
	}
	healthy := 0
	for _, p := range c.pods.all() {
		if p.work == w && p.ready() && p.DeletionTimestamp == nil {
			healthy++
		}
	}
	desired := max(0, w.want-w.maxUnavailable)
	status := policyv1.PodDisruptionBudgetStatus{CurrentHealthy: int32(healthy), DesiredHealthy: int32(desired),
		ExpectedPods: int32(w.want), DisruptionsAllowed: int32(max(0, healthy-desired))}
	have, ok := c.budgets.get(w.name)
	if ok && have.Status.CurrentHealthy == status.CurrentHealthy && have.Status.ExpectedPods == status.ExpectedPods &&
		have.Status.DisruptionsAllowed == status.DisruptionsAllowed {
		return
	}
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.name}, Status: status}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: w.name}}
	c.budgets.put(w.name, b)
}

// nominate says where a pending pod is expected to go.
func (c *cluster) nominate(name, node string) {
	if p, ok := c.pods.get(name); ok && p.pending() && p.Status.NominatedNodeName != node {
		c.edit(p, func(p *pod) { p.Status.NominatedNodeName = node })
	}
}

func (c *cluster) hasNode(name string) bool {
	_, ok := c.nodes.get(name)
	return ok
}

// deleteClaim asks for a NodeClaim to go.
func (c *cluster) deleteClaim(claim *v1.NodeClaim) {
	if claim.DeletionTimestamp != nil {
		return
	}
	now := metav1.NewTime(c.now())
	claim = claim.DeepCopy()
	claim.DeletionTimestamp = &now
	c.claims.put(claim.Name, claim)
}

// podsByNode are the Pods that are bound, by node.
func (c *cluster) podsByNode() map[string][]*corev1.Pod {
	on := map[string][]*corev1.Pod{}
	for _, p := range c.pods.all() {
		if p.Spec.NodeName != "" {
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p.Pod)
		}
	}
	return on
}
