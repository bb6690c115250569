package repair

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// SoftCounts counts the pods of a plan for soft constraints over other labels than the name of
// the node, by domain. A node of which it is open in which domain it is counts nowhere.
type SoftCounts struct {
	p      *compile.Problem
	byRule []map[int]int // by domain rule, and domain
}

// NewSoftCounts counts the pods on some bins.
func NewSoftCounts(p *compile.Problem, bins []*ledger.Bin) *SoftCounts {
	m := &SoftCounts{p, make([]map[int]int, len(p.Rules.Domain))}
	for _, s := range bins {
		for _, on := range s.Pods {
			m.add(on.Class, on.Count, s)
		}
	}
	return m
}

// Pods is how many pods of the plan a rule counts in a domain.
func (m *SoftCounts) Pods(rule, domain int) int { return m.byRule[rule][domain] }

// Domains are the domains in which a rule counts pods of the plan, with how many.
func (m *SoftCounts) Domains(rule int) map[int]int { return m.byRule[rule] }

// add counts n pods of a class on a bin.
func (m *SoftCounts) add(c, n int, s *ledger.Bin) {
	if m.p.Classes[c].Headroom {
		return
	}
	for _, r := range m.p.Rules.Duties[c].Joins {
		rule := &m.p.Rules.Domain[r]
		if rule.Term.Weight == 0 || rule.Rule.Key < 0 {
			continue
		}
		if d, sure := s.At[rule.Rule.Key].Sure(); sure && m.looksAt(rule, s) {
			if m.byRule[r] == nil {
				m.byRule[r] = map[int]int{}
			}
			m.byRule[r][d] += n
		}
	}
}

// looksAt says whether a rule counts the pods of a bin.
func (m *SoftCounts) looksAt(rule *compile.DomainRule, s *ledger.Bin) bool {
	switch {
	case rule.Kind != topology.Spread:
		return true
	case s.Node >= 0:
		return m.p.LooksAt(rule, &m.p.Nodes[s.Node])
	}
	return ledger.LooksAtBinType(m.p, rule, s.BinType).Sure
}
