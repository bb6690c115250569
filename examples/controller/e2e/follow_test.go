package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// follower keeps count of what becomes of pods. It watches them, because a pod may end between two
// looks. It is safe for concurrent use.
type follower struct {
	mu    sync.Mutex
	pods  map[types.UID]time.Time // when a pod came
	bound map[types.UID]wait
	ended map[types.UID]string // pods that somebody ended before their time, and the reason
}

// wait is the time until a pod that came is bound.
type wait struct {
	pod, node string
	from      time.Time
	took      time.Duration
}

// follow watches the pods of namespace default that come from now on, and the ends of all.
func (s *scene) follow() (_ *follower, stop func()) {
	s.Helper()
	f := &follower{pods: map[types.UID]time.Time{}, bound: map[types.UID]wait{}, ended: map[types.UID]string{}}
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(s.admin), 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, initial bool) { f.see(o.(*corev1.Pod), initial) },
		UpdateFunc: func(_, o any) { f.see(o.(*corev1.Pod), false) },
		DeleteFunc: func(o any) {
			if pod, ok := o.(*corev1.Pod); ok {
				f.see(pod, false)
			}
		},
	})
	s.must(err)
	done := make(chan struct{})
	factory.Start(done)
	factory.WaitForCacheSync(done)
	return f, func() { close(done); factory.Shutdown() }
}

// see takes in a state of a pod. Initial pods were there before.
func (f *follower) see(pod *corev1.Pod, initial bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if _, ok := f.pods[pod.UID]; !ok && !initial {
		f.pods[pod.UID] = now
	}
	if came, ok := f.pods[pod.UID]; ok && pod.Spec.NodeName != "" {
		if _, ok := f.bound[pod.UID]; !ok {
			f.bound[pod.UID] = wait{pod.Name, pod.Spec.NodeName, came, now.Sub(came)}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			f.ended[pod.UID] = c.Reason
		}
	}
}

// figures returns how many pods were evicted and preempted, and how long the pods that came waited
// until they were bound: the median and the 99th percentile. A pod that was deleted before counts
// nowhere.
func (f *follower) figures() (evicted, preempted int, median, slowest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, reason := range f.ended {
		switch reason {
		case "EvictionByEvictionAPI":
			evicted++
		case corev1.PodReasonPreemptionByScheduler:
			preempted++
		}
	}
	waits := f.waits()
	if n := len(waits); n > 0 {
		median, slowest = waits[n/2].took, waits[(n*99)/100].took
	}
	return evicted, preempted, median, slowest
}

// waits lists the waits, the shortest first.
func (f *follower) waits() []wait {
	return slices.SortedFunc(maps.Values(f.bound), func(a, b wait) int { return cmp.Compare(a.took, b.took) })
}

// longest lists the hundredth of the pods that waited longest, with the seconds from since to the
// beginning of each wait.
func (f *follower) longest(since time.Time) (text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	waits := f.waits()
	for _, w := range slices.Backward(waits[(len(waits)*99)/100:]) {
		text += fmt.Sprintf("%s waited %.0f s from %.0f s on, for %s\n", w.pod, w.took.Seconds(), w.from.Sub(since).Seconds(), w.node)
	}
	return text
}
