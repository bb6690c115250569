package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/explain"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/repair"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// diagnosis finds the constraints between pods that exclude pods of a class from places with room.
type diagnosis struct {
	p      *compile.Problem
	then   *repair.State // when the unplaced pods were decided
	ledger *ledger.Ledger
}

// because explains why pods of a class are unplaced. planned is, by pool, what the new nodes use of
// each limit.
func (a *assembler) because(c int, planned [][]int64) *model.Reason {
	if d := &a.p.Rules.ByClass[c]; a.p.Classes[c].Refusal != nil || len(d.Owns)+len(d.Joins)+len(d.With) == 0 {
		return explain.Explain(a.p, c, false, nil, planned)
	}
	if a.causes == nil {
		a.causes = &diagnosis{p: a.p, then: a.then, ledger: ledger.New(a.p, a.then.Bins())}
	}
	return a.causes.because(c, planned)
}

// because explains why pods of a class are unplaced. It names a constraint only if the constraint
// excludes them from a place with room. A constraint without which there would be a place takes
// precedence.
func (d *diagnosis) because(c int, planned [][]int64) *model.Reason {
	p := d.p
	if !d.then.HasPlaceWithoutRules(d.ledger, c, -1) {
		return explain.Explain(p, c, false, nil, planned)
	}
	of := &p.Rules.ByClass[c]
	rules, keys := slices.Concat(of.Owns, of.Joins), p.Table.Numbers(of.Spans)
	alone, any := make([]int, len(rules)), make([]int, len(rules))
	for at, cell := range p.Cells[c] {
		var shut []int
		for i, r := range rules {
			if !d.ruleAdmits(c, r, i < len(of.Owns), keys, cell.At) {
				shut = append(shut, i)
			}
		}
		if len(shut) == 0 || !d.then.HasPlaceWithoutRules(d.ledger, c, at) {
			continue
		}
		for _, i := range shut {
			any[i]++
		}
		if len(shut) == 1 {
			alone[shut[0]]++
		}
	}
	if len(rules) == 0 || slices.Max(any) == 0 {
		return explain.Explain(p, c, true, nil, planned)
	}
	by := alone
	if slices.Max(alone) == 0 {
		by = any
	}
	worst := slices.Index(by, slices.Max(by))
	return explain.Explain(p, c, true, d.barrier(c, rules[worst], worst < len(of.Owns), keys), planned)
}

// ruleAdmits reports whether a rule admits one more pod of a class into a cell. own says that the
// class has the rule itself.
func (d *diagnosis) ruleAdmits(c, r int, own bool, keys, cell []int) bool {
	rule := &d.p.Rules.Domain[r]
	at := slices.Index(keys, rule.Key)
	if at < 0 || !own && rule.Kind != topology.Apart {
		return true
	}
	if cell[at] < 0 {
		return rule.Kind == topology.Apart
	}
	return d.ruleAdmitsDomain(c, r, own, cell[at])
}

// ruleAdmitsDomain is ruleAdmits for a domain of the rule's own label.
func (d *diagnosis) ruleAdmitsDomain(c, r int, own bool, domain int) bool {
	nowhere := &ledger.Bin{Number: -1, Node: -1}
	return (!own || d.ledger.RuleAllows(c, r, domain, nowhere)) &&
		(d.p.Rules.Domain[r].Kind != topology.Apart || d.ledger.Counts[r].Owners[domain] == 0)
}

// barrier returns the state of a rule under the plan. Its open values are those in which nodes for
// the class, or other nodes that a spread counts, may be.
func (d *diagnosis) barrier(c, r int, own bool, keys []int) *explain.Barrier {
	p, count := d.p, &d.ledger.Counts[r]
	out := &explain.Barrier{Rule: &p.Rules.Domain[r], Members: count.Members, Domains: d.ledger.Domains(r)}
	at := slices.Index(keys, out.Rule.Key)
	reached := func(domain int) bool {
		return slices.ContainsFunc(p.Cells[c], func(cell topology.Cell) bool { return cell.At[at] == domain })
	}
	for domain := range out.Members {
		out.Counted = append(out.Counted, d.ledger.Covers(r, domain))
		if (out.Counted[domain] || reached(domain)) && d.ruleAdmitsDomain(c, r, own, domain) {
			out.Open = append(out.Open, domain)
		}
	}
	return out
}
