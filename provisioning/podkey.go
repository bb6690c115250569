package provisioning

import (
	"cmp"
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// podKey writes what the engine looks at in a pod as bytes, so that pods are
// alike to the engine exactly if their bytes are. Pods come by the ten
// thousand, and comparing bytes is far cheaper than evaluating each.
type podKey struct {
	buf       []byte
	names     []string
	resources []corev1.ResourceName
}

// scheduling returns the key of all that decides where the pod may run. It is
// valid until the next call.
func (k *podKey) scheduling(pod *corev1.Pod) []byte {
	k.buf = k.buf[:0]
	k.requests(pod)
	k.labels(pod.Spec.NodeSelector)
	k.affinity(pod.Spec.Affinity)
	k.number(int64(len(pod.Spec.Tolerations)))
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		k.text(t.Key)
		k.text(string(t.Operator))
		k.text(t.Value)
		k.text(string(t.Effect))
	}
	k.ports(pod)
	k.pointer(pod.Spec.Priority)
	return k.buf
}

// where returns the key of the labels a pod asks of its node. It is valid
// until the next call.
func (k *podKey) where(pod *corev1.Pod) []byte {
	k.buf = k.buf[:0]
	k.labels(pod.Spec.NodeSelector)
	k.affinity(pod.Spec.Affinity)
	return k.buf
}

func (k *podKey) ports(pod *corev1.Pod) {
	ports := hostPorts(pod)
	k.number(int64(len(ports)))
	for _, p := range ports {
		k.number(int64(p.number))
		k.text(string(p.protocol))
		k.text(p.address)
	}
}

// resourcesOnly returns the key of all that decides what the pod requests. It
// is valid until the next call.
func (k *podKey) resourcesOnly(pod *corev1.Pod) []byte {
	k.buf = k.buf[:0]
	k.requests(pod)
	return k.buf
}

func (k *podKey) requests(pod *corev1.Pod) {
	if resized(pod) {
		// The status takes part; such pods are rare, so each is its own kind.
		k.text(pod.Namespace)
		k.text(pod.Name)
	}
	k.containers(pod.Spec.Containers)
	k.containers(pod.Spec.InitContainers)
	k.list(pod.Spec.Overhead)
	if pod.Spec.Resources != nil {
		k.text("pod")
		k.list(pod.Spec.Resources.Requests)
	}
}

// resized says whether the status holds resources that may differ from the
// spec's.
func resized(pod *corev1.Pod) bool {
	if pod.Status.Resources != nil || pod.Status.AllocatedResources != nil {
		return true
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, statusHasResources) ||
		slices.ContainsFunc(pod.Status.InitContainerStatuses, statusHasResources)
}

func statusHasResources(s corev1.ContainerStatus) bool {
	return s.Resources != nil || s.AllocatedResources != nil
}

func (k *podKey) containers(containers []corev1.Container) {
	k.number(int64(len(containers)))
	for i := range containers {
		c := &containers[i]
		k.list(c.Resources.Requests)
		if c.RestartPolicy != nil {
			k.text(string(*c.RestartPolicy))
		} else {
			k.text("")
		}
	}
}

func (k *podKey) list(list corev1.ResourceList) {
	k.resources = k.resources[:0]
	for name := range list {
		k.resources = append(k.resources, name)
	}
	slices.SortFunc(k.resources, func(a, b corev1.ResourceName) int { return cmp.Compare(a, b) })
	k.number(int64(len(k.resources)))
	for _, name := range k.resources {
		k.text(string(name))
		k.quantity(list[name])
	}
}

// quantity writes the exact value. Whole and milli values cover what is met in
// practice; anything else goes by its text.
func (k *podKey) quantity(q resource.Quantity) {
	milli := q.MilliValue()
	const huge = int64(1) << 62
	if milli > -huge && milli < huge && resource.NewMilliQuantity(milli, q.Format).Cmp(q) == 0 {
		k.number(milli)
		return
	}
	k.number(-huge)
	k.text(q.String())
}

func (k *podKey) labels(labels map[string]string) {
	k.names = k.names[:0]
	for name := range labels {
		k.names = append(k.names, name)
	}
	slices.Sort(k.names)
	k.number(int64(len(k.names)))
	for _, name := range k.names {
		k.text(name)
		k.text(labels[name])
	}
}

func (k *podKey) affinity(a *corev1.Affinity) {
	if a == nil || a.NodeAffinity == nil {
		k.number(-1)
		return
	}
	preferred := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	k.number(int64(len(preferred)))
	for i := range preferred {
		k.number(int64(preferred[i].Weight))
		k.selector(preferred[i].Preference.MatchExpressions)
		k.selector(preferred[i].Preference.MatchFields)
	}
	if a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		k.number(-1)
		return
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	k.number(int64(len(terms)))
	for i := range terms {
		k.selector(terms[i].MatchExpressions)
		k.selector(terms[i].MatchFields)
	}
}

func (k *podKey) selector(reqs []corev1.NodeSelectorRequirement) {
	k.number(int64(len(reqs)))
	for i := range reqs {
		k.text(reqs[i].Key)
		k.text(string(reqs[i].Operator))
		k.number(int64(len(reqs[i].Values)))
		for _, v := range reqs[i].Values {
			k.text(v)
		}
	}
}

func (k *podKey) text(s string) {
	k.number(int64(len(s)))
	k.buf = append(k.buf, s...)
}

func (k *podKey) number(n int64) { k.buf = binary.AppendVarint(k.buf, n) }
