package manifest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// admit completes a pod of an object as the API server does when the pod is created. If the API
// server would refuse the pod, notes say why, and the result is false. A pod with a UID was
// admitted already, with the RuntimeClass of that time.
func (r *reader) admit(o *Object, prefix string, pod *corev1.Pod) bool {
	var classes []*nodev1.RuntimeClass
	if pod.UID == "" {
		classes = values[*nodev1.RuntimeClass](r.found)
	}
	done, err := provisioning.Admitted(pod, classes...)
	for _, f := range provisioning.Faults(err) {
		r.note("%s: no pod is planned for, because the API server would refuse it: %s%s %s", o, prefix, f.Field, f.Detail)
	}
	*pod = *done
	return err == nil
}

// note adds a remark on the input.
func (r *reader) note(format string, args ...any) {
	r.cluster.Notes = append(r.cluster.Notes, fmt.Sprintf(format, args...))
}

// noteRuntimes adds a note on pods whose overhead is unknown.
func (r *reader) noteRuntimes() {
	missing := map[string]int{}
	look := func(spec *corev1.PodSpec, pods int) {
		if name := spec.RuntimeClassName; name != nil && r.seen[id("RuntimeClass", "", *name)] == nil {
			missing[*name] += pods
		}
	}
	for _, pod := range slices.Concat(r.cluster.Pods, r.cluster.DaemonSetPods) {
		if pod.UID == "" {
			look(&pod.Spec, 1)
		}
	}
	for i := range r.cluster.Buffers {
		look(&r.cluster.Buffers[i].Template.Spec, r.cluster.Buffers[i].Replicas)
	}
	for _, name := range sortedKeys(missing) {
		r.note("RuntimeClass %s is not in the input; the overhead, node selector and tolerations that it adds to its pods (%d) are missing", name, missing[name])
	}
}

// prioritize gives pods the priority of their class, as the API server does when it admits them. A
// pod that already has a priority keeps it, because the class may have changed since.
func (r *reader) prioritize() {
	known := map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
	var standard *schedulingv1.PriorityClass
	for _, class := range values[*schedulingv1.PriorityClass](r.found) {
		known[class.Name] = class.Value
		// Of several defaults the API server takes the lowest.
		if class.GlobalDefault && (standard == nil || class.Value < standard.Value) {
			standard = class
		}
	}
	missing := map[string]int{}
	pods := slices.Concat(r.cluster.Pods, r.cluster.DaemonSetPods)
	for _, n := range r.cluster.Nodes {
		pods = append(pods, n.Pods...)
	}
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
	for _, name := range sortedKeys(missing) {
		r.note("PriorityClass %s is not in the input; its pods (%d) count as of priority 0", name, missing[name])
	}
}
