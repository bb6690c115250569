package provisioning

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// tolerateAll tolerates every taint.
var tolerateAll = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

// findIncidentalDomains looks for domains that the new nodes of a packing may bring along.
// A spread may not have counted one, as its own pods cannot go there, for lack
// of room or for a taint; but kube-scheduler takes an empty domain for one to be
// filled. It returns the domains of all new nodes so far, and whether any was
// not counted.
func (s *attempt) findIncidentalDomains(p *Problem, r *pack.Result) (incidentalDomains [][]bool, more bool) {
	incidentalDomains = make([][]bool, len(p.rules.domain))
	rules := s.spreads(p)
	for i := range incidentalDomains {
		if s.incidentalDomains != nil {
			incidentalDomains[i] = slices.Clone(s.incidentalDomains[i])
		} else if k := p.rules.domain[i].Rule.Key; k >= 0 {
			incidentalDomains[i] = make([]bool, len(p.table.values[k]))
		}
	}
	if len(rules) == 0 || len(r.New) == 0 {
		return incidentalDomains, false
	}
	used := bitset.New(p.admission.domains.total)
	for i := range r.New {
		used.Or(r.New[i].Options)
	}
	for low, i := range rules {
		rule := &p.rules.domain[i]
		looked := used.Clone()
		looked.And(p.lookedAt(rule, false))
		for d := range incidentalDomains[i] {
			if looked.Overlaps(p.inPlace(rule.Rule.Key, d)) {
				incidentalDomains[i][d] = true
				more = more || !s.problem.Rules[low].Counted[d]
			}
		}
	}
	return incidentalDomains, more
}

// withoutIncidentalDomains returns the hints for a try in which new nodes keep out of
// domains that they would only bring along, if some pods are kept from all cells
// and there are any. It returns nil if there are none.
func (s *attempt) withoutIncidentalDomains(p *Problem) *hints {
	if s.incidentalDomains == nil || !s.blocks() {
		return nil
	}
	plain := *s
	plain.incidentalDomains = nil
	rules := plain.state(p).Rules
	kept := bitset.New(p.admission.domains.total)
	kept.AddRange(0, p.admission.domains.total)
	for low, i := range s.spreads(p) {
		rule := &p.rules.domain[i]
		looked := p.lookedAt(rule, false)
		for d, incidental := range s.incidentalDomains[i] {
			if incidental && !rules[low].Counted[d] {
				brings := looked.Clone()
				brings.And(p.inPlace(rule.Rule.Key, d))
				kept.AndNot(brings)
			}
		}
	}
	if kept.Len() == p.admission.domains.total {
		return nil
	}
	out := s.again()
	out.relaxed, out.kept = s.relaxed, kept
	return &out
}

// spreads maps the numbers of spread rules in the assignment to those of the
// domain rules.
func (s *attempt) spreads(p *Problem) map[int]int {
	out := map[int]int{}
	number := 0
	for i := range p.rules.domain {
		if p.rules.domain[i].Rule.Key < 0 {
			continue
		}
		if p.rules.domain[i].Kind == topology.Spread {
			out[number] = i
		}
		number++
	}
	return out
}

// inPlace returns the options that may be in a domain.
func (p *Problem) inPlace(key, domain int) bitset.Set { return p.finder.inPlace[key][domain] }

// lookedAt returns the options whose nodes a spread rule may look at, or is
// certain to. The result must not be changed.
func (p *Problem) lookedAt(rule *domainRule, certain bool) bitset.Set {
	a := p.admission
	id := looksKey{a.asks[rule.like], rule.term.honorAffinity, rule.term.honorTaint, strings.Join(rule.spans, "\x00"), certain}
	a.mu.Lock()
	known, ok := a.looks[id]
	a.mu.Unlock()
	if !ok {
		known = p.looksOf(rule, certain)
		a.mu.Lock()
		a.looks[id] = known
		a.mu.Unlock()
	}
	return known
}

func (p *Problem) looksOf(rule *domainRule, certain bool) bitset.Set {
	like := &p.classes[rule.like]
	out := bitset.New(p.admission.domains.total)
	for _, alt := range like.asked {
		asked := *like
		if !rule.term.honorTaint {
			asked.tolerations = tolerateAll
		}
		if !rule.term.honorAffinity {
			alt = requirements.Alternative{}
		}
		if admitsNewNode(alt) {
			p.admission.addMatching(out, &asked, alt, certain)
		}
	}
	for _, key := range rule.spans {
		out.And(p.finder.admitting(requirements.Exists(p.vocabulary.NormalizeKey(key))))
	}
	return out
}
