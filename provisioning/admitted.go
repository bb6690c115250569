package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Admitted returns a copy of pod with the fields that the API server fills in when the pod is
// created, as far as scheduling reads them. Call it for each pod made from a template, such as that
// of a DaemonSet, because the API server completes only pods. A pod that is complete already is
// unchanged.
//
//   - A container with a limit but no request for a resource requests the limit.
//   - So does spec.resources, for hugepages and for other resources that no container requests.
//   - With spec.hostNetwork each port of a container or init container without a hostPort has
//     its containerPort as hostPort.
//   - The RuntimeClass that spec.runtimeClassName names, if it is among classes, adds its
//     overhead, its node selector and its tolerations.
//
// LimitRanges, PriorityClasses and webhooks are not consulted.
//
// The error joins an InputError for each reason why the API server would refuse the pod: the pod
// and its RuntimeClass have different values for one key of the node selector, or different
// overheads. The pod returned with an error lacks what the RuntimeClass adds. A nil pod gives nil.
func Admitted(pod *corev1.Pod, classes ...*nodev1.RuntimeClass) (*corev1.Pod, error) {
	if pod == nil {
		return nil, nil
	}
	pod = pod.DeepCopy()
	requested := map[corev1.ResourceName]bool{} // by a container
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			requestLimits(&c.Resources, func(corev1.ResourceName) bool { return true })
			for name := range c.Resources.Requests {
				requested[name] = true
			}
			for k := range c.Ports {
				if port := &c.Ports[k]; pod.Spec.HostNetwork && port.HostPort == 0 {
					port.HostPort = port.ContainerPort
				}
			}
		}
	}
	if r := pod.Spec.Resources; r != nil {
		requestLimits(r, func(name corev1.ResourceName) bool {
			return !requested[name] || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		})
	}
	return pod, runtimeOf(pod, classes)
}

// requestLimits adds a request for each limit without one, for the resources for which may returns
// true.
func requestLimits(r *corev1.ResourceRequirements, may func(corev1.ResourceName) bool) {
	for name, limit := range r.Limits {
		if _, found := r.Requests[name]; found || !may(name) {
			continue
		}
		if r.Requests == nil {
			r.Requests = make(corev1.ResourceList, len(r.Limits))
		}
		r.Requests[name] = limit.DeepCopy()
	}
}

// runtimeOf adds to a pod what its RuntimeClass specifies. It adds nothing if the two contradict
// each other, and returns that as an error.
func runtimeOf(pod *corev1.Pod, classes []*nodev1.RuntimeClass) error {
	spec := &pod.Spec
	i := slices.IndexFunc(classes, func(c *nodev1.RuntimeClass) bool {
		return c != nil && spec.RuntimeClassName != nil && c.Name == *spec.RuntimeClassName
	})
	if i < 0 {
		return nil
	}
	class := classes[i]
	var f model.Faults
	var scheduling nodev1.Scheduling
	if class.Scheduling != nil {
		scheduling = *class.Scheduling
	}
	for _, key := range slices.Sorted(maps.Keys(scheduling.NodeSelector)) {
		want := scheduling.NodeSelector[key]
		if has, ok := spec.NodeSelector[key]; ok && has != want {
			f.Add(model.PodObject(pod), fmt.Sprintf("spec.nodeSelector[%s]", key), "is %q, and RuntimeClass %s wants %q; remove one of the two", has, class.Name, want)
		}
	}
	if class.Overhead != nil && spec.Overhead != nil && !equality.Semantic.DeepEqual(spec.Overhead, class.Overhead.PodFixed) {
		f.Add(model.PodObject(pod), "spec.overhead", "differs from that of RuntimeClass %s; remove it from the pod", class.Name)
	}
	if err := f.Err(); err != nil {
		return inputErrors(err)
	}
	if class.Overhead != nil {
		spec.Overhead = class.Overhead.DeepCopy().PodFixed
	}
	if len(scheduling.NodeSelector) > 0 && spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	maps.Copy(spec.NodeSelector, scheduling.NodeSelector)
	for _, t := range scheduling.DeepCopy().Tolerations {
		if !slices.ContainsFunc(spec.Tolerations, func(has corev1.Toleration) bool { return equality.Semantic.DeepEqual(has, t) }) {
			spec.Tolerations = append(spec.Tolerations, t)
		}
	}
	return nil
}
