package verify

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// domainCounts counts pods by topology domain. Only nodes of NodePools with minValues may be in
// several domains. The field most counts the pods of such a node in each of these domains, the
// field least in none.
type domainCounts struct {
	most, least map[string]int
	first       map[string]*podInfo
	total       int // pods that may be in some domain
}

func newDomainCounts() domainCounts {
	return domainCounts{most: map[string]int{}, least: map[string]int{}, first: map[string]*podInfo{}}
}

// add counts a pod on a node in some domains, and says whether the pod is certain to be in one of
// them.
func (c *domainCounts) add(d domains, p *podInfo, sure bool) bool {
	for i, value := range d.values {
		if c.most[value]++; c.first[value] == nil {
			c.first[value] = p
		}
		if i == 0 {
			c.total++
		}
	}
	if sure = sure && d.sure; sure {
		c.least[d.values[0]]++
	}
	return sure
}

// atMost returns the largest number of pods that a domain may have.
func (c *domainCounts) atMost(value string) int {
	if value == nodefit.OtherValue {
		return c.total
	}
	return c.most[value] + c.most[nodefit.OtherValue]
}

// example returns the name of a pod that may be in a domain.
func (c *domainCounts) example(value string) string {
	if p := c.first[value]; p != nil {
		return p.key.String()
	}
	return "another pod"
}

// podCounter is a constraint that counts pods where they are bound.
type podCounter interface {
	selects(p *podInfo) bool
	// about returns the rule that checks the constraint, and the labels over which it counts.
	about() (Rule, []*topology)
	// count counts a pod that it selects. If sure is not set, the pod may not be there.
	count(s *site, p *podInfo, sure bool)
}

// counterKey has the conditions on pods that are compared with a counter: a namespace, or
// anyNamespace, and a label, if the counter requires one.
type counterKey struct{ namespace, key, value string }

const anyNamespace = "*" // no namespace has this name

// counterIndex finds the counters that select a pod without comparing all of them.
type counterIndex struct {
	byKey  map[counterKey][]podCounter
	groups map[string]*labelGroup
}

// labelGroup is shared by pods of one namespace with the same labels.
type labelGroup struct {
	counters []podCounter
	terms    []*antiTerm // among counters
}

// add registers a counter for pods of some namespaces; nil means all.
func (c *counterIndex) add(counter podCounter, namespaces []string, selector labels.Selector) {
	wanted, selectable := selector.Requirements()
	if !selectable {
		return // it selects nothing
	}
	if namespaces == nil {
		namespaces = []string{anyNamespace}
	}
	key := counterKey{}
	for _, want := range wanted {
		switch want.Operator() {
		case operators.In, operators.Equals, operators.DoubleEquals:
			if want.Values().Len() == 1 {
				key.key, key.value = want.Key(), want.Values().UnsortedList()[0]
			}
		}
	}
	for _, namespace := range namespaces {
		key.namespace = namespace
		c.byKey[key] = append(c.byKey[key], counter)
	}
}

// of returns the counters that select a pod. All must have been added.
func (c *counterIndex) of(p *podInfo) *labelGroup {
	kind := make([]byte, 0, 128) // equal for pods that selectors cannot distinguish
	kind = strconv.AppendQuote(kind, p.Namespace)
	kind = strconv.AppendBool(kind, p.DeletionTimestamp != nil)
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		kind = strconv.AppendQuote(strconv.AppendQuote(kind, key), p.Labels[key])
	}
	if known := c.groups[string(kind)]; known != nil {
		return known
	}
	g := &labelGroup{}
	find := func(key counterKey) {
		for _, counter := range c.byKey[key] {
			if !counter.selects(p) {
				continue
			}
			g.counters = append(g.counters, counter)
			if term, ok := counter.(*antiTerm); ok {
				g.terms = append(g.terms, term)
			}
		}
	}
	for _, namespace := range []string{p.Namespace, anyNamespace} {
		find(counterKey{namespace: namespace})
		for key, value := range p.Labels {
			find(counterKey{namespace, key, value})
		}
	}
	c.groups[string(kind)] = g
	return g
}

// selectors returns the reader of selectors, for the namespaces of the input.
func (r *referee) selectors() *podselect.Reader {
	if r.reader == nil {
		var namespaces []string
		for _, p := range r.pods {
			namespaces = append(namespaces, p.Namespace)
		}
		for _, n := range r.nodes {
			for _, p := range n.bound {
				namespaces = append(namespaces, p.Namespace)
			}
		}
		for _, d := range r.daemons {
			namespaces = append(namespaces, d.Namespace)
		}
		r.reader = podselect.New(&r.in, namespaces, r.kubernetes)
	}
	return r.reader
}
