package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// withBuffers adds the pods that buffers stand for, and says which they are.
func withBuffers(pods []*corev1.Pod, buffers []Buffer) ([]*corev1.Pod, map[*corev1.Pod]bool) {
	headroom := map[*corev1.Pod]bool{}
	if len(buffers) == 0 {
		return pods, headroom
	}
	pods = slices.Clone(pods)
	for _, b := range buffers {
		for _, pod := range b.Pods() {
			pods = append(pods, pod)
			headroom[pod] = true
		}
	}
	return pods, headroom
}

// bufferStatus says how each buffer fares, and takes its pods off the list of
// those without a place.
func (a *assembler) bufferStatus(plan *Plan) {
	index := map[[2]string]int{}
	for _, b := range a.p.buffers {
		index[[2]string{b.Namespace, b.Name}] = len(plan.Buffers)
		plan.Buffers = append(plan.Buffers, BufferStatus{Namespace: b.Namespace, Name: b.Name})
	}
	if len(index) == 0 {
		return
	}
	of := func(pod *corev1.Pod) *BufferStatus {
		if !a.p.headroom[pod] {
			return nil // whatever its annotations say
		}
		namespace, name, _ := BufferOf(pod)
		return &plan.Buffers[index[[2]string{namespace, name}]]
	}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			if s := of(pod); s != nil {
				s.Existing++
			}
		}
	}
	for i := range plan.Create {
		for _, pod := range plan.Create[i].Pods {
			if s := of(pod); s != nil {
				s.Fresh++
			}
		}
	}
	plan.Unplaced = slices.DeleteFunc(plan.Unplaced, func(u Unplaced) bool {
		s := of(u.Pod)
		if s == nil {
			return false
		}
		s.Unplaced++
		if s.Reason == nil {
			s.Reason = u.Reason
		}
		return true
	})
}
