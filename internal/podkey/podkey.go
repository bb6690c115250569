package podkey

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// Writer appends to Buf. It is for one goroutine; its zero value is ready.
type Writer struct {
	Buf []byte

	names     []string
	resources []corev1.ResourceName
}

// Requests writes the fields that determine what a pod requests. For a pod with resources in its
// status, which is rare, it also writes the name: such a pod is equal to no other.
func (w *Writer) Requests(pod *corev1.Pod) {
	if Resized(pod) {
		w.Number(1)
		w.Text(pod.Namespace)
		w.Text(pod.Name)
	} else {
		w.Number(0)
	}
	w.containers(pod.Spec.Containers)
	w.containers(pod.Spec.InitContainers)
	w.List(pod.Spec.Overhead)
	if pod.Spec.Resources != nil {
		w.List(pod.Spec.Resources.Requests)
	} else {
		w.Number(-1)
	}
}

// Resized says whether the status of a pod has resources, which may differ from those of the spec.
func Resized(pod *corev1.Pod) bool {
	if pod.Status.Resources != nil || pod.Status.AllocatedResources != nil {
		return true
	}
	return slices.ContainsFunc(pod.Status.ContainerStatuses, statusHasResources) ||
		slices.ContainsFunc(pod.Status.InitContainerStatuses, statusHasResources)
}

func statusHasResources(s corev1.ContainerStatus) bool {
	return s.Resources != nil || s.AllocatedResources != nil
}

func (w *Writer) containers(containers []corev1.Container) {
	w.Count(len(containers))
	for i := range containers {
		c := &containers[i]
		w.List(c.Resources.Requests)
		if c.RestartPolicy != nil {
			w.Text(string(*c.RestartPolicy))
		} else {
			w.Text("")
		}
	}
}

// List writes amounts of resources, whatever their order.
func (w *Writer) List(list corev1.ResourceList) {
	w.resources = w.resources[:0]
	for name := range list { // sorted below
		w.resources = append(w.resources, name)
	}
	slices.Sort(w.resources)
	w.Count(len(w.resources))
	for _, name := range w.resources {
		w.Text(string(name))
		w.quantity(list[name])
	}
}

// quantity writes the exact value of a quantity: as a number of thousandths if it is one, else as
// text. A quantity outside the range of quantity.Exact, whose text would take too long to make, is
// written as digits and exponent.
func (w *Writer) quantity(q resource.Quantity) {
	const huge = int64(1) << 62
	if !quantity.Exact(q) {
		w.Number(-huge - 1)
		digits := q.AsDec()
		w.Text(digits.UnscaledBig().String())
		w.Number(int64(digits.Scale()))
		return
	}
	milli := q.MilliValue()
	if milli > -huge && milli < huge && resource.NewMilliQuantity(milli, q.Format).Cmp(q) == 0 {
		w.Number(milli)
		return
	}
	w.Number(-huge)
	w.Text(q.String())
}

// Tolerations writes tolerations in their order.
func (w *Writer) Tolerations(list []corev1.Toleration) {
	w.Count(len(list))
	for i := range list {
		t := &list[i]
		w.Text(t.Key)
		w.Text(string(t.Operator))
		w.Text(t.Value)
		w.Text(string(t.Effect))
	}
}

// NodeAffinity writes what an affinity asks of nodes and would rather have.
func (w *Writer) NodeAffinity(a *corev1.Affinity) {
	if a == nil || a.NodeAffinity == nil {
		w.Number(-1)
		return
	}
	preferred := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	w.Count(len(preferred))
	for i := range preferred {
		w.Number(int64(preferred[i].Weight))
		w.term(&preferred[i].Preference)
	}
	if a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		w.Number(-1)
		return
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	w.Count(len(terms))
	for i := range terms {
		w.term(&terms[i])
	}
}

func (w *Writer) term(t *corev1.NodeSelectorTerm) {
	w.expressions(t.MatchExpressions)
	w.expressions(t.MatchFields)
}

func (w *Writer) expressions(list []corev1.NodeSelectorRequirement) {
	w.Count(len(list))
	for i := range list {
		w.Text(list[i].Key)
		w.Text(string(list[i].Operator))
		w.Texts(list[i].Values)
	}
}

// Selector writes a selector of labels; nil is not the same as an empty one.
func (w *Writer) Selector(s *metav1.LabelSelector) {
	if s == nil {
		w.Number(-1)
		return
	}
	w.Labels(s.MatchLabels)
	w.Count(len(s.MatchExpressions))
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		w.Text(e.Key)
		w.Text(string(e.Operator))
		w.Texts(e.Values)
	}
}

// Labels writes labels, whatever their order.
func (w *Writer) Labels(labels map[string]string) {
	w.names = w.names[:0]
	for name := range labels { // sorted below
		w.names = append(w.names, name)
	}
	slices.Sort(w.names)
	w.Count(len(w.names))
	for _, name := range w.names {
		w.Text(name)
		w.Text(labels[name])
	}
}

// Spreads writes the topology spread constraints of a pod. If defaults is set, it writes for pods
// without constraints the fields from which default ones are derived.
func (w *Writer) Spreads(pod *corev1.Pod, defaults bool) {
	list := pod.Spec.TopologySpreadConstraints
	w.Count(len(list))
	if defaults && len(list) == 0 {
		w.Labels(pod.Labels)
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			w.Text(owner.Kind)
			w.Text(string(owner.UID))
		}
	}
	for i := range list {
		c := &list[i]
		w.Text(c.TopologyKey)
		w.Text(string(c.WhenUnsatisfiable))
		w.Number(int64(c.MaxSkew))
		w.Pointer(c.MinDomains)
		w.Policy(c.NodeAffinityPolicy)
		w.Policy(c.NodeTaintsPolicy)
		w.Selector(c.LabelSelector)
		w.labelsOf(pod, c.MatchLabelKeys)
	}
}

// AffinityTerms writes terms of the affinity or anti-affinity of a pod.
func (w *Writer) AffinityTerms(pod *corev1.Pod, terms []corev1.PodAffinityTerm) {
	w.Count(len(terms))
	for i := range terms {
		w.AffinityTerm(pod, &terms[i])
	}
}

// WeightedTerms writes preferred terms of the affinity or anti-affinity of a pod.
func (w *Writer) WeightedTerms(pod *corev1.Pod, terms []corev1.WeightedPodAffinityTerm) {
	w.Count(len(terms))
	for i := range terms {
		w.Number(int64(terms[i].Weight))
		w.AffinityTerm(pod, &terms[i].PodAffinityTerm)
	}
}

// AffinityTerm writes a term of the affinity or anti-affinity of a pod.
func (w *Writer) AffinityTerm(pod *corev1.Pod, t *corev1.PodAffinityTerm) {
	w.Text(t.TopologyKey)
	w.Texts(t.Namespaces)
	w.Selector(t.NamespaceSelector)
	w.Selector(t.LabelSelector)
	w.labelsOf(pod, t.MatchLabelKeys)
	w.labelsOf(pod, t.MismatchLabelKeys)
}

// labelsOf writes label keys and the values that the pod has for them. They are a part of the
// selector of its constraint.
func (w *Writer) labelsOf(pod *corev1.Pod, keys []string) {
	w.Count(len(keys))
	for _, key := range keys {
		w.Text(key)
		if value, ok := pod.Labels[key]; ok {
			w.Text(value)
		} else {
			w.Number(-1)
		}
	}
}

// Policy writes a policy of a topology spread constraint. Nil differs from every policy.
func (w *Writer) Policy(p *corev1.NodeInclusionPolicy) {
	if p == nil {
		w.Number(-1)
		return
	}
	w.Text(string(*p))
}

// Pointer writes a number; nil is the same as -1.
func (w *Writer) Pointer(n *int32) {
	if n == nil {
		w.Number(-1)
		return
	}
	w.Number(int64(*n))
}

// Texts writes strings in their order.
func (w *Writer) Texts(list []string) {
	w.Count(len(list))
	for _, s := range list {
		w.Text(s)
	}
}

// Text writes a string in a form that is no prefix of the form of another string.
func (w *Writer) Text(s string) {
	w.Count(len(s))
	w.Buf = append(w.Buf, s...)
}

// Count writes how many of something follow.
func (w *Writer) Count(n int) { w.Number(int64(n)) }

// Number writes a number.
func (w *Writer) Number(n int64) { w.Buf = binary.AppendVarint(w.Buf, n) }
