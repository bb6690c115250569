package podterm

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Namespaces has the namespaces of a snapshot: the declared ones, and those of its pods. Each has
// the label with its name. It is not safe for concurrent use.
type Namespaces struct {
	// Declared are the namespaces with known labels. Nil entries are ignored.
	Declared []*corev1.Namespace
	// Pods yields the pods of the snapshot. It is called once, and only if some term selects
	// namespaces by their labels. Nil pods are ignored.
	Pods iter.Seq[*corev1.Pod]

	labels map[string]labels.Set // by name; nil until a term first selects namespaces
}

// read lists all namespaces.
func (n *Namespaces) read() {
	n.labels = map[string]labels.Set{}
	for pod := range n.Pods {
		if pod != nil && n.labels[pod.Namespace] == nil {
			n.labels[pod.Namespace] = labels.Set{corev1.LabelMetadataName: pod.Namespace}
		}
	}
	for _, ns := range n.Declared {
		if ns == nil {
			continue
		}
		set := labels.Set{corev1.LabelMetadataName: ns.Name}
		maps.Copy(set, ns.Labels)
		n.labels[ns.Name] = set
	}
}

// of returns the namespaces that a term names or selects. If it does neither, the result is own, the
// namespace of the term's pod. Nil means all.
func (n *Namespaces) of(t *corev1.PodAffinityTerm, own string) ([]string, error) {
	out := append([]string{}, t.Namespaces...) // not nil, even if there is none
	switch {
	case t.NamespaceSelector != nil:
		selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		if selector.Empty() {
			return nil, nil
		}
		if n.labels == nil {
			n.read()
		}
		for name, set := range n.labels { // sorted below
			if selector.Matches(set) {
				out = append(out, name)
			}
		}
	case len(out) == 0:
		return []string{own}, nil
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
