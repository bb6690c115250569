package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// bond is a required affinity or anti-affinity term over a label other than the
// name of the node: pods with it, and pods that it selects, stay in their domain.
// Were they to move with different actions, one would lean on what another does.
type bond struct {
	key        string
	namespaces []string // nil is all
	selector   labels.Selector
	apart      bool
	members    map[string]int // pods that it selects, by domain; nil while nobody asked
}

// bondsOf lists the terms of a pod. Those that cannot be read are left to the
// engine.
func bondsOf(p *corev1.Pod) []bond {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	var out []bond
	add := func(terms []corev1.PodAffinityTerm, apart bool) {
		for _, t := range terms {
			selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
			if err != nil || t.TopologyKey == corev1.LabelHostname {
				continue
			}
			b := bond{key: t.TopologyKey, namespaces: t.Namespaces, selector: selector, apart: apart}
			if len(b.namespaces) == 0 && t.NamespaceSelector == nil {
				b.namespaces = []string{p.Namespace}
			}
			if t.NamespaceSelector != nil {
				b.namespaces = nil // which those are does not matter: a pin too many does no harm
			}
			out = append(out, b)
		}
	}
	if a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, false)
	}
	if a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, true)
	}
	return out
}

// addBonds adds those of a pod that are not there yet.
func (c *spreadCensus) addBonds(p *corev1.Pod) {
	for _, b := range bondsOf(p) {
		if !slices.ContainsFunc(c.bonds, b.equal) {
			c.bonds = append(c.bonds, b)
		}
	}
}

func (b *bond) equal(other bond) bool {
	return b.key == other.key && slices.Equal(b.namespaces, other.namespaces) && b.selector.String() == other.selector.String()
}

// selects reports whether a bond is about a pod.
func (b *bond) selects(p *corev1.Pod) bool {
	return (b.namespaces == nil || slices.Contains(b.namespaces, p.Namespace)) && b.selector.Matches(labels.Set(p.Labels))
}

// bonded are the labels of its node that a pod must keep for the sake of bonds,
// its own and those of others. A pod whose bond does not hold as things are is
// left free, or it could not be moved at all.
func (c *spreadCensus) bonded(p *corev1.Pod, node *corev1.Node) map[string]string {
	var out map[string]string
	pin := func(key string) {
		if domain, found := node.Labels[key]; found {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = domain
		}
	}
	for _, b := range bondsOf(p) {
		if c.meets(&b, p, node) != b.apart {
			pin(b.key)
		}
	}
	for i := range c.bonds {
		if c.bonds[i].selects(p) {
			pin(c.bonds[i].key)
		}
	}
	return out
}

// meets reports whether a pod that a bond selects, other than its owner, is in
// the domain of a node.
func (c *spreadCensus) meets(b *bond, owner *corev1.Pod, node *corev1.Node) bool {
	domain, found := node.Labels[b.key]
	if !found {
		return false
	}
	i := slices.IndexFunc(c.bonds, b.equal)
	n := c.members(i)[domain]
	if b.selects(owner) {
		if n--; !b.apart {
			return true // its like may come where it is
		}
	}
	return n > 0
}

// members counts the pods that a bond selects, by domain.
func (c *spreadCensus) members(i int) map[string]int {
	b := &c.bonds[i]
	if b.members == nil {
		b.members = map[string]int{}
		for _, pods := range c.inSpace { // counting does not depend on the order
			for k := range pods {
				if b.selects(pods[k].pod) {
					b.members[pods[k].node.Labels[b.key]]++
				}
			}
		}
	}
	return b.members
}
