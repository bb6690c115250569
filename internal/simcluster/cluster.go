package simcluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cluster simulates the part of Kubernetes that an autoscaler sees: the objects, and the changes
// that kubelets, kube-scheduler and the controllers of workloads make to them while time passes.
// The autoscaler only reads and writes objects here.
type Cluster struct {
	Cloud     *fake.Cloud
	workloads []*Workload
	Daemon    *appsv1.DaemonSet

	// Scheduler binds pending pods, by Bind. New sets a scheduler that supports the constraints of
	// the pods of examples/autoscaler only, and fills the fullest node first.
	Scheduler func(*Cluster)

	Claims  Table[*v1.NodeClaim]
	Nodes   Table[*corev1.Node]
	Pods    Table[*Pod] // by namespace/name
	Budgets Table[*policyv1.PodDisruptionBudget]

	byWork    map[*Workload][]*Pod    // the pods of each workload, in the order of names
	byWorkAt  int                     // Pods.writes when byWork was made
	seen      map[string]*corev1.Node // by name: the Node as the cloud had it last
	scheduled int                     // Changes() after the last run of the scheduler; -1 before the first
	numbers   int                     // the last number in a generated UID or name
	Evicted   int                     // pods so far
	Lost      int                     // pods that went with their machine so far
	Waits     []time.Duration         // from creation to binding, of each bound pod; unsorted
}

// New returns a cluster on a cloud without objects. The error names pods whose requests cannot be
// read.
func New(cloud *fake.Cloud, daemon *appsv1.DaemonSet, workloads ...*Workload) (*Cluster, error) {
	for _, w := range workloads {
		if _, err := resources.PodRequests(&corev1.Pod{Spec: w.Template}); err != nil {
			return nil, fmt.Errorf("workload %s: %w", w.Name, err)
		}
		for i := range w.Tasks {
			if _, err := resources.PodRequests(&corev1.Pod{Spec: w.Tasks[i].Spec}); err != nil {
				return nil, fmt.Errorf("workload %s: task %s: %w", w.Name, w.Tasks[i].Name, err)
			}
		}
	}
	_, err := resources.PodRequests(&corev1.Pod{Spec: daemon.Spec.Template.Spec})
	return &Cluster{Cloud: cloud, Scheduler: schedule, workloads: workloads, Daemon: daemon, scheduled: -1, seen: map[string]*corev1.Node{}}, err
}

// Pod is a Pod of Kubernetes, and what its kubelet knows about it.
type Pod struct {
	*corev1.Pod
	Requests resources.List
	Work     *Workload // nil for the DaemonSet
	since    time.Time // when it became pending
	readyAt  time.Time // once bound
	goneAt   time.Time // once it is ending
	task     int       // index of Workload.Tasks, if there are any
}

// Key returns the key of a pod in Cluster.Pods.
func Key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// Pending says whether the pod waits for a node.
func (p *Pod) Pending() bool { return p.Spec.NodeName == "" && p.DeletionTimestamp == nil }

func (p *Pod) ready() bool {
	return p.condition(corev1.PodReady) == corev1.ConditionTrue
}

// condition returns the status of a condition, empty if the pod does not have it.
func (p *Pod) condition(kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// setCondition sets a condition of a pod that may be written to.
func (p *Pod) setCondition(now time.Time, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) {
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(now)})
}

// edit replaces a pod by a changed copy.
func (c *Cluster) edit(p *Pod, change func(*Pod)) {
	copied := *p
	copied.Pod = p.DeepCopy()
	change(&copied)
	c.Pods.Put(Key(copied.Pod), &copied)
}

// Find returns the workload of a name.
func (c *Cluster) Find(name string) *Workload {
	i := slices.IndexFunc(c.workloads, func(w *Workload) bool { return w.Name == name })
	return c.workloads[i]
}

// Now returns the time of the cloud.
func (c *Cluster) Now() time.Time { return c.Cloud.Now() }

// Changes returns a number that grows with every change of an object.
func (c *Cluster) Changes() int {
	return c.Claims.writes + c.Nodes.writes + c.Pods.writes + c.Budgets.writes
}

// UID returns a new UID.
func (c *Cluster) UID() types.UID {
	c.numbers++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", c.numbers))
}

// GenerateName returns a name that no object has had, in the form of the API server.
func (c *Cluster) GenerateName(prefix string) string {
	c.numbers++
	return fmt.Sprintf("%s%04d", prefix, c.numbers)
}

// Advance lets time pass. Each controller runs after those whose results it uses, so that effects
// without a delay happen in one call.
func (c *Cluster) Advance(step time.Duration) {
	c.Cloud.Advance(step)
	now := c.Now()
	c.syncNodes()
	for _, p := range c.Pods.All() {
		c.run(p, now)
	}
	for _, w := range c.workloads {
		w.control(c, now)
	}
	if c.Changes() != c.scheduled {
		c.Scheduler(c)
	}
	for _, w := range c.workloads {
		c.setBudget(w)
	}
	c.scheduled = c.Changes()
}

// syncNodes brings the Nodes in line with the cloud's. Kubelets make and report
// on them; what the autoscaler wrote stays.
func (c *Cluster) syncNodes() {
	there := map[string]bool{}
	for _, n := range c.Cloud.Nodes() {
		there[n.Name] = true
		if c.seen[n.Name] == n {
			continue
		}
		c.seen[n.Name] = n
		have, known := c.Nodes.Get(n.Name)
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
		c.Nodes.Put(n.Name, have)
		if !known {
			c.startDaemon(n.Name)
		}
	}
	for _, n := range c.Nodes.All() {
		if !there[n.Name] {
			c.LoseNode(n.Name)
		}
	}
}

// byKubernetes says whether a taint is that of a controller of Kubernetes.
func byKubernetes(t corev1.Taint) bool {
	return strings.HasPrefix(t.Key, "node.kubernetes.io/") || strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/")
}

// startDaemon puts the pod of the DaemonSet on a node.
func (c *Cluster) startDaemon(node string) {
	pod, _ := provisioning.Admitted(&corev1.Pod{ObjectMeta: c.Daemon.Spec.Template.ObjectMeta, Spec: c.Daemon.Spec.Template.Spec})
	p := &Pod{since: c.Now(), Pod: pod}
	p.Namespace, p.Name, p.UID, p.Spec.NodeName = c.Daemon.Namespace, c.Daemon.Name+"-"+node, c.UID(), node
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c.Daemon, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	p.Status.Phase = corev1.PodRunning
	p.Requests, _ = resources.PodRequests(p.Pod) // checked when the world was made
	c.Pods.Put(Key(p.Pod), p)
}

// LoseNode removes a Node whose machine is gone, and the pods that were on it.
func (c *Cluster) LoseNode(name string) {
	if name == "" {
		return // a machine that never joined
	}
	c.Nodes.Remove(name)
	delete(c.seen, name)
	for _, p := range c.Pods.All() {
		if p.Spec.NodeName != name {
			continue
		}
		if p.Work != nil && p.DeletionTimestamp == nil {
			c.Lost++
		}
		c.Pods.Remove(Key(p.Pod))
	}
}

// run simulates a kubelet: pods become ready, finish, and end.
func (c *Cluster) run(p *Pod, now time.Time) {
	switch {
	case !p.goneAt.IsZero() && !now.Before(p.goneAt):
		c.Pods.Remove(Key(p.Pod))
	case p.Spec.NodeName == "" || p.Work == nil || p.DeletionTimestamp != nil:
	case !p.ready() && !now.Before(p.readyAt):
		c.edit(p, func(p *Pod) {
			p.Status.Phase = corev1.PodRunning
			p.setCondition(now, corev1.PodReady, corev1.ConditionTrue, "")
		})
	case p.runs() > 0 && !now.Before(p.readyAt.Add(p.runs())):
		p.Work.finish(p)
		c.Pods.Remove(Key(p.Pod)) // as ttlSecondsAfterFinished: 0 does
	}
}

// endPod asks a pod to end: it does so within its grace period.
func (c *Cluster) endPod(p *Pod, grace time.Duration) {
	if p.DeletionTimestamp != nil {
		return
	}
	now := c.Now()
	if p.Spec.NodeName == "" {
		c.Pods.Remove(Key(p.Pod))
		return
	}
	c.edit(p, func(p *Pod) {
		end := metav1.NewTime(now.Add(grace))
		seconds := int64(grace / time.Second)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, &seconds
		p.goneAt = now.Add(min(grace, stopTime))
		p.setCondition(now, corev1.PodReady, corev1.ConditionFalse, "")
	})
}

// DeletePod deletes a pod, whatever protects it.
func (c *Cluster) DeletePod(namespace, name string, grace time.Duration) {
	if p, ok := c.Pods.Get(namespace + "/" + name); ok {
		if p.Work != nil && p.DeletionTimestamp == nil {
			c.Evicted++
		}
		c.endPod(p, grace)
	}
}

// Evict simulates the eviction API, which observes PodDisruptionBudgets.
func (c *Cluster) Evict(e *policyv1.Eviction) error {
	p, ok := c.Pods.Get(e.Namespace + "/" + e.Name)
	if !ok || p.DeletionTimestamp != nil {
		return nil
	}
	if p.Work != nil {
		// A budget does not protect a pod that has not started.
		if b, ok := c.Budgets.Get(p.Work.Name); ok && p.Status.Phase != corev1.PodPending {
			if b.Status.DisruptionsAllowed < 1 {
				return fmt.Errorf("evict %s: the budget %s lets no pod go now", Key(p.Pod), b.Name)
			}
			b = b.DeepCopy()
			b.Status.DisruptionsAllowed--
			c.Budgets.Put(p.Work.Name, b)
		}
		c.Evicted++
	}
	c.endPod(p, gracePeriod)
	return nil
}

// podsOf returns the pods of a workload. The list is read-only.
func (c *Cluster) podsOf(w *Workload) []*Pod {
	if c.byWork == nil || c.byWorkAt != c.Pods.writes {
		c.byWork, c.byWorkAt = map[*Workload][]*Pod{}, c.Pods.writes
		for _, p := range c.Pods.All() {
			c.byWork[p.Work] = append(c.byWork[p.Work], p)
		}
	}
	return c.byWork[w]
}

// Bind puts a pending pod on a node. Its name decides how long it takes to start.
func (c *Cluster) Bind(p *Pod, node string) {
	now := c.Now()
	c.edit(p, func(p *Pod) {
		p.Spec.NodeName = node
		p.Status.NominatedNodeName = ""
		p.setCondition(now, corev1.PodScheduled, corev1.ConditionTrue, "")
		p.readyAt = now.Add(startTime + time.Duration(Dice(p.Name)%startTimeSpread)*time.Second)
	})
	c.Waits = append(c.Waits, now.Sub(p.since))
}

// NoPlace records that the scheduler found no node for a pending pod.
func (c *Cluster) NoPlace(p *Pod) {
	if p.condition(corev1.PodScheduled) != corev1.ConditionFalse {
		c.edit(p, func(p *Pod) {
			p.setCondition(c.Now(), corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable)
		})
	}
}

// Waiting returns how long each pending pod has waited so far, in the order of names.
func (c *Cluster) Waiting() (waits []time.Duration) {
	now := c.Now()
	for _, p := range c.Pods.All() {
		if p.Pending() {
			waits = append(waits, now.Sub(p.since))
		}
	}
	return waits
}

// setBudget does what the disruption controller of Kubernetes does.
func (c *Cluster) setBudget(w *Workload) {
	most, err := intstr.GetScaledValueFromIntOrPercent(&w.MaxUnavailable, w.want, true)
	if err != nil || w.MaxUnavailable == (intstr.IntOrString{}) {
		return
	}
	healthy := 0
	for _, p := range c.podsOf(w) {
		if p.ready() && p.DeletionTimestamp == nil {
			healthy++
		}
	}
	desired := max(0, w.want-most)
	status := policyv1.PodDisruptionBudgetStatus{CurrentHealthy: int32(healthy), DesiredHealthy: int32(desired),
		ExpectedPods: int32(w.want), DisruptionsAllowed: int32(max(0, healthy-desired))}
	have, ok := c.Budgets.Get(w.Name)
	if ok && have.Status.CurrentHealthy == status.CurrentHealthy && have.Status.ExpectedPods == status.ExpectedPods &&
		have.Status.DisruptionsAllowed == status.DisruptionsAllowed {
		return
	}
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: w.Name}, Status: status}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{AppLabel: w.Name}}
	c.Budgets.Put(w.Name, b)
}

// UpdatePod stores a changed copy of a pod, if the cluster still has the pod.
func (c *Cluster) UpdatePod(pod *corev1.Pod) {
	if p, ok := c.Pods.Get(Key(pod)); ok {
		c.edit(p, func(p *Pod) { p.Pod = pod })
	}
}

// DeleteClaim requests the deletion of a NodeClaim.
func (c *Cluster) DeleteClaim(claim *v1.NodeClaim) {
	if claim.DeletionTimestamp != nil {
		return
	}
	now := metav1.NewTime(c.Now())
	claim = claim.DeepCopy()
	claim.DeletionTimestamp = &now
	c.Claims.Put(claim.Name, claim)
}

// CreateClaim stores a NodeClaim, as the API server does, with the finalizer
// karpenter.sh/termination, which delays its deletion until the autoscaler has ended the machine.
func (c *Cluster) CreateClaim(claim *v1.NodeClaim) {
	claim.UID = c.UID()
	claim.CreationTimestamp = metav1.NewTime(c.Now())
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
	c.Claims.Put(claim.Name, claim)
}

// FinalizeClaim removes the finalizer karpenter.sh/termination from a NodeClaim whose machine is
// gone, and deletes its Node. The claim is deleted if it has no other finalizer.
func (c *Cluster) FinalizeClaim(claim *v1.NodeClaim) {
	c.LoseNode(claim.Status.NodeName)
	claim = claim.DeepCopy()
	claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == v1.TerminationFinalizer })
	c.Claims.Put(claim.Name, claim)
	if len(claim.Finalizers) == 0 {
		c.Claims.Remove(claim.Name)
	}
}

// PodsByNode returns the bound Pods, by node.
func (c *Cluster) PodsByNode() map[string][]*corev1.Pod {
	on := map[string][]*corev1.Pod{}
	for _, p := range c.Pods.All() {
		if p.Spec.NodeName != "" {
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p.Pod)
		}
	}
	return on
}

// Quantile returns a wait that the given percentage of the bound pods did not exceed. Pods that
// were bound in the turn in which they were created did not wait.
func (c *Cluster) Quantile(of int) time.Duration {
	if len(c.Waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.Waits))
	return sorted[min(len(sorted)-1, len(sorted)*of/100)]
}
