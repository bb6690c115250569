package verify

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	operators "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// counter is a required constraint that counts the pods that it selects where they are bound. Pods
// share the counter of constraints with the same meaning.
type counter struct {
	rule    Rule
	selects func(*corev1.Pod) bool
	counts  []domainCounts // one; of pod affinity one for each term
	owners  domainCounts   // of anti-affinity: the pods that have it
	here    map[*site]bool // of affinity: nodes that are certain to have a pod that it selects

	// needsEveryDomain says that a pod with this topology spread was admitted only because no domain
	// had too few pods.
	needsEveryDomain bool
	// hasFirst says that a pod with this affinity was admitted only because no pod was selected before.
	hasFirst bool
}

// domainCounts counts pods by topology domain. Only nodes of NodePools with minValues may be in
// several domains. The field most counts the pods of such a node in each of these domains, the
// field least in none.
type domainCounts struct {
	*topology
	most, least map[string]int
	first       map[string]*podInfo
	total       int                // pods that may be in some domain
	open        []*nodestate.State // nodes of such pods that are not registered and may still get the label
	spread      *spreadDomains     // of a topology spread, else nil
}

func newDomainCounts(t *topology) domainCounts {
	return domainCounts{topology: t, most: map[string]int{}, least: map[string]int{}, first: map[string]*podInfo{}}
}

// add counts a pod on a node in some domains. If sure is not set, the pod may not be there.
func (c *domainCounts) add(d domains, p *podInfo, sure bool) {
	for i, value := range d.values {
		if c.most[value]++; c.first[value] == nil {
			c.first[value] = p
		}
		if i == 0 {
			c.total++
		}
	}
	if sure && d.sure {
		if c.least[d.values[0]]++; c.spread != nil {
			c.spread.added(c.least[d.values[0]] - 1)
		}
	}
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

// count counts a pod for all constraints that select it, and for its own anti-affinity. If sure is
// not set, the pod may not be there.
func (r *referee) count(s *site, p *podInfo, sure bool) {
	add := func(c *domainCounts) {
		if c.add(r.domainsOf(c.topology, s), p, sure); r.mayGet(s.node, c.key) {
			c.open = append(c.open, s.node)
		}
	}
	for _, c := range p.avoids {
		add(&c.owners)
	}
	for _, c := range r.counters.of(p) {
		if p.virtual && r.pending && c.rule != RuleAntiAffinity {
			continue
		}
		for i := range c.counts {
			add(&c.counts[i])
		}
		if c.here != nil && sure {
			c.here[s] = true
		}
	}
}

// counterKey has the conditions on pods that are compared with a counter: a namespace, or
// anyNamespace, and a label, if the counter requires one.
type counterKey struct{ namespace, key, value string }

const anyNamespace = "*" // no namespace has this name

// counterIndex finds the counters that select a pod without comparing all of them.
type counterIndex struct {
	byID   map[string]*counter
	byKey  map[counterKey][]*counter
	groups map[string][]*counter // by namespace and labels of pods: the counters that select them
}

// get returns the counter with a rule and an id, which is made and registered on first use.
// namespaces are those of the pods that it may select; nil means all.
func (x *counterIndex) get(rule Rule, id string, namespaces []string, selector labels.Selector, make func(*counter)) *counter {
	id = string(rule) + "\n" + id
	if known := x.byID[id]; known != nil {
		return known
	}
	c := &counter{rule: rule}
	make(c)
	x.byID[id] = c
	wanted, selectable := selector.Requirements()
	if !selectable {
		return c // it selects nothing
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
		x.byKey[key] = append(x.byKey[key], c)
	}
	return c
}

// of returns the counters that select a pod. All must have been made.
func (x *counterIndex) of(p *podInfo) (found []*counter) {
	if len(x.byKey) == 0 {
		return nil
	}
	kind := make([]byte, 0, 128) // equal for pods that selectors cannot distinguish
	kind = strconv.AppendQuote(kind, p.Namespace)
	kind = strconv.AppendBool(kind, p.DeletionTimestamp != nil)
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		kind = strconv.AppendQuote(strconv.AppendQuote(kind, key), p.Labels[key])
	}
	if known, ok := x.groups[string(kind)]; ok {
		return known
	}
	find := func(key counterKey) {
		for _, c := range x.byKey[key] {
			if c.selects(p.Pod) {
				found = append(found, c)
			}
		}
	}
	for _, namespace := range []string{p.Namespace, anyNamespace} {
		find(counterKey{namespace: namespace})
		for key, value := range p.Labels {
			find(counterKey{namespace, key, value})
		}
	}
	x.groups[string(kind)] = found
	return found
}

// excluding returns the anti-affinity that selects a pod, so that its owners exclude the pod.
func (x *counterIndex) excluding(p *podInfo) (found []*counter) {
	for _, c := range x.of(p) {
		if c.rule == RuleAntiAffinity {
			found = append(found, c)
		}
	}
	return found
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
