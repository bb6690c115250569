package repair

import (
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// SoftCounts counts the pods of a plan by domain, for soft constraints over other labels than the
// hostname. A node whose domain is not certain counts nowhere.
type SoftCounts struct {
	p      *compile.Problem
	byRule []map[int]int // by domain rule: by domain, the number of pods
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

// Pods returns how many pods of the plan a rule counts in a domain.
func (m *SoftCounts) Pods(rule, domain int) int { return m.byRule[rule][domain] }

// Domains returns, by domain, how many pods of the plan a rule counts. The result must not be
// changed.
func (m *SoftCounts) Domains(rule int) map[int]int { return m.byRule[rule] }

// add counts n pods of a class on a bin.
func (m *SoftCounts) add(c, n int, s *ledger.Bin) {
	if m.p.Classes[c].Headroom {
		return
	}
	for _, r := range m.p.Rules.ByClass[c].Joins {
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
