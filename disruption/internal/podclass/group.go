package podclass

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Group is a set of pods that some other pods exclude from their node, by required anti-affinity
// over the name of the node.
type Group struct {
	Key        string // equal for equal groups
	Namespaces []string
	Selector   labels.Selector
}

// Excluded lists the groups to which the pods have anti-affinity. Terms with a namespace selector
// are left out.
func (k *Class) Excluded() []Group {
	if !k.excludesRead {
		k.excludesRead, k.excludes = true, excluded(k.Pod)
	}
	return k.excludes
}

// excluded lists the groups to which a pod has anti-affinity.
func excluded(p *corev1.Pod) []Group {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	var out []Group
	for _, term := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname || term.NamespaceSelector != nil || len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			continue
		}
		g := Group{Selector: selector, Namespaces: slices.Sorted(slices.Values(term.Namespaces))}
		if len(g.Namespaces) == 0 {
			g.Namespaces = []string{p.Namespace}
		}
		g.Key = selector.String() + "|" + strings.Join(g.Namespaces, "|")
		out = append(out, g)
	}
	return out
}

// Selects reports whether a pod belongs to the group.
func (g *Group) Selects(p *corev1.Pod) bool {
	return slices.Contains(g.Namespaces, p.Namespace) && g.Selector.Matches(labels.Set(p.Labels))
}
