package simcluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	// Namespace is the namespace of all pods except those of the DaemonSet.
	Namespace = "shop"
	// AppLabel is the label that has the name of the workload.
	AppLabel = "app"
	// RevisionLabel is the label that has the number of the template of a pod.
	RevisionLabel = "revision"

	gracePeriod     = 30 * time.Second
	startTime       = 10 * time.Second // of a pod, at least
	startTimeSpread = 15               // seconds
	stopTime        = 8 * time.Second
)

// Workload is a Deployment with an autoscaler of its own, or a Job.
type Workload struct {
	Name     string
	Replicas func(at time.Time) int // how many pods there should be
	Every    time.Duration          // how often that is asked
	Runs     time.Duration          // how long each pod of a Job runs; 0 for a Deployment
	Template corev1.PodSpec
	// Annotations are the annotations of the pods.
	Annotations map[string]string
	// MaxUnavailable is that of the workload's PodDisruptionBudget; 0 means that it has none. A
	// percentage is of the pods that are wanted, rounded up.
	MaxUnavailable intstr.IntOrString

	// Tasks are pods that run once each, in the order of At. With them Replicas and Template are not read.
	Tasks []Task

	next int   // index of the first of Tasks that has not come yet
	open []int // indexes of the pods that were created and have not finished

	revision int // counts changes of the template
	want     int // replicas at the last look
	numbers  int // of pods made
	looked   time.Time

	started, finished int // pods of a Job in this burst
}

// Deployment returns a Deployment whose pods have the given requests. replicas returns the number
// of pods at a time.
func Deployment(name, requests string, replicas func(time.Time) int) *Workload {
	return &Workload{Name: name, Every: 5 * time.Minute, Replicas: replicas, Template: PodSpec(requests)}
}

// PodSpec returns the spec of a pod with one container that has the given requests.
func PodSpec(requests string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse(requests).ResourceList(),
	}}}}
}

// control does what the controllers of workloads do: it makes and ends pods.
func (w *Workload) control(c *Cluster, now time.Time) {
	if w.Tasks != nil {
		w.controlTasks(c, now)
		return
	}
	if w.looked.IsZero() || now.Sub(w.looked) >= w.Every {
		w.looked, w.want = now, w.Replicas(now)
	}
	if w.Runs > 0 {
		w.controlJob(c)
		return
	}
	var old, fresh []*Pod
	ready := 0
	for _, p := range c.podsOf(w) {
		switch {
		case p.DeletionTimestamp != nil:
			continue
		case p.Labels[RevisionLabel] == fmt.Sprint(w.revision):
			fresh = append(fresh, p)
		default:
			old = append(old, p)
		}
		if p.ready() {
			ready++
		}
	}
	// A rolling update with maxSurge 25% and maxUnavailable 0; with nothing old
	// left it is the plain business of keeping a number of pods.
	surge := 0
	if len(old) > 0 {
		surge = (w.want + 3) / 4
	}
	for n := len(old) + len(fresh); n < w.want+surge && len(fresh) < w.want; n++ {
		fresh = append(fresh, w.add(c))
	}
	for _, p := range firstToGo(old, slices.Concat(old, fresh), now) {
		if p.ready() && ready <= w.want {
			continue
		}
		if p.ready() {
			ready--
		}
		c.endPod(p, gracePeriod)
	}
	if len(old) == 0 && len(fresh) > w.want {
		for _, p := range firstToGo(fresh, fresh, now)[:len(fresh)-w.want] {
			c.endPod(p, gracePeriod)
		}
	}
}

// controlJob starts a burst of pods when want rises above zero, and replaces lost ones.
func (w *Workload) controlJob(c *Cluster) {
	if w.want == 0 {
		w.started, w.finished = 0, 0
		return
	}
	running := 0
	for _, p := range c.podsOf(w) {
		if p.DeletionTimestamp == nil {
			running++
		}
	}
	for ; w.finished+running < w.want; running++ {
		w.add(c)
	}
}

// add makes a pod of the template.
func (w *Workload) add(c *Cluster) *Pod { return w.addPod(c, w.Name, w.Template) }

// addPod makes a pod whose name begins with a prefix.
func (w *Workload) addPod(c *Cluster, prefix string, spec corev1.PodSpec) *Pod {
	w.numbers++
	p := &Pod{Work: w, since: c.Now(), Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: Namespace, Name: fmt.Sprintf("%s-%d-%04d", prefix, w.revision, w.numbers), UID: c.UID(),
		Labels:            map[string]string{AppLabel: w.Name, RevisionLabel: fmt.Sprint(w.revision)},
		Annotations:       w.Annotations,
		CreationTimestamp: metav1.NewTime(c.Now()),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet",
			Name: fmt.Sprintf("%s-%d", w.Name, w.revision), UID: types.UID(fmt.Sprintf("%s-%d", w.Name, w.revision)), Controller: new(true)}},
	}, Spec: *spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodPending}}}
	for i := range p.Spec.TopologySpreadConstraints {
		p.Spec.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{AppLabel: w.Name}}
	}
	p.Requests, _ = resources.PodRequests(p.Pod) // the sample is sound, a test says
	c.Pods.Put(Key(p.Pod), p)
	return p
}

// Deploy changes what the pods request, and with it the revision.
func (w *Workload) Deploy(requests string) {
	w.Template = *w.Template.DeepCopy()
	w.Template.Containers[0].Resources.Requests = resources.MustParse(requests).ResourceList()
	w.revision++
}

// Redeploy replaces all pods by new ones that request the same.
func (w *Workload) Redeploy() { w.revision++ }
