package replay

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// counts keeps, by node, how many pods a score is about: counted from scratch when
// somebody asks first, and kept up to date from then on.
type counts struct {
	nodes      []*nodeState
	namespaces map[string]labels.Set
	selections map[string]*selection
	terms      map[string]*heldTerm
}

// selection counts the pods that a score selects.
type selection struct {
	filter podFilter
	byNode []int64
}

// podFilter selects pods, by their labels or by their controller.
type podFilter struct {
	everywhere bool
	namespaces []string // sorted
	selector   labels.Selector
	owner      types.UID // if set, instead of selector
}

// heldTerm counts, by node, the pods that have a term of pod affinity towards others.
type heldTerm struct {
	filter podFilter
	key    string // topology key
	weight int64  // below zero for anti-affinity
	byNode []int64
}

// requiredWeight is what kube-scheduler gives a required term of a pod that is there.
const requiredWeight = 1

// newCounts reads the pods that are on nodes. Pending are those that may come.
func newCounts(nodes []*nodeState, pending []*corev1.Pod, namespaces []*corev1.Namespace) counts {
	c := counts{nodes: nodes, namespaces: map[string]labels.Set{}, selections: map[string]*selection{}, terms: map[string]*heldTerm{}}
	name := func(pod *corev1.Pod) {
		c.namespaces[pod.Namespace] = labels.Set{corev1.LabelMetadataName: pod.Namespace}
	}
	for _, pod := range pending {
		name(pod)
	}
	for _, n := range nodes {
		for _, pod := range n.pods {
			name(pod)
		}
	}
	for _, n := range namespaces {
		if n != nil {
			c.namespaces[n.Name] = labels.Merge(n.Labels, labels.Set{corev1.LabelMetadataName: n.Name})
		}
	}
	for i, n := range nodes {
		for _, pod := range n.pods {
			c.hold(pod, i)
		}
	}
	return c
}

// add counts a pod that has been bound.
func (c *counts) add(pod *corev1.Pod, at int) {
	for _, s := range c.selections {
		if s.filter.selects(pod) {
			s.byNode[at]++
		}
	}
	c.hold(pod, at)
}

// hold notes the terms of a pod that is on a node.
func (c *counts) hold(pod *corev1.Pod, at int) {
	a := pod.Spec.Affinity
	if a == nil || podlife.Finished(pod) {
		return
	}
	note := func(term *corev1.PodAffinityTerm, weight int64) {
		filter, ok := c.filterOf(pod, term)
		if !ok {
			return
		}
		id := fmt.Sprintf("%s\n%s\n%d", filter, term.TopologyKey, weight)
		held := c.terms[id]
		if held == nil {
			held = &heldTerm{filter: filter, key: term.TopologyKey, weight: weight, byNode: make([]int64, len(c.nodes))}
			c.terms[id] = held
		}
		held.byNode[at]++
	}
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			note(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i], requiredWeight)
		}
	}
	for _, p := range preferredTerms(a) {
		note(p.term, p.weight)
	}
}

// of counts the pods that a filter selects, by node.
func (c *counts) of(filter podFilter) []int64 {
	id := filter.String()
	if known := c.selections[id]; known != nil {
		return known.byNode
	}
	s := &selection{filter: filter, byNode: make([]int64, len(c.nodes))}
	for i, n := range c.nodes {
		for _, pod := range n.pods {
			if !podlife.Finished(pod) && filter.selects(pod) {
				s.byNode[i]++
			}
		}
	}
	c.selections[id] = s
	return s.byNode
}

// preferredTerm is a preferred term of pod affinity, its weight below zero if it is
// one of anti-affinity.
type preferredTerm struct {
	term   *corev1.PodAffinityTerm
	weight int64
}

func preferredTerms(a *corev1.Affinity) (out []preferredTerm) {
	if a == nil {
		return nil
	}
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
			out = append(out, preferredTerm{&t.PodAffinityTerm, int64(t.Weight)})
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i]
			out = append(out, preferredTerm{&t.PodAffinityTerm, -int64(t.Weight)})
		}
	}
	return out
}

// filterOf reads a term of pod affinity. It is false for one that cannot be read.
func (c *counts) filterOf(owner *corev1.Pod, term *corev1.PodAffinityTerm) (podFilter, bool) {
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	if err != nil {
		return podFilter{}, false
	}
	f := podFilter{namespaces: slices.Clone(term.Namespaces), selector: selector}
	switch {
	case term.NamespaceSelector != nil:
		spaces, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
		if err != nil {
			return podFilter{}, false
		}
		f.everywhere = spaces.Empty()
		for name, own := range c.namespaces {
			if spaces.Matches(own) {
				f.namespaces = append(f.namespaces, name)
			}
		}
	case len(f.namespaces) == 0:
		f.namespaces = []string{owner.Namespace}
	}
	slices.Sort(f.namespaces)
	f.namespaces = slices.Compact(f.namespaces)
	return f, true
}

func (f *podFilter) selects(pod *corev1.Pod) bool {
	if !f.everywhere {
		if _, in := slices.BinarySearch(f.namespaces, pod.Namespace); !in {
			return false
		}
	}
	if f.owner != "" {
		owner := metav1.GetControllerOfNoCopy(pod)
		return owner != nil && owner.UID == f.owner
	}
	return f.selector.Matches(labels.Set(pod.Labels))
}

// String is the same for filters that select the same pods.
func (f podFilter) String() string {
	if f.owner != "" {
		return "owner " + string(f.owner)
	}
	_, selectable := f.selector.Requirements()
	return fmt.Sprintf("%t %s %t %s", f.everywhere, strings.Join(f.namespaces, ","), selectable, f.selector)
}
