package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// namespaces are those of a snapshot with their labels, by name: those that are
// declared, and those that a pod is in. Every one has the label with its name.
type namespaces map[string]labels.Set

func newNamespaces(in *provisioning.Input) namespaces {
	out := namespaces{}
	add := func(p *corev1.Pod) {
		if p != nil && out[p.Namespace] == nil {
			out[p.Namespace] = labels.Set{corev1.LabelMetadataName: p.Namespace}
		}
	}
	for _, p := range in.Pods {
		add(p)
	}
	for i := range in.Nodes {
		for _, p := range in.Nodes[i].Pods {
			add(p)
		}
	}
	for _, n := range in.Namespaces {
		if n == nil {
			continue
		}
		set := labels.Set{corev1.LabelMetadataName: n.Name}
		for key, value := range n.Labels { // by key: the order does not matter
			set[key] = value
		}
		out[n.Name] = set
	}
	return out
}

// of lists the namespaces that an affinity term of a pod is about, by name, nil for
// all: those that it lists and those that it selects, or that of the pod if it says
// nothing.
func (n namespaces) of(t *corev1.PodAffinityTerm, p *corev1.Pod) ([]string, error) {
	out := slices.Clone(t.Namespaces)
	switch {
	case t.NamespaceSelector != nil:
		selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		if selector.Empty() {
			return nil, nil
		}
		for name, set := range n { // sorted below
			if selector.Matches(set) {
				out = append(out, name)
			}
		}
	case len(out) == 0:
		out = append(out, p.Namespace)
	}
	slices.Sort(out)
	return append([]string{}, slices.Compact(out)...), nil // not nil, even if there is none
}
