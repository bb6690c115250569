package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

// blocked says which constraint between pods keeps pods of a class from every
// domain, nil if none does.
func blocked(p *compile.Problem, c int, s *attempt.Attempt, sealed *attempt.AdmittedCounts) *model.Reason {
	for place := range s.Units {
		if !slices.ContainsFunc(s.Units[place].Members, func(m attempt.Bundled) bool { return m.Class == c }) {
			continue
		}
		for _, run := range []*topology.Result{s.Assigned, sealed.Proof} {
			if run.Blocked[place] == 0 {
				continue
			}
			r := run.By[place]
			if owns := s.Problem.Classes[place].Owns; r < 0 && len(owns) > 0 {
				r = owns[0].Rule // its cells are full, and it may not go elsewhere
			}
			if r < 0 {
				r = keptAwayBy(s, place)
			}
			if r >= 0 {
				return BlockedBy(p, c, ruleAt(s, p, r), run.Members[r], s.Problem.Rules[r].Counted)
			}
		}
	}
	return nil
}

// keptAwayBy returns an anti-affinity of other pods that a unit must mind, -1 if
// there is none.
func keptAwayBy(s *attempt.Attempt, unit int) int {
	for _, j := range s.Problem.Classes[unit].Joins {
		if s.Problem.Rules[j.Rule].Kind == topology.Apart {
			return j.Rule
		}
	}
	return -1
}

// ruleAt returns the rule that the assignment knows by a number.
func ruleAt(s *attempt.Attempt, p *compile.Problem, number int) *compile.DomainRule {
	for i := range p.Rules.Domain {
		if p.Rules.Domain[i].Rule.Key < 0 {
			continue
		}
		if number == 0 {
			return &p.Rules.Domain[i]
		}
		number--
	}
	return nil
}

// BlockedBy says how a rule keeps pods of a class away.
func BlockedBy(p *compile.Problem, c int, rule *compile.DomainRule, members []int, counted []bool) *model.Reason {
	if r := p.SharedVolume([]workload.Term{rule.Term}); r != nil {
		return r
	}
	countsOf := counts(p, rule, members, counted)
	switch rule.Kind {
	case topology.Spread:
		return &model.Reason{Cause: model.CauseSpread, Detail: fmt.Sprintf(
			"its topology spread constraint over %s with maxSkew %d lets it only %s; matching pods by value: %s",
			rule.Key, rule.Skew, leastFilled(p, c, rule, members, counted), countsOf)}
	case topology.Together:
		return &model.Reason{Cause: model.CauseAffinity, Detail: fmt.Sprintf(
			"its required pod affinity over %s lets it only where matching pods are, and there it finds no room; matching pods by value: %s",
			rule.Key, countsOf)}
	}
	for _, own := range p.Rules.Duties[c].Owns {
		if &p.Rules.Domain[own] == rule {
			return &model.Reason{Cause: model.CauseAntiAffinity, Detail: fmt.Sprintf(
				"its required pod anti-affinity over %s keeps it from every value with room; matching pods by value: %s", rule.Key, countsOf)}
		}
	}
	return &model.Reason{Cause: model.CauseAntiAffinity, Detail: fmt.Sprintf(
		"the required anti-affinity over %s of pods that match it keeps it from every value with room", rule.Key)}
}

// leastFilled says where a spread lets one pod more of a class, which it may not
// count, and that it finds no room there.
func leastFilled(p *compile.Problem, c int, rule *compile.DomainRule, members []int, counted []bool) string {
	least, domains, own := math.MaxInt, 0, 0
	if p.Classes[c].Selected.Has(rule.Pods) {
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
			open = append(open, p.Table.Values[rule.Rule.Key][d])
		}
	}
	if len(open) == 0 || len(open) > 4 {
		return "where there is no room" + short
	}
	return fmt.Sprintf("into %s, where it finds no room%s", strings.Join(open, ", "), short)
}

// counts lists how many members each domain of a rule has.
func counts(p *compile.Problem, rule *compile.DomainRule, members []int, counted []bool) string {
	const most = 12
	var out []string
	for d, value := range p.Table.Values[rule.Rule.Key] {
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
