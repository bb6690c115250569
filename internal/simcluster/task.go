package simcluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Task is a pod that is created at an instant and runs for a time.
type Task struct {
	Name string
	At   time.Time
	// Runs is the time from when the pod is ready. A pod that is evicted begins anew.
	Runs time.Duration
	Spec corev1.PodSpec
}

// controlTasks creates the pods that are due, and replaces lost ones.
func (w *Workload) controlTasks(c *Cluster, now time.Time) {
	for ; w.next < len(w.Tasks) && !now.Before(w.Tasks[w.next].At); w.next++ {
		w.open = append(w.open, w.next)
	}
	there := map[int]bool{}
	for _, p := range c.podsOf(w) {
		if p.DeletionTimestamp == nil {
			there[p.task] = true
		}
	}
	for _, i := range w.open {
		if there[i] {
			continue
		}
		task := &w.Tasks[i]
		w.addPod(c, task.Name, task.Spec).task = i
	}
}

// finish takes note that a pod has run to its end.
func (w *Workload) finish(p *Pod) {
	w.finished++
	w.open = slices.DeleteFunc(w.open, func(i int) bool { return i == p.task })
}

// runs returns how long a pod runs once it is ready; 0 means without end.
func (p *Pod) runs() time.Duration {
	if p.Work.Tasks != nil {
		return p.Work.Tasks[p.task].Runs
	}
	return p.Work.Runs
}
