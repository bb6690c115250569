package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is the pods that a constraint is about: those that every one of
// its conjuncts selects, or those that use a claim.
type selection struct {
	conjuncts []conjunct
	claim     string // by namespace, slash and name; empty for pods selected by labels
	text      string // tells selections apart
}

// conjunct selects the pods with some labels in some namespaces.
type conjunct struct {
	selector   labels.Selector
	namespaces map[string]bool // nil: all
}

func newSelection(conjuncts ...conjunct) selection {
	var b strings.Builder
	for _, c := range conjuncts {
		b.WriteString(c.selector.String())
		if _, selectable := c.selector.Requirements(); !selectable {
			b.WriteString("!") // nothing and everything read the same
		}
		b.WriteByte(0)
		if c.namespaces == nil {
			b.WriteByte('*')
		}
		for _, ns := range slices.Sorted(maps.Keys(c.namespaces)) {
			b.WriteString(ns)
			b.WriteByte(',')
		}
		b.WriteByte(1)
	}
	return selection{conjuncts: conjuncts, text: b.String()}
}

// selects says whether a pod with the given namespace and labels is meant.
func (s *selection) selects(namespace string, set labels.Set) bool {
	for _, c := range s.conjuncts {
		if c.namespaces != nil && !c.namespaces[namespace] || !c.selector.Matches(set) {
			return false
		}
	}
	return true
}

// namespaceTable resolves the namespaces of affinity terms.
type namespaceTable struct {
	in     *Input
	labels map[string]labels.Set // by name; nil while nobody asked
}

// read lists all namespaces that are declared or that some pod is in. One that is
// only used has the label with its name.
func (t *namespaceTable) read() {
	in := t.in
	t.labels = map[string]labels.Set{}
	add := func(pod *corev1.Pod) {
		if pod != nil && t.labels[pod.Namespace] == nil {
			t.labels[pod.Namespace] = labels.Set{corev1.LabelMetadataName: pod.Namespace}
		}
	}
	for _, pod := range in.Pods {
		add(pod)
	}
	for i := range in.Nodes {
		for _, pod := range in.Nodes[i].Pods {
			add(pod)
		}
	}
	for _, ns := range in.Namespaces {
		if ns == nil {
			continue
		}
		set := labels.Set{corev1.LabelMetadataName: ns.Name}
		maps.Copy(set, ns.Labels)
		t.labels[ns.Name] = set
	}
}

// namespaceFaults reports namespaces that are listed twice: which of two counts
// would depend on their order. Nil ones are passed over, as they select nothing.
func namespaceFaults(list []*corev1.Namespace, f *faults) {
	seen := map[string]bool{}
	for _, ns := range list {
		if ns == nil {
			continue
		}
		if seen[ns.Name] {
			f.add(fmt.Sprintf("Namespace %q", ns.Name), "", "is listed twice; list each namespace once")
		}
		seen[ns.Name] = true
	}
}

// of returns the namespaces that a term names, nil for all: those listed and
// those selected, or that of the pod if the term says nothing.
func (t *namespaceTable) of(term *corev1.PodAffinityTerm, own string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, ns := range term.Namespaces {
		out[ns] = true
	}
	if term.NamespaceSelector == nil {
		if len(out) == 0 {
			out[own] = true
		}
		return out, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	if selector.Empty() {
		return nil, nil
	}
	if t.labels == nil {
		t.read()
	}
	for name, set := range t.labels {
		if selector.Matches(set) {
			out[name] = true
		}
	}
	return out, nil
}
