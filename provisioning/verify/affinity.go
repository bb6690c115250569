package verify

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// domainCounts counts pods by topology domain.
type domainCounts struct {
	counts map[string]*podRange
	open   int // pods that may be in any domain
	total  int // pods that may be in some domain
}

// podRange is how many pods there may be in a domain, and how many there are
// whatever the new nodes become.
type podRange struct {
	most, least int
	first       *podInfo
}

func (g *domainCounts) add(v nodeView, p *podInfo, sure bool) {
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
			c = &podRange{first: p}
			g.counts[value] = c
		}
		c.most++
		if v.sure && sure {
			c.least++
		}
	}
}

// most is how many pods there may be in a domain.
func (g *domainCounts) most(value string) int {
	if value == nodefit.OtherValue {
		return g.total
	}
	if c := g.counts[value]; c != nil {
		return c.most
	}
	return g.open
}

func (g *domainCounts) least(value string) int {
	if c := g.counts[value]; c != nil {
		return c.least
	}
	return 0
}

// who is one of the pods counted in a domain.
func (g *domainCounts) who(value string) string {
	if c := g.counts[value]; c != nil {
		return c.first.key.String()
	}
	return "another pod"
}

// antiTerm is a required anti-affinity term that one or more pods have.
// It counts the pods that it keeps out, and those that have it.
type antiTerm struct {
	podselect.Term
	glance          *keyView
	r               *referee
	victims, owners domainCounts
}

func (t *antiTerm) selects(p *podInfo) bool { return t.Selects(p.Pod) }

func (t *antiTerm) about() (Rule, []*keyView) { return RuleAntiAffinity, []*keyView{t.glance} }

func (t *antiTerm) seat(s *targetNode, p *podInfo, sure bool) {
	t.victims.add(t.r.view(t.glance, s), p, sure)
}

// affinityGroup is what the required affinity terms of a pod look for: pods that
// all of them select. Pods with the same terms share it.
type affinityGroup struct {
	r       *referee
	terms   []podselect.Term
	glances []*keyView
	gauges  []domainCounts // by term
	here    map[*targetNode]int
	total   int // pods that may be in a domain of some term
}

func (c *affinityGroup) selects(p *podInfo) bool {
	for i := range c.terms {
		if !c.terms[i].Selects(p.Pod) {
			return false
		}
	}
	return true
}

func (c *affinityGroup) about() (Rule, []*keyView) { return RuleAffinity, c.glances }

func (c *affinityGroup) seat(s *targetNode, p *podInfo, sure bool) {
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

// aparts reads the required anti-affinity of a pod. One that is arriving is kept
// from all that some kube-scheduler keeps it from.
func (r *referee) aparts(p *podInfo, arriving bool) ([]*antiTerm, error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil, nil
	}
	required := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	terms, err := r.selectors().Terms(p.Pod, required)
	if err != nil {
		return nil, err
	}
	if arriving {
		all, _ := r.selectors().Readings(p.Pod, required) // they have been read
		terms = all[len(all)-1]
	}
	var apart []*antiTerm
	for _, t := range terms {
		apart = append(apart, r.antiTerm(t))
	}
	return apart, nil
}

// companiesFor reads the required affinity of a pod; nil if it has none. It must
// hold in each way in which kube-schedulers read it.
func (r *referee) companiesFor(p *podInfo) ([]*affinityGroup, error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil, nil
	}
	var out []*affinityGroup
	readings, err := r.selectors().Readings(p.Pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	for _, terms := range readings {
		if len(terms) == 0 {
			return nil, nil
		}
		if c := r.companyOf(terms); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out, err
}

func (r *referee) antiTerm(t podselect.Term) *antiTerm {
	id := t.String()
	if known := r.antiTerms[id]; known != nil {
		return known
	}
	a := &antiTerm{Term: t, r: r, glance: r.glanceAt(t.Key)}
	a.victims.counts, a.owners.counts = map[string]*podRange{}, map[string]*podRange{}
	r.antiTerms[id] = a
	r.counters.add(a, t.Namespaces, t.Selector)
	return a
}

func (r *referee) companyOf(terms []podselect.Term) *affinityGroup {
	var id strings.Builder
	for i := range terms {
		fmt.Fprintln(&id, terms[i].String())
	}
	if known := r.companies[id.String()]; known != nil {
		return known
	}
	c := &affinityGroup{r: r, terms: terms, gauges: make([]domainCounts, len(terms)), here: map[*targetNode]int{}}
	for i := range terms {
		c.glances = append(c.glances, r.glanceAt(terms[i].Key))
		c.gauges[i].counts = map[string]*podRange{}
	}
	r.companies[id.String()] = c
	r.counters.add(c, terms[0].Namespaces, terms[0].Selector)
	return c
}

// glanceAt looks at one label of all nodes.
func (r *referee) glanceAt(key string) *keyView {
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
func (r *referee) judgeCompany(s *targetNode, p *podInfo, note faultFunc) {
	for _, c := range p.companies {
		r.judgeOneCompany(c, s, p, note)
	}
}

func (r *referee) judgeOneCompany(c *affinityGroup, s *targetNode, p *podInfo, note faultFunc) {
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
func (r *referee) judgeApart(s *targetNode, p *podInfo, note faultFunc) {
	for _, t := range p.apart {
		for _, value := range r.view(t.glance, s).values {
			if t.victims.most(value) > 0 {
				note(RuleAntiAffinity, "its anti-affinity keeps it away from %s, which may be in %s=%s, as may the node",
					t.victims.who(value), t.Key, r.shownDomain(s, t.Key, value))
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
					t.owners.who(value), t.Key, r.shownDomain(s, t.Key, value))
				break
			}
		}
	}
}

// shownDomain is a domain as messages call it.
func (r *referee) shownDomain(s *targetNode, key, value string) string {
	if key == corev1.LabelHostname && value == s.host() {
		return s.name
	}
	return value
}
