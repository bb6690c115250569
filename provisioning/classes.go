package provisioning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// class is a group of pods that are identical to the engine.
type class struct {
	// pods are indices into Problem.pods, ascending; the first stands for all.
	pods []int32

	requests     resources.List
	alternatives []requirements.Alternative // any one of which will do
	tolerations  []corev1.Toleration

	// unsupported names a feature that keeps the whole class unplaced.
	unsupported string
}

// sortedPods returns the pods by namespace and name, and reports those that
// are missing, nameless, listed twice or bound.
func sortedPods(pods []*corev1.Pod, list string, f *faults) []*corev1.Pod {
	sorted := make([]*corev1.Pod, 0, len(pods))
	for i, pod := range pods {
		switch {
		case pod == nil:
			f.add(fmt.Sprintf("%s[%d]", list, i), "", "is nil; leave it out")
		case pod.Name == "":
			f.add(fmt.Sprintf("%s[%d]", list, i), "metadata.name", "is empty; pods are told apart by namespace and name")
		default:
			sorted = append(sorted, pod)
		}
	}
	slices.SortStableFunc(sorted, comparePods)
	return slices.CompactFunc(sorted, func(a, b *corev1.Pod) bool {
		if comparePods(a, b) != 0 {
			return false
		}
		f.add(podObject(b), "", "is listed twice in %s; list each pod once", list)
		return true
	})
}

func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func podObject(pod *corev1.Pod) string {
	return fmt.Sprintf("Pod %q", pod.Namespace+"/"+pod.Name)
}

// classify groups sorted pods into classes, in the order of their first pods.
// It costs O(pods) hash look-ups; what a class means is worked out once.
func classify(pods []*corev1.Pod, repelled []repelled, v *requirements.Vocabulary, f *faults) []class {
	var key podKey
	var classes []class
	index := map[string]int32{}
	of := make([]int32, len(pods))
	var sizes []int32
	for i, pod := range pods {
		if pod.Spec.NodeName != "" {
			f.add(podObject(pod), "spec.nodeName", "is %q; a bound pod belongs in Node.Pods, not among the pods to place", pod.Spec.NodeName)
		}
		id, fresh := int32(len(classes)), true
		feature := refused(pod, repelled)
		if feature != "" {
			id, fresh = intern(index, append(append(key.buf[:0], '!'), feature...), id)
		} else {
			id, fresh = intern(index, key.scheduling(pod), id)
		}
		if fresh {
			classes = append(classes, newClass(pod, feature, v, f))
			sizes = append(sizes, 0)
		}
		of[i] = id
		sizes[id]++
	}
	members := make([]int32, len(pods))
	for c := range classes {
		classes[c].pods, members = members[:0:sizes[c]], members[sizes[c]:]
	}
	for i, c := range of {
		classes[c].pods = append(classes[c].pods, int32(i))
	}
	return classes
}

// intern returns the number of a key, and whether it is new and got the next.
func intern(index map[string]int32, key []byte, next int32) (int32, bool) {
	if id, ok := index[string(key)]; ok {
		return id, false
	}
	index[string(key)] = next
	return next, true
}

// refused names what keeps a pod from being placed by this engine at all.
func refused(pod *corev1.Pod, repelled []repelled) string {
	if feature := unsupported(pod); feature != "" {
		return feature
	}
	for i := range repelled {
		if repelled[i].selects(pod) {
			return fmt.Sprintf("the required anti-affinity of bound pod %s, which selects it", repelled[i].by)
		}
	}
	return ""
}

func newClass(pod *corev1.Pod, feature string, v *requirements.Vocabulary, f *faults) class {
	c := class{unsupported: feature, tolerations: pod.Spec.Tolerations}
	var err error
	if c.requests, err = resources.PodRequests(pod); err != nil {
		f.split(podObject(pod), err)
	}
	if feature != "" {
		return c
	}
	asked, err := requirements.FromPod(pod, v)
	if err != nil {
		f.split(podObject(pod), err)
	}
	c.alternatives = asked.Alternatives
	return c
}
