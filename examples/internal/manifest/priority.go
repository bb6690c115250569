package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// The priorities of the classes that exist in every cluster.
const (
	priorityOfCluster = 2_000_000_000 // system-cluster-critical
	priorityOfNode    = 2_000_001_000 // system-node-critical
)

// prioritize gives pods the priority of their class, as the API server does when it admits them. A
// pod that already has a priority keeps it, because the class may have changed since.
func (r *reader) prioritize() {
	known := map[string]int32{"system-cluster-critical": priorityOfCluster, "system-node-critical": priorityOfNode}
	var standard *schedulingv1.PriorityClass
	for _, class := range byName(listed[*schedulingv1.PriorityClass](r.found)) {
		known[class.name] = class.value.Value
		// Of several defaults the API server takes the lowest.
		if class.value.GlobalDefault && (standard == nil || class.value.Value < standard.Value) {
			standard = class.value
		}
	}
	missing := map[string]int{}
	each := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			name := pod.Spec.PriorityClassName
			value, ok := known[name]
			switch {
			case pod.Spec.Priority != nil:
			case ok:
				pod.Spec.Priority = &value
			case name != "":
				missing[name]++
			case standard != nil:
				pod.Spec.Priority = &standard.Value
			}
		}
	}
	c := r.cluster
	each(c.Pods)
	each(c.DaemonSetPods)
	for i := range c.Nodes {
		each(c.Nodes[i].Pods)
	}
	for _, name := range sortedKeys(missing) {
		c.Notes = append(c.Notes, fmt.Sprintf("PriorityClass %s is not in the input; its pods (%d) count as of priority 0", name, missing[name]))
	}
}
