package verify

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// antiTerm is a required anti-affinity term. It counts the pods that it selects and the pods that have it.
type antiTerm struct {
	podselect.Term
	topology         *topology
	r                *referee
	selected, owners domainCounts
}

func (t *antiTerm) selects(p *podInfo) bool { return t.Selects(p.Pod) }

func (t *antiTerm) about() (Rule, []*topology) { return RuleAntiAffinity, []*topology{t.topology} }

func (t *antiTerm) count(s *site, p *podInfo, sure bool) {
	t.selected.add(t.r.domainsOf(t.topology, s), p, sure)
}

// affinityGroup is the required affinity of a pod: in the pod's domain of each term there must be a
// pod that all terms select. Pods with the same terms share an affinityGroup.
type affinityGroup struct {
	r          *referee
	terms      []podselect.Term
	topologies []*topology
	counts     []domainCounts // by term
	here       map[*site]bool // nodes with pods that all terms select
}

func (g *affinityGroup) selects(p *podInfo) bool {
	return !slices.ContainsFunc(g.terms, func(t podselect.Term) bool { return !t.Selects(p.Pod) })
}

func (g *affinityGroup) about() (Rule, []*topology) { return RuleAffinity, g.topologies }

func (g *affinityGroup) count(s *site, p *podInfo, sure bool) {
	if p.virtual && g.r.pending {
		return
	}
	for i, t := range g.topologies {
		g.counts[i].add(g.r.domainsOf(t, s), p, sure)
	}
	g.here[s] = g.here[s] || sure
}

// avoids reads the required anti-affinity of a pod. For a pod to be bound, a term covers all
// namespaces that any of the kube-scheduler versions in question reads from it.
func (r *referee) avoids(p *podInfo, toBind bool) (terms []*antiTerm, err error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil, nil
	}
	required := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	read, err := r.selectors().Terms(p.Pod, required)
	if err != nil {
		return nil, err
	}
	if toBind {
		all, _ := r.selectors().Readings(p.Pod, required) // Terms has read them without an error
		read = all[len(all)-1]
	}
	for _, t := range read {
		id := t.String()
		if r.antiTerms[id] == nil {
			r.antiTerms[id] = &antiTerm{Term: t, r: r, topology: r.topologyOf(t.Key), selected: newDomainCounts(), owners: newDomainCounts()}
			r.counters.add(r.antiTerms[id], t.Namespaces, t.Selector)
		}
		terms = append(terms, r.antiTerms[id])
	}
	return terms, nil
}

// follows reads the required affinity of a pod, once for each way in which kube-scheduler versions
// read it.
func (r *referee) follows(p *podInfo) (groups []*affinityGroup, err error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil, nil
	}
	readings, err := r.selectors().Readings(p.Pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	for _, terms := range readings {
		if len(terms) == 0 {
			return nil, nil
		}
		var id strings.Builder
		for i := range terms {
			fmt.Fprintln(&id, terms[i].String())
		}
		g := r.affinityGroups[id.String()]
		if g == nil {
			g = &affinityGroup{r: r, terms: terms, here: map[*site]bool{}}
			for _, t := range terms {
				g.topologies, g.counts = append(g.topologies, r.topologyOf(t.Key)), append(g.counts, newDomainCounts())
			}
			r.affinityGroups[id.String()] = g
			r.counters.add(g, terms[0].Namespaces, terms[0].Selector)
		}
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups, err
}

// judgeAffinity reports a pod that follows others if no such pod is certain to be in each of its
// domains. The first of several pods that follow each other may go to any node that has the labels.
func (r *referee) judgeAffinity(s *site, p *podInfo, note faultFunc) {
	for _, g := range p.follows {
		first := g.selects(p) && !slices.ContainsFunc(g.counts, func(c domainCounts) bool { return c.total > 0 })
		for i, t := range g.topologies {
			at := r.domainsOf(t, s)
			if at.lacks || len(at.values) == 0 {
				note(RuleAffinity, "its affinity is for pods with the same %s, a label that the node may lack", t.key)
				continue
			}
			for _, value := range at.values {
				if !first && g.counts[i].least[value] == 0 && !g.here[s] {
					note(RuleAffinity, "when it is bound, no pod that its affinity asks for is sure to be in %s=%s",
						t.key, r.shownDomain(s, t.key, value))
					break
				}
			}
		}
	}
}

// judgeAntiAffinity reports a pod in the domain of a pod that it excludes or that excludes it.
func (r *referee) judgeAntiAffinity(s *site, p *podInfo, note faultFunc) {
	judge := func(t *antiTerm, counts *domainCounts, format string) {
		if counts.total == 0 {
			return
		}
		for _, value := range r.domainsOf(t.topology, s).values {
			if counts.atMost(value) > 0 {
				note(RuleAntiAffinity, format, counts.example(value), t.Key, r.shownDomain(s, t.Key, value))
				break
			}
		}
	}
	for _, t := range p.avoids {
		judge(t, &t.selected, "its anti-affinity excludes it from the domain of %s, and both may be in %s=%s")
	}
	for _, t := range r.counters.of(p).terms {
		judge(t, &t.owners, "the anti-affinity of %s excludes it, and both may be in %s=%s")
	}
}

// shownDomain returns the name of a domain for messages.
func (r *referee) shownDomain(s *site, key, value string) string {
	if key == corev1.LabelHostname && value == s.host() {
		return s.name
	}
	return value
}
