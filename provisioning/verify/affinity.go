package verify

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// avoids reads the required anti-affinity of a pod. For a pod to be bound, a term covers all
// namespaces that any of the kube-scheduler versions in question reads from it.
func (r *referee) avoids(p *podInfo, toBind bool) (terms []*counter, err error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil, nil
	}
	required := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	readings, err := r.selectors().Readings(p.Pod, required, !toBind)
	if err != nil {
		return nil, err
	}
	for _, t := range readings[len(readings)-1] {
		terms = append(terms, r.counters.get(RuleAntiAffinity, t.String(), t.Namespaces, t.Selector, func(c *counter) {
			c.selects = t.Selects
			c.counts = []domainCounts{newDomainCounts(r.topologyOf(t.Key))}
			c.owners = newDomainCounts(r.topologyOf(t.Key))
		}))
	}
	return terms, nil
}

// follows reads the required affinity of a pod, once for each way in which kube-scheduler versions
// read it. In the pod's domain of each term there must be a pod that all terms select.
func (r *referee) follows(p *podInfo) (groups []*counter, err error) {
	a := p.Spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil, nil
	}
	readings, err := r.selectors().Readings(p.Pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, false)
	for _, terms := range readings {
		if len(terms) == 0 {
			return nil, nil
		}
		var id strings.Builder
		for i := range terms {
			id.WriteString(terms[i].String() + "\n")
		}
		g := r.counters.get(RuleAffinity, id.String(), terms[0].Namespaces, terms[0].Selector, func(c *counter) {
			c.here = map[*site]bool{}
			c.selects = func(pod *corev1.Pod) bool {
				return !slices.ContainsFunc(terms, func(t podselect.Term) bool { return !t.Selects(pod) })
			}
			for _, t := range terms {
				c.counts = append(c.counts, newDomainCounts(r.topologyOf(t.Key)))
			}
		})
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
		first := g.selects(p.Pod) && !slices.ContainsFunc(g.counts, func(c domainCounts) bool { return c.total > 0 })
		g.hasFirst = g.hasFirst || first && !p.unplaced
		for _, c := range g.counts {
			at := r.domainsOf(c.topology, s)
			if at.lacks || len(at.values) == 0 {
				note(RuleAffinity, p, "its affinity is for pods with the same %s, a label that the node may lack", c.key)
				continue
			}
			for _, value := range at.values {
				if !first && c.least[value] == 0 && !g.here[s] {
					note(RuleAffinity, p, "when it is bound, no pod that its affinity asks for is sure to be in %s=%s",
						c.key, r.shownDomain(s, c.key, value))
					break
				}
			}
		}
	}
}

// judgeAntiAffinity reports a pod in the domain of a pod that it excludes or that excludes it.
func (r *referee) judgeAntiAffinity(s *site, p *podInfo, note faultFunc) {
	judge := func(counts *domainCounts, format string) {
		if counts.total == 0 {
			return
		}
		for _, value := range r.domainsOf(counts.topology, s).values {
			if counts.atMost(value) > 0 {
				note(RuleAntiAffinity, p, format, counts.example(value), counts.key, r.shownDomain(s, counts.key, value))
				break
			}
		}
	}
	for _, c := range p.avoids {
		judge(&c.counts[0], "its anti-affinity excludes it from the domain of %s, and both may be in %s=%s")
	}
	for _, c := range r.counters.excluding(p) {
		judge(&c.owners, "the anti-affinity of %s excludes it, and both may be in %s=%s")
	}
}

// shownDomain returns the name of a domain for messages.
func (r *referee) shownDomain(s *site, key, value string) string {
	if key == corev1.LabelHostname && value == s.host() {
		return s.name
	}
	return value
}
