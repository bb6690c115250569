package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	namespace = "shop"
	appLabel  = "app"

	gracePeriod     = 30 * time.Second
	startTime       = 10 * time.Second // of a pod, at least
	startTimeSpread = 15               // seconds
	stopTime        = 8 * time.Second
)

// workload is a Deployment with an autoscaler of its own, or a Job.
type workload struct {
	name     string
	replicas func(at time.Time) int // how many pods there should be
	every    time.Duration          // how often that is asked
	runs     time.Duration          // how long each pod of a Job runs; 0 for a Deployment
	template corev1.PodSpec
	// annotations are those of the pods.
	annotations map[string]string
	// maxUnavailable is that of a PodDisruptionBudget; 0 is none.
	maxUnavailable int

	revision int // counts changes of the template
	want     int // replicas at the last look
	numbers  int // of pods made
	looked   time.Time

	started, finished int // pods of a Job in this burst
}

// control does what the controllers of workloads do: it makes and ends pods.
func (w *workload) control(c *cluster, now time.Time) {
	if w.looked.IsZero() || now.Sub(w.looked) >= w.every {
		w.looked, w.want = now, w.replicas(now)
	}
	if w.runs > 0 {
		w.controlJob(c)
		return
	}
	var old, fresh []*pod
	ready := 0
	for _, p := range c.pods.all() {
		switch {
		case p.work != w || p.DeletionTimestamp != nil:
			continue
		case p.Labels["revision"] == fmt.Sprint(w.revision):
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
	for _, p := range firstToGo(old) {
		if p.ready() && ready <= w.want {
			continue
		}
		if p.ready() {
			ready--
		}
		c.endPod(p, gracePeriod)
	}
	if len(old) == 0 && len(fresh) > w.want {
		for _, p := range firstToGo(fresh)[:len(fresh)-w.want] {
			c.endPod(p, gracePeriod)
		}
	}
}

// firstToGo is the order in which a ReplicaSet gives up pods: pending ones, those
// that are not ready, then the youngest.
func firstToGo(pods []*pod) []*pod {
	rank := func(p *pod) int {
		switch {
		case p.pending():
			return 0
		case !p.ready():
			return 1
		}
		return 2
	}
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b *pod) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return b.since.Compare(a.since)
	})
	return pods
}

// controlJob starts a burst of pods when want rises above zero, and makes up for
// those that were lost.
func (w *workload) controlJob(c *cluster) {
	if w.want == 0 {
		w.started, w.finished = 0, 0
		return
	}
	running := 0
	for _, p := range c.pods.all() {
		if p.work == w && p.DeletionTimestamp == nil {
			running++
		}
	}
	for ; w.finished+running < w.want; running++ {
		w.add(c)
	}
}

// add makes a pod.
func (w *workload) add(c *cluster) *pod {
	w.numbers++
	p := &pod{work: w, since: c.now(), Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: fmt.Sprintf("%s-%d-%04d", w.name, w.revision, w.numbers), UID: c.uid(),
		Labels:            map[string]string{appLabel: w.name, "revision": fmt.Sprint(w.revision)},
		Annotations:       w.annotations,
		CreationTimestamp: metav1.NewTime(c.now()),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet",
			Name: fmt.Sprintf("%s-%d", w.name, w.revision), Controller: new(true)}},
	}, Spec: *w.template.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodPending}}}
	for i := range p.Spec.TopologySpreadConstraints {
		p.Spec.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: w.name}}
	}
	p.requests, _ = resources.PodRequests(p.Pod) // the sample is sound, a test says
	c.pods.put(key(p.Pod), p)
	return p
}

// deploy changes what the pods request, and with it the revision.
func (w *workload) deploy(requests string) {
	w.template = *w.template.DeepCopy()
	w.template.Containers[0].Resources.Requests = resources.MustParse(requests).ResourceList()
	w.revision++
}
