package disruption

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// bond is a required affinity or anti-affinity term over a label other than the
// name of the node: pods with it, and pods that it selects, stay in their domain.
// Were they to move with different actions, one would lean on what another does.
type bond struct {
	key        string
	namespaces []string // sorted; nil is all
	selector   labels.Selector
	apart      bool
	text       string // the same for bonds over the same label that select the same
}

// bondsOf lists the terms of a pod. Those that cannot be read are left to the
// engine.
func (n namespaces) bondsOf(p *corev1.Pod) []bond {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	var out []bond
	add := func(terms []corev1.PodAffinityTerm, apart bool) {
		for i := range terms {
			t := &terms[i]
			selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
			if err != nil || t.TopologyKey == corev1.LabelHostname {
				continue
			}
			in, err := n.of(t, p)
			if err != nil {
				continue
			}
			b := bond{key: t.TopologyKey, namespaces: in, selector: selector, apart: apart}
			b.text = b.key + "|" + selector.String() + "|" + strings.Join(b.namespaces, "|")
			if b.namespaces == nil {
				b.text += "*"
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

// bonds are those of all pods, each once.
type bonds struct {
	list    []bond
	numbers map[string]int   // in list, by text
	index   *selectorIndex   // by number
	members []map[string]int // pods that a bond selects, by domain; by number
}

// readBonds reads those of the pods that are counted, and then whom they select:
// which only pods that are counted are.
func (c *spreadCensus) readBonds() {
	b := bonds{numbers: map[string]int{}, index: newSelectorIndex()}
	seen := map[*podKind]bool{}
	for _, p := range c.counted {
		if seen[p.kind] {
			continue
		}
		seen[p.kind] = true
		for _, one := range c.bound(p.kind) {
			if _, known := b.numbers[one.text]; !known {
				b.numbers[one.text] = len(b.list)
				if one.namespaces == nil || len(one.namespaces) > 0 { // else it selects nobody
					b.index.add(len(b.list), one.selector, one.namespaces)
				}
				b.list = append(b.list, one)
				b.members = append(b.members, map[string]int{})
			}
		}
	}
	c.bonds = b
	if len(b.list) > 0 {
		for _, p := range c.counted {
			for _, i := range c.facts(p.kind).selecting {
				b.members[i][p.node.Labels[b.list[i].key]]++
			}
		}
	}
}

// bound lists the terms of pods of a kind.
func (c *spreadCensus) bound(kind *podKind) []bond {
	return kind.bonds.get(func() []bond { return c.spaces.bondsOf(kind.pod) })
}

// selecting are the numbers of the bonds that are about a pod.
func (b *bonds) selecting(p *corev1.Pod) []int {
	return slices.DeleteFunc(b.index.candidates(p), func(i int) bool { return !b.list[i].selects(p) })
}

// selects reports whether a bond is about a pod.
func (b *bond) selects(p *corev1.Pod) bool {
	return (b.namespaces == nil || slices.Contains(b.namespaces, p.Namespace)) && b.selector.Matches(labels.Set(p.Labels))
}

// bonded are the labels of its node that a pod must keep for the sake of bonds,
// its own and those of others. A pod whose bond does not hold as things are is
// left free, or it could not be moved at all.
func (c *spreadCensus) bonded(kind *podKind, node *corev1.Node) map[string]string {
	var out map[string]string
	pin := func(key string) {
		if domain, found := node.Labels[key]; found {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = domain
		}
	}
	for _, b := range c.bound(kind) {
		if c.bonds.meets(&b, kind.pod, node) != b.apart {
			pin(b.key)
		}
	}
	for _, i := range c.facts(kind).selecting {
		pin(c.bonds.list[i].key)
	}
	return out
}

// meets reports whether a pod that a bond selects, other than its owner, is in
// the domain of a node.
func (b *bonds) meets(own *bond, owner *corev1.Pod, node *corev1.Node) bool {
	domain, found := node.Labels[own.key]
	if !found {
		return false
	}
	n := 0
	if i, known := b.numbers[own.text]; known { // that of a pod that is ending is not
		n = b.members[i][domain]
	}
	if own.selects(owner) {
		if n--; !own.apart {
			return true // its like may come where it is
		}
	}
	return n > 0
}
