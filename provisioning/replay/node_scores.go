package replay

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// smallContainer is what the scorer takes a container for that requests nothing.
func smallContainer() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(100, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(200<<20, resource.BinarySI),
	}
}

// leastAllocated likes nodes on which much is free with the pod there: the mean of the
// free shares of CPU and memory.
func (s *scheduler) leastAllocated(pod *corev1.Pod, feasible []int) []int64 {
	_, assumed := requestsOf(pod)
	out := make([]int64, len(feasible))
	for k, i := range feasible {
		n, sum, counted := s.nodes[i], int64(0), int64(0)
		for d, have := range n.allocatable {
			if have == 0 {
				continue
			}
			counted++
			if used := n.assumed[d] + assumed[d]; used <= have {
				sum += (have - used) * maxScore / have
			}
		}
		if counted > 0 {
			out[k] = sum / counted
		}
	}
	return out
}

// balancedAllocation likes nodes on which the pod brings the used shares of CPU and
// memory closer together. It has nothing to say of a pod that requests neither.
func (s *scheduler) balancedAllocation(pod *corev1.Pod, feasible []int) []int64 {
	asked, _ := requestsOf(pod)
	if asked == [2]int64{} {
		return nil
	}
	out := make([]int64, len(feasible))
	for k, i := range feasible {
		n := s.nodes[i]
		with := [2]int64{n.requested[0] + asked[0], n.requested[1] + asked[1]}
		out[k] = maxScore/2 + (maxScore/2+balance(with, n.allocatable)-balance(n.requested, n.allocatable))/2
	}
	return out
}

// balance is maxScore where the used shares are equal, and half of it where one is all and
// the other nothing.
func balance(used, allocatable [2]int64) int64 {
	if allocatable[0] == 0 || allocatable[1] == 0 {
		return maxScore
	}
	share := func(d int) float64 { return min(float64(used[d])/float64(allocatable[d]), 1) }
	return int64((1 - math.Abs(share(0)-share(1))/2) * maxScore)
}

// nodeAffinity likes nodes that the pod prefers by their labels.
func (s *scheduler) nodeAffinity(pod *corev1.Pod, feasible []int) []int64 {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil // kube-scheduler gives up on the pod; the API server refuses it before
	}
	out := make([]int64, len(feasible))
	for k, i := range feasible {
		out[k] = terms.Score(s.nodes[i].node)
	}
	return normalize(out, false)
}

// taints likes nodes with few taints PreferNoSchedule that the pod does not tolerate.
func (s *scheduler) taints(pod *corev1.Pod, feasible []int) []int64 {
	var tolerations []corev1.Toleration
	for _, t := range pod.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			tolerations = append(tolerations, t)
		}
	}
	out := make([]int64, len(feasible))
	for k, i := range feasible {
		taints := s.nodes[i].node.Spec.Taints
		for t := range taints {
			if taints[t].Effect == corev1.TaintEffectPreferNoSchedule &&
				!schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, tolerations, &taints[t], true) {
				out[k]++
			}
		}
	}
	return normalize(out, true)
}
