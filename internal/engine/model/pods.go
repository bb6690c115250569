package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PriorityOf returns the priority of a pod, 0 if it has none.
func PriorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// SortedPods returns the pods sorted by namespace and name, without those at fault. It reports pods
// that are nil, nameless, listed twice or bound.
func SortedPods(pods []*corev1.Pod, list string, f *Faults) []*corev1.Pod {
	sorted := make([]*corev1.Pod, 0, len(pods))
	for i, pod := range pods {
		switch {
		case pod == nil:
			f.Add(fmt.Sprintf("%s[%d]", list, i), "", "is nil; leave it out")
		case pod.Name == "":
			f.Add(fmt.Sprintf("%s[%d]", list, i), "metadata.name", "is empty; pods are told apart by namespace and name")
		default:
			sorted = append(sorted, pod)
		}
	}
	slices.SortStableFunc(sorted, ComparePods)
	return slices.CompactFunc(sorted, func(a, b *corev1.Pod) bool {
		if ComparePods(a, b) != 0 {
			return false
		}
		f.Add(PodObject(b), "", "is listed twice in %s; list each pod once", list)
		return true
	})
}

// ComparePods orders pods by namespace and name.
func ComparePods(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// PodObject returns the name that faults give a pod.
func PodObject(pod *corev1.Pod) string {
	return fmt.Sprintf("Pod %q", pod.Namespace+"/"+pod.Name)
}

// Intern returns the number of a key in an index. If the key is new, it adds the key with the
// number next and returns true.
func Intern(index map[string]int32, key []byte, next int32) (int32, bool) {
	if id, ok := index[string(key)]; ok {
		return id, false
	}
	index[string(key)] = next
	return next, true
}

// NewHostname is the hostname value of a node that does not exist yet. No label can have this
// value, so In never admits it and NotIn always does.
const NewHostname = "\x00a new node"
