package provisioning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// refereeGauge counts pods by topology domain.
type refereeGauge struct {
	counts map[string]*refereeHeads
	open   int // pods that may be in any domain
	total  int // pods that may be in some domain
}

// refereeHeads is how many pods there may be in a domain, and how many there are
// whatever the new nodes become.
type refereeHeads struct {
	most, least int
	first       *refereePod
}

func (g *refereeGauge) add(v refereeView, p *refereePod, sure bool) {
	if len(v.values) == 0 {
		return
	}
	g.total++
	if v.open {
		g.open++
	}
	for _, value := range v.values {
		c := g.counts[value]
		if c == nil {
			c = &refereeHeads{first: p}
			g.counts[value] = c
		}
		c.most++
		if v.sure && sure {
			c.least++
		}
	}
}

// most is how many pods there may be in a domain.
func (g *refereeGauge) most(value string) int {
	if value == refereeOtherValue {
		return g.total
	}
	if c := g.counts[value]; c != nil {
		return c.most
	}
	return g.open
}

func (g *refereeGauge) least(value string) int {
	if c := g.counts[value]; c != nil {
		return c.least
	}
	return 0
}

// who is one of the pods counted in a domain.
func (g *refereeGauge) who(value string) string {
	if c := g.counts[value]; c != nil {
		return c.first.key.String()
	}
	return "another pod"
}

// refereeAntiTerm is a required anti-affinity term that one or more pods have.
// It counts the pods that it keeps out, and those that have it.
type refereeAntiTerm struct {
	refereeTerm
	glance          *refereeGlance
	r               *referee
	victims, owners refereeGauge
}

func (t *refereeAntiTerm) seat(s *refereeSite, p *refereePod, sure bool) {
	t.victims.add(t.r.view(t.glance, s), p, sure)
}

// refereeCompany is what the required affinity terms of a pod look for: pods that
// all of them select. Pods with the same terms share it.
type refereeCompany struct {
	r       *referee
	terms   []refereeTerm
	glances []*refereeGlance
	gauges  []refereeGauge // by term
	here    map[*refereeSite]int
	total   int // pods that may be in a domain of some term
}

func (c *refereeCompany) selects(p *refereePod) bool {
	for i := range c.terms {
		if !c.terms[i].selects(p) {
			return false
		}
	}
	return true
}

func (c *refereeCompany) seat(s *refereeSite, p *refereePod, sure bool) {
	if p.virtual && c.r.pending {
		return
	}
	counted := false
	for i, g := range c.glances {
		v := c.r.view(g, s)
		counted = counted || len(v.values) > 0
		c.gauges[i].add(v, p, sure)
	}
	if counted {
		c.total++
	}
	if sure {
		c.here[s]++
	}
}

// readTerms reads the terms of a pod.
func (r *referee) readTerms(p *refereePod, of []corev1.PodAffinityTerm) (terms []refereeTerm, err error) {
	for i := range of {
		t, err := r.term(p, &of[i])
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// aparts reads the required anti-affinity of a pod.
func (r *referee) aparts(p *refereePod) ([]*refereeAntiTerm, error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil, nil
	}
	terms, err := r.readTerms(p, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil, err
	}
	var apart []*refereeAntiTerm
	for _, t := range terms {
		apart = append(apart, r.antiTerm(t))
	}
	return apart, nil
}

// companyFor reads the required affinity of a pod; nil if it has none.
func (r *referee) companyFor(p *refereePod) (*refereeCompany, error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil, nil
	}
	terms, err := r.readTerms(p, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	return r.companyOf(terms), nil
}

func (r *referee) antiTerm(t refereeTerm) *refereeAntiTerm {
	id := t.String()
	if known := r.antiTerms[id]; known != nil {
		return known
	}
	a := &refereeAntiTerm{refereeTerm: t, r: r, glance: r.glanceAt(t.key)}
	a.victims.counts, a.owners.counts = map[string]*refereeHeads{}, map[string]*refereeHeads{}
	r.antiTerms[id] = a
	r.counters.add(a, t.namespaces, t.selector)
	return a
}

func (r *referee) companyOf(terms []refereeTerm) *refereeCompany {
	var id strings.Builder
	for i := range terms {
		fmt.Fprintln(&id, terms[i].String())
	}
	if known := r.companies[id.String()]; known != nil {
		return known
	}
	c := &refereeCompany{r: r, terms: terms, gauges: make([]refereeGauge, len(terms)), here: map[*refereeSite]int{}}
	for i := range terms {
		c.glances = append(c.glances, r.glanceAt(terms[i].key))
		c.gauges[i].counts = map[string]*refereeHeads{}
	}
	r.companies[id.String()] = c
	r.counters.add(c, terms[0].namespaces, terms[0].selector)
	return c
}

// glanceAt looks at one label of all nodes.
func (r *referee) glanceAt(key string) *refereeGlance {
	if known := r.glances[key]; known != nil {
		return known
	}
	g := r.newGlance(key, []string{key}, nil)
	r.glances[key] = g
	return g
}

// judgeCompany wants a pod where a pod that it looks for is sure to be in each of
// its domains. The first of pods that look for each other may go anywhere that
// has the keys.
func (r *referee) judgeCompany(s *refereeSite, p *refereePod, note refereeNote) {
	c := p.company
	if c == nil {
		return
	}
	first := c.total == 0 && c.selects(p)
	for i, g := range c.glances {
		v := r.view(g, s)
		if v.lacks || len(v.values) == 0 {
			note(RuleAffinity, "its affinity is for pods with the same %s, a label that the node may lack", g.key)
			continue
		}
		for _, value := range v.values {
			if !first && c.gauges[i].least(value) == 0 && c.here[s] == 0 {
				note(RuleAffinity, "when its turn comes, no pod that its affinity asks for is sure to be in %s=%s, where the node may be",
					g.key, r.shownDomain(s, g.key, value))
				break
			}
		}
	}
}

// judgeApart wants no pod in the domain that keeps this one out, or that this one
// keeps out.
func (r *referee) judgeApart(s *refereeSite, p *refereePod, note refereeNote) {
	for _, t := range p.apart {
		for _, value := range r.view(t.glance, s).values {
			if t.victims.most(value) > 0 {
				note(RuleAntiAffinity, "its anti-affinity keeps it away from %s, which may be in %s=%s, as may the node",
					t.victims.who(value), t.key, r.shownDomain(s, t.key, value))
				break
			}
		}
	}
	for _, t := range r.counters.of(p).terms {
		if t.owners.total == 0 {
			continue
		}
		for _, value := range r.view(t.glance, s).values {
			if t.owners.most(value) > 0 {
				note(RuleAntiAffinity, "the anti-affinity of %s, which may be in %s=%s, keeps it out of that domain, where the node may be",
					t.owners.who(value), t.key, r.shownDomain(s, t.key, value))
				break
			}
		}
	}
}

// shownDomain is a domain as messages call it.
func (r *referee) shownDomain(s *refereeSite, key, value string) string {
	if key == corev1.LabelHostname && value == s.host() {
		return s.name
	}
	return value
}
