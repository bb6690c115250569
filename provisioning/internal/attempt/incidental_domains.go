package attempt

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// findIncidentalDomains looks for domains that the new nodes of a packing may bring along.
// A spread may not have counted one, as its own pods cannot go there, for lack
// of room or for a taint; but kube-scheduler takes an empty domain for one to be
// filled. It returns the domains of all new nodes so far, and whether any was
// not counted.
func (s *Attempt) findIncidentalDomains(p *compile.Problem, r *pack.Result) (incidentalDomains [][]bool, more bool) {
	incidentalDomains = make([][]bool, len(p.Rules.Domain))
	rules := s.spreads(p)
	for i := range incidentalDomains {
		if s.IncidentalDomains != nil {
			incidentalDomains[i] = slices.Clone(s.IncidentalDomains[i])
		} else if k := p.Rules.Domain[i].Rule.Key; k >= 0 {
			incidentalDomains[i] = make([]bool, len(p.Table.Values[k]))
		}
	}
	if len(rules) == 0 || len(r.New) == 0 {
		return incidentalDomains, false
	}
	used := bitset.New(p.Admission.Domains.Total)
	for i := range r.New {
		used.Or(r.New[i].Options)
	}
	for low, i := range rules {
		rule := &p.Rules.Domain[i]
		looked := used.Both(p.LookedAt(rule, false))
		for d := range incidentalDomains[i] {
			if looked.Overlaps(p.InPlace(rule.Rule.Key, d)) {
				incidentalDomains[i][d] = true
				more = more || !s.Problem.Rules[low].Counted[d]
			}
		}
	}
	return incidentalDomains, more
}

// spreads maps the numbers of spread rules in the assignment to those of the
// domain rules.
func (s *Attempt) spreads(p *compile.Problem) map[int]int {
	out := map[int]int{}
	number := 0
	for i := range p.Rules.Domain {
		if p.Rules.Domain[i].Rule.Key < 0 {
			continue
		}
		if p.Rules.Domain[i].Kind == topology.Spread {
			out[number] = i
		}
		number++
	}
	return out
}
