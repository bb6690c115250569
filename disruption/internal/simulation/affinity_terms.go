package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// affinityTerm is a required affinity or anti-affinity term. If it is over a label other than the
// name of the node, pods that have it, and pods that it selects, stay in their domain. If such pods
// changed domains in different actions, one action would depend on another. BindOrder checks the
// pods that change their domain.
type affinityTerm struct {
	key   string
	pods  []podterm.Pods // pods that it selects: those that are in all of these
	apart bool
	text  string // equal for affinity terms over the same label that select the same pods
}

// affinityTermsOf lists the terms of a pod. Terms that cannot be read are left to the engine. As in
// kube-scheduler, all affinity terms of a pod have to select a pod for it to count.
func (c *topologyCounts) affinityTermsOf(p *corev1.Pod) []affinityTerm {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	var out []affinityTerm
	if a.PodAffinity != nil {
		terms := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		var all []podterm.Pods
		for i := range terms {
			if pods, err := c.spaces.Affinity(p, &terms[i]); err == nil {
				all = append(all, pods)
			}
		}
		if len(all) == len(terms) {
			for i := range terms {
				out = append(out, newAffinityTerm(terms[i].TopologyKey, false, all...))
			}
		}
	}
	if a.PodAntiAffinity != nil {
		terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := range terms {
			if pods, err := c.spaces.Affinity(p, &terms[i]); err == nil {
				out = append(out, newAffinityTerm(terms[i].TopologyKey, true, pods))
			}
		}
	}
	return out
}

func newAffinityTerm(key string, apart bool, pods ...podterm.Pods) affinityTerm {
	b := affinityTerm{key: key, pods: pods, apart: apart}
	var text strings.Builder
	fmt.Fprintf(&text, "%t|%s|", apart, key)
	for i := range pods {
		text.WriteString(pods[i].Text())
	}
	b.text = text.String()
	return b
}

// affinityTerms has the terms of all pods, each once.
type affinityTerms struct {
	list    []affinityTerm
	numbers map[string]int   // index in list, by text
	index   *selectors.Index // by index in list
	members []map[string]int // by index in list: the number of selected pods in each domain; nil until it is needed
	owners  []map[string]int // by index in list: the number of pods that have the term in each domain
}

// readAffinities reads the terms of the counted pods.
func (c *topologyCounts) readAffinities() {
	b := affinityTerms{numbers: map[string]int{}, index: selectors.NewIndex()}
	for _, kind := range c.present {
		for _, one := range c.bound(kind) {
			if _, known := b.numbers[one.text]; !known {
				b.numbers[one.text] = len(b.list)
				if first := &one.pods[0]; first.Namespaces == nil || len(first.Namespaces) > 0 { // else it selects no pod
					b.index.Add(len(b.list), first.Selector, first.Namespaces)
				}
				b.list = append(b.list, one)
			}
		}
	}
	b.members = make([]map[string]int, len(b.list))
	c.affinities = b
}

// membersOf returns the number of pods that an affinity term selects, by domain.
func (c *topologyCounts) membersOf(number int) map[string]int {
	if known := c.affinities.members[number]; known != nil {
		return known
	}
	b := &c.affinities.list[number]
	out := map[string]int{}
	for _, p := range c.among(&b.pods[0]) {
		if domain, found := p.node.Labels[b.key]; found && b.selects(p.pod) {
			out[domain]++
		}
	}
	c.affinities.members[number] = out
	return out
}

// bound lists the terms of pods of a kind.
func (c *topologyCounts) bound(kind *podclass.Class) []affinityTerm {
	terms, known := c.terms[kind]
	if !known {
		terms = c.affinityTermsOf(kind.Pod)
		c.terms[kind] = terms
	}
	return terms
}

// selecting returns the indexes of the affinity terms that select a pod.
func (b *affinityTerms) selecting(p *corev1.Pod) []int {
	return slices.DeleteFunc(b.index.Candidates(p), func(i int) bool { return !b.list[i].selects(p) })
}

// selects reports whether an affinity term selects a pod.
func (b *affinityTerm) selects(p *corev1.Pod) bool {
	for i := range b.pods {
		if !b.pods[i].Select(p.Namespace, p.Labels) {
			return false
		}
	}
	return true
}

// pinnedByAffinity returns the labels of its node that a pod must keep because of affinity terms,
// its own and those of other pods. A pod whose affinity term is violated now is not pinned, or it
// could not be moved at all.
func (c *topologyCounts) pinnedByAffinity(kind *podclass.Class, node *corev1.Node) map[string]string {
	var out map[string]string
	pin := func(key string) {
		if domain, found := node.Labels[key]; found && key != corev1.LabelHostname {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = domain
		}
	}
	for _, b := range c.bound(kind) {
		if b.key != corev1.LabelHostname && c.meets(&b, kind.Pod, node) != b.apart {
			pin(b.key)
		}
	}
	for _, i := range c.facts(kind).selecting {
		pin(c.affinities.list[i].key)
	}
	return out
}

// meets reports whether the domain of a node has a pod that an affinity term selects, other than
// the owner of the term.
func (c *topologyCounts) meets(own *affinityTerm, owner *corev1.Pod, node *corev1.Node) bool {
	domain, found := node.Labels[own.key]
	if !found {
		return false
	}
	n := 0
	if i, known := c.affinities.numbers[own.text]; known { // a term of a pod that is ending has no index
		n = c.membersOf(i)[domain]
	}
	if own.selects(owner) {
		if n--; !own.apart {
			return true // pods like it may come to its domain
		}
	}
	return n > 0
}

// ownersOf returns the number of pods that have an affinity term, by domain.
func (c *topologyCounts) ownersOf(number int) map[string]int {
	if c.affinities.owners == nil {
		c.affinities.owners = make([]map[string]int, len(c.affinities.list))
		for _, p := range c.counted {
			for _, one := range c.bound(p.kind) {
				n, known := c.affinities.numbers[one.text]
				if domain, found := p.node.Labels[one.key]; known && found {
					more(&c.affinities.owners[n], domain, 1)
				}
			}
		}
	}
	return c.affinities.owners[number]
}
