package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/explain"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// diagnosis finds the constraints between pods that exclude pods of a class from places with room.
type diagnosis struct {
	p      *compile.Problem
	ledger *ledger.Ledger
	within []bitset.Set // by pool: the options within its limits
}

// because explains why pods of a class are unplaced. planned is, by pool, what the new nodes use of
// each limit.
func (a *assembler) because(c int, planned [][]int64) *model.Reason {
	if d := &a.p.Rules.ByClass[c]; a.p.Classes[c].Refusal != nil || len(d.Owns)+len(d.Joins)+len(d.With) == 0 {
		return explain.Explain(a.p, c, false, nil, planned)
	}
	if a.causes == nil {
		a.causes = &diagnosis{p: a.p, ledger: ledger.New(a.p, a.then.Bins())}
		for i := range a.p.LowPools {
			a.causes.within = append(a.causes.within, a.p.WithinLimits(i, planned[i]))
		}
	}
	return a.causes.because(c, planned)
}

// because explains why pods of a class are unplaced. It names a constraint only if the constraint
// excludes them from a place with room. A constraint without which there would be a place takes
// precedence.
func (d *diagnosis) because(c int, planned [][]int64) *model.Reason {
	p := d.p
	room := d.roomIn(c, nil, nil)
	if !room {
		return explain.Explain(p, c, false, nil, planned)
	}
	of := &p.Rules.ByClass[c]
	rules, keys := slices.Concat(of.Owns, of.Joins), p.Table.Numbers(of.Spans)
	alone, any := make([]int, len(rules)), make([]int, len(rules))
	for _, cell := range p.Cells[c] {
		var shut []int
		for i, r := range rules {
			if !d.ruleAdmits(c, r, i < len(of.Owns), keys, cell.At) {
				shut = append(shut, i)
			}
		}
		if len(shut) == 0 || !d.roomIn(c, keys, cell.At) {
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

// roomIn says whether a pod of a class has room in a cell, or anywhere if keys is nil: on an
// existing node, on a node of the plan or on a node of its own.
func (d *diagnosis) roomIn(c int, keys, at []int) bool {
	p := d.p
	pin := requirements.Set{}
	if keys != nil {
		pin = attempt.PinOf(p, keys, at)
	}
	class, item := attempt.Lower(p.Admission, c, pin)
	for _, s := range d.ledger.Bins {
		if s.Node >= 0 {
			if n := &p.Nodes[s.Node]; (keys == nil || compile.IsAt(n, keys, at)) && compile.Within(p.OfResources(p.Takes(c, s.Attached)), s.Free) && p.Admits(c, n) {
				return true
			}
			continue
		}
		sum, ok := attempt.Together(p.OfResources(s.Taken), p.OfResources(p.Takes(c, s.Attached)))
		for i, v := range class.Variants {
			trait, merge := p.Traits.Merge(s.BinType.Pool, s.BinType.Trait, v.Trait)
			if !ok || !merge || s.BinType.Asked.Intersect(item.Sources[i]).Impossible() {
				continue
			}
			options := ledger.Holding(p, s.BinType.Pool, s.BinType.Options.Both(v.Options), sum)
			if !options.Empty() && d.chooses(s.BinType.Pool, options, trait) {
				return true
			}
		}
	}
	for i, v := range class.Variants {
		for pool := range p.Pools {
			options := d.within[pool].Both(v.Options)
			if !options.Empty() && d.chooses(pool, options, v.Trait) && !p.Pools[pool].Template.Intersect(item.Sources[i]).Impossible() {
				return true
			}
		}
	}
	return false
}

// chooses says whether some options have as many values as the minValues of their pool require.
func (d *diagnosis) chooses(pool int, options bitset.Set, trait int32) bool {
	return d.p.Opts.MinValues == model.BestEffort || d.p.Choice(pool, options, trait)
}
