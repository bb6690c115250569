package state

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// reportRepeated reports pods, by namespace and name, that are listed twice in Pods, or twice on nodes. A pod
// in Pods may be on a node, too: its own, which it is to leave, or one that was promised to it. Pods
// on their way out do not count, as their successor may be listed: the pod is being deleted, or its node
// is. Pods that have finished do not count either.
func (f *Cluster) reportRepeated(faults *Faults) {
	counts := func(pod *corev1.Pod) bool { return pod != nil && pod.Name != "" && !podlife.Finished(pod) }
	pending := map[types.NamespacedName]bool{}
	for _, pod := range f.In.Pods {
		if !counts(pod) {
			continue
		}
		if pending[NameOf(pod)] {
			faults.Add(PodObject(pod), "", "is listed twice in Pods; list each pod once")
		}
		pending[NameOf(pod)] = true
	}
	first := map[types.NamespacedName]string{} // the list where a pod was found
	for _, m := range f.Nodes {
		for i, pods := range [][]*corev1.Pod{m.Node.Pods, m.Node.Ending} {
			list := "Node." + [...]string{"Pods", "Ending"}[i] + " of " + nodeObject(m.Node)
			for _, pod := range pods {
				if m.Leaving || !counts(pod) || pod.DeletionTimestamp != nil {
					continue
				}
				switch other := first[NameOf(pod)]; other {
				case "":
					first[NameOf(pod)] = list
				case list:
					faults.Add(PodObject(pod), "", "is listed twice in %s; list each pod once", list)
				default:
					faults.Add(PodObject(pod), "", "is listed in %s and in %s; list it once, under the node that it is bound to", other, list)
				}
			}
		}
	}
}
