package provisioning

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// blocked says which constraint between pods keeps pods of a class from every
// domain, nil if none does.
func (p *Problem) blocked(c int, s *attempt, sealed *admittedCounts) *Reason {
	for place := range s.units {
		if !slices.ContainsFunc(s.units[place].members, func(m bundled) bool { return m.class == c }) {
			continue
		}
		for _, run := range []*topology.Result{s.assigned, sealed.proof} {
			if run.Blocked[place] == 0 {
				continue
			}
			r := run.By[place]
			if owns := s.problem.Classes[place].Owns; r < 0 && len(owns) > 0 {
				r = owns[0].Rule // its cells are full, and it may not go elsewhere
			}
			if r < 0 {
				r = s.keptAwayBy(place)
			}
			if r >= 0 {
				return p.blockedBy(c, s.ruleAt(p, r), run.Members[r], s.problem.Rules[r].Counted)
			}
		}
	}
	return nil
}

// keptAwayBy returns an anti-affinity of other pods that a unit must mind, -1 if
// there is none.
func (s *attempt) keptAwayBy(unit int) int {
	for _, j := range s.problem.Classes[unit].Joins {
		if s.problem.Rules[j.Rule].Kind == topology.Apart {
			return j.Rule
		}
	}
	return -1
}

// ruleAt returns the rule that the assignment knows by a number.
func (s *attempt) ruleAt(p *Problem, number int) *domainRule {
	for i := range p.rules.domain {
		if p.rules.domain[i].Rule.Key < 0 {
			continue
		}
		if number == 0 {
			return &p.rules.domain[i]
		}
		number--
	}
	return nil
}

func (p *Problem) blockedBy(c int, rule *domainRule, members []int, counted []bool) *Reason {
	if r := p.sharedVolume([]term{rule.term}); r != nil {
		return r
	}
	counts := p.counts(rule, members, counted)
	switch rule.Kind {
	case topology.Spread:
		return &Reason{Cause: CauseSpread, Detail: fmt.Sprintf(
			"its topology spread constraint over %s with maxSkew %d lets it only %s; matching pods by value: %s",
			rule.key, rule.Skew, p.leastFilled(c, rule, members, counted), counts)}
	case topology.Together:
		return &Reason{Cause: CauseAffinity, Detail: fmt.Sprintf(
			"its required pod affinity over %s lets it only where matching pods are, and there it finds no room; matching pods by value: %s",
			rule.key, counts)}
	}
	for _, own := range p.rules.duties[c].owns {
		if &p.rules.domain[own] == rule {
			return &Reason{Cause: CauseAntiAffinity, Detail: fmt.Sprintf(
				"its required pod anti-affinity over %s keeps it from every value with room; matching pods by value: %s", rule.key, counts)}
		}
	}
	return &Reason{Cause: CauseAntiAffinity, Detail: fmt.Sprintf(
		"the required anti-affinity over %s of pods that match it keeps it from every value with room", rule.key)}
}

// leastFilled says where a spread lets one pod more of a class, which it may not
// count, and that it finds no room there.
func (p *Problem) leastFilled(c int, rule *domainRule, members []int, counted []bool) string {
	least, domains, own := math.MaxInt, 0, 0
	if p.classes[c].selected.Has(rule.pods) {
		own = 1
	}
	for d, n := range members {
		if rule.Counted[d] || counted[d] {
			least, domains = min(least, n), domains+1
		}
	}
	short := ""
	if domains < rule.MinDomains {
		least = 0
		short = fmt.Sprintf(" (minDomains is %d, and there are %d values)", rule.MinDomains, domains)
	}
	var open []string
	for d, n := range members {
		if (rule.Counted[d] || counted[d]) && n+own-least <= rule.Skew {
			open = append(open, p.table.values[rule.Rule.Key][d])
		}
	}
	if len(open) == 0 || len(open) > 4 {
		return "where there is no room" + short
	}
	return fmt.Sprintf("into %s, where it finds no room%s", strings.Join(open, ", "), short)
}

// counts lists how many members each domain of a rule has.
func (p *Problem) counts(rule *domainRule, members []int, counted []bool) string {
	const most = 12
	var out []string
	for d, value := range p.table.values[rule.Rule.Key] {
		if members[d] == 0 && !rule.Counted[d] && !counted[d] {
			continue
		}
		if len(out) == most {
			out = append(out, fmt.Sprintf("and %d more", len(members)-most))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", value, members[d]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
