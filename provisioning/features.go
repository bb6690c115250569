package provisioning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// unsupported names the first feature of a pod that the engine does not model,
// "" if there is none. Such a pod is left unplaced and told so: placed without
// regard to the feature it might land where kube-scheduler refuses it.
func unsupported(pod *corev1.Pod) string {
	spec := &pod.Spec
	switch {
	case len(spec.TopologySpreadConstraints) > 0:
		return "spec.topologySpreadConstraints"
	case spec.Affinity != nil && spec.Affinity.PodAffinity != nil:
		return "spec.affinity.podAffinity"
	case spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil:
		return "spec.affinity.podAntiAffinity"
	case hasNodePreference(spec):
		return "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	case hasHostPort(spec.Containers) || hasHostPort(spec.InitContainers):
		return "containers[].ports[].hostPort"
	case slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil }):
		return "spec.volumes[].persistentVolumeClaim"
	case slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }):
		return "spec.volumes[].ephemeral"
	case len(spec.ResourceClaims) > 0:
		return "spec.resourceClaims"
	case len(spec.SchedulingGates) > 0:
		return "spec.schedulingGates"
	}
	return ""
}

func hasNodePreference(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && spec.Affinity.NodeAffinity != nil &&
		len(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
}

func hasHostPort(containers []corev1.Container) bool {
	for i := range containers {
		for _, p := range containers[i].Ports {
			if p.HostPort > 0 {
				return true
			}
		}
	}
	return false
}

// repelled is a required anti-affinity term of a bound pod. It keeps the pods
// it selects away from the domain of that pod, which the engine does not
// model.
type repelled struct {
	by         string
	namespaces map[string]bool // nil: any
	selector   labels.Selector
}

// repellers lists the required anti-affinity terms of all bound pods whose
// node has the label in question; without it a term keeps nobody away.
func repellers(nodes []Node) []repelled {
	var out []repelled
	for i := range nodes {
		labels := nodes[i].labels()
		for _, pod := range nodes[i].Pods {
			if pod == nil || finished(pod) || pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
				continue
			}
			for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				if _, ok := labels[term.TopologyKey]; ok {
					out = append(out, repelledBy(pod, &term))
				}
			}
		}
	}
	return out
}

func repelledBy(pod *corev1.Pod, term *corev1.PodAffinityTerm) repelled {
	r := repelled{by: pod.Namespace + "/" + pod.Name, selector: labels.Nothing()}
	// A selector that cannot be read is taken to select everything: to refuse a
	// pod is safe, to place it is not.
	if selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector); err != nil {
		r.selector = labels.Everything()
	} else {
		r.selector = selector
	}
	if term.NamespaceSelector != nil {
		return r
	}
	r.namespaces = map[string]bool{}
	for _, ns := range term.Namespaces {
		r.namespaces[ns] = true
	}
	if len(term.Namespaces) == 0 {
		r.namespaces[pod.Namespace] = true
	}
	return r
}

func (r *repelled) selects(pod *corev1.Pod) bool {
	return (r.namespaces == nil || r.namespaces[pod.Namespace]) && r.selector.Matches(labels.Set(pod.Labels))
}

// finished says whether a pod has run its course and takes no room.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
