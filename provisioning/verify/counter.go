package verify

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"
)

// podCounter counts pods where they are put.
type podCounter interface {
	selects(p *podInfo) bool
	// seat counts a pod that it selects. One that is not sure may not be there.
	seat(s *targetNode, p *podInfo, sure bool)
}

// counterKey is what a pod must have for a counter to look at it: the namespace,
// or anyNamespace, and a label, if the counter asks for one.
type counterKey struct{ namespace, key, value string }

const anyNamespace = "*" // no namespace has this name

// counterIndex finds the counters of a pod without a look at all of them.
type counterIndex struct {
	hooks map[counterKey][]podCounter
	kinds map[string]*labelGroup
}

// labelGroup is what pods of one namespace with the same labels share.
type labelGroup struct {
	counters []podCounter
	terms    []*antiTerm // among counters
}

// add registers a counter for pods of the namespaces, nil meaning all.
func (c *counterIndex) add(counter podCounter, namespaces []string, selector labels.Selector) {
	wanted, selectable := selector.Requirements()
	if !selectable {
		return // it selects nothing
	}
	if namespaces == nil {
		namespaces = []string{anyNamespace}
	}
	hook := counterKey{}
	for _, want := range wanted {
		switch want.Operator() {
		case operators.In, operators.Equals, operators.DoubleEquals:
			if want.Values().Len() == 1 {
				hook.key, hook.value = want.Key(), want.Values().UnsortedList()[0]
			}
		}
	}
	for _, namespace := range namespaces {
		hook.namespace = namespace
		c.hooks[hook] = append(c.hooks[hook], counter)
	}
}

// of returns the counters that select a pod. All must have been added.
func (c *counterIndex) of(p *podInfo) *labelGroup {
	key := p.kind()
	if known := c.kinds[key]; known != nil {
		return known
	}
	k := &labelGroup{}
	look := func(hook counterKey) {
		for _, counter := range c.hooks[hook] {
			if !counter.selects(p) {
				continue
			}
			k.counters = append(k.counters, counter)
			if term, ok := counter.(*antiTerm); ok {
				k.terms = append(k.terms, term)
			}
		}
	}
	for _, namespace := range []string{p.Namespace, anyNamespace} {
		look(counterKey{namespace: namespace})
		for key, value := range p.Labels {
			look(counterKey{namespace, key, value})
		}
	}
	c.kinds[key] = k
	return k
}

// kind is the same for pods that selectors cannot tell apart.
func (p *podInfo) kind() string {
	text := make([]byte, 0, 128)
	text = strconv.AppendQuote(text, p.Namespace)
	text = strconv.AppendBool(text, p.DeletionTimestamp != nil)
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		text = strconv.AppendQuote(text, key)
		text = strconv.AppendQuote(text, p.Labels[key])
	}
	return string(text)
}

// affinityTerm is a pod affinity term in a form that pods can be held against.
type affinityTerm struct {
	namespaces []string // sorted; nil means every namespace
	selector   labels.Selector
	key        string
}

// term reads a term of a pod as the API server and kube-scheduler do: the keys to
// match and to mismatch become part of the selector, and the selector of
// namespaces becomes names.
func (r *referee) term(owner *podInfo, of *corev1.PodAffinityTerm) (affinityTerm, error) {
	t := affinityTerm{key: of.TopologyKey}
	selector, err := metav1.LabelSelectorAsSelector(of.LabelSelector)
	if err != nil {
		return t, err
	}
	t.selector, err = r.narrower(selector, owner, of.MatchLabelKeys, operators.In)
	if err == nil {
		t.selector, err = r.narrower(t.selector, owner, of.MismatchLabelKeys, operators.NotIn)
	}
	if err != nil {
		return t, err
	}
	t.namespaces, err = r.namespacesOf(owner, of)
	return t, err
}

func (r *referee) namespacesOf(owner *podInfo, of *corev1.PodAffinityTerm) ([]string, error) {
	names := slices.Clone(of.Namespaces)
	if names == nil {
		names = []string{}
	}
	if of.NamespaceSelector == nil {
		if len(names) == 0 {
			names = []string{owner.Namespace}
		}
		slices.Sort(names)
		return slices.Compact(names), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(of.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	if selector.Empty() {
		return nil, nil
	}
	for name, own := range r.namespaces() {
		if selector.Matches(own) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// namespaces are the labels of every namespace that some pod is in or that the
// input lists.
func (r *referee) namespaces() map[string]labels.Set {
	if r.spaces != nil {
		return r.spaces
	}
	r.spaces = map[string]labels.Set{}
	note := func(name string) {
		if r.spaces[name] == nil {
			r.spaces[name] = labels.Set{corev1.LabelMetadataName: name}
		}
	}
	for _, namespace := range r.in.Namespaces {
		if namespace != nil {
			note(namespace.Name)
			for key, value := range namespace.Labels {
				r.spaces[namespace.Name][key] = value
			}
		}
	}
	for _, p := range r.pods {
		note(p.Namespace)
	}
	for _, d := range r.daemons {
		note(d.Namespace)
	}
	for _, n := range r.nodes {
		for _, p := range n.bound {
			note(p.Namespace)
		}
	}
	return r.spaces
}

// narrower adds to a selector the values that the owner has under some keys. A
// selector of nothing stays one.
func (*referee) narrower(selector labels.Selector, owner *podInfo, keys []string, how operators.Operator) (labels.Selector, error) {
	if _, selectable := selector.Requirements(); !selectable {
		return selector, nil
	}
	for _, key := range keys {
		value, ok := owner.Labels[key]
		if !ok {
			continue
		}
		want, err := labels.NewRequirement(key, how, []string{value})
		if err != nil {
			return nil, err
		}
		selector = selector.Add(*want)
	}
	return selector, nil
}

func (t *affinityTerm) selects(p *podInfo) bool {
	if t.namespaces != nil {
		if _, in := slices.BinarySearch(t.namespaces, p.Namespace); !in {
			return false
		}
	}
	return t.selector.Matches(labels.Set(p.Labels))
}

// String is the same for terms that mean the same.
func (t *affinityTerm) String() string {
	return fmt.Sprintf("%t %q %q %t %s", t.namespaces == nil, t.namespaces, t.key, t.selector.Empty(), t.selector)
}
