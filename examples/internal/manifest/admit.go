package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// admit completes a pod of an object as the API server does when the pod is created. If the API
// server would refuse the pod, notes say why, and the result is false. A pod with a UID was
// admitted already, with the RuntimeClass of that time.
func (r *reader) admit(o *object, prefix string, pod *corev1.Pod) bool {
	var classes []*nodev1.RuntimeClass
	if pod.UID == "" {
		classes = values[*nodev1.RuntimeClass](r.found)
	}
	done, err := provisioning.Admitted(pod, classes...)
	for _, f := range provisioning.Faults(err) {
		r.cluster.Notes = append(r.cluster.Notes,
			fmt.Sprintf("%s: no pod is planned for, because the API server would refuse it: %s%s %s", o, prefix, f.Field, f.Detail))
	}
	*pod = *done
	return err == nil
}

// noteRuntimes adds a note on pods whose overhead is unknown.
func (r *reader) noteRuntimes() {
	known, missing := map[string]bool{}, map[string]int{}
	for _, class := range listed[*nodev1.RuntimeClass](r.found) {
		known[class.name] = true
	}
	look := func(spec *corev1.PodSpec, pods int) {
		if name := spec.RuntimeClassName; name != nil && !known[*name] {
			missing[*name] += pods
		}
	}
	for _, pods := range [][]*corev1.Pod{r.cluster.Pods, r.cluster.DaemonSetPods} {
		for _, pod := range pods {
			if pod.UID == "" {
				look(&pod.Spec, 1)
			}
		}
	}
	for i := range r.cluster.Buffers {
		look(&r.cluster.Buffers[i].Template.Spec, r.cluster.Buffers[i].Replicas)
	}
	for _, name := range sortedKeys(missing) {
		r.cluster.Notes = append(r.cluster.Notes,
			fmt.Sprintf("RuntimeClass %s is not in the input; the overhead, node selector and tolerations that it adds to its pods (%d) are missing", name, missing[name]))
	}
}
