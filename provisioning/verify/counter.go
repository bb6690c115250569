package verify

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// podCounter counts pods where they are put.
type podCounter interface {
	selects(p *podInfo) bool
	// about is the rule by which the constraint is judged, and the labels that it counts over.
	about() (Rule, []*keyView)
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

// selectors reads which pods are selected, in the namespaces that there are.
func (r *referee) selectors() *podselect.Reader {
	if r.reader == nil {
		var namespaces []string
		note := func(p *podInfo) { namespaces = append(namespaces, p.Namespace) }
		for _, p := range r.pods {
			note(p)
		}
		for _, d := range r.daemons {
			note(d)
		}
		for _, n := range r.nodes {
			for _, p := range n.bound {
				note(p)
			}
		}
		r.reader = podselect.New(&r.in, namespaces, r.kubernetes)
	}
	return r.reader
}
