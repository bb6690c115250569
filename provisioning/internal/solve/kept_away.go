package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/explain"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// keptAway says which constraint keeps the pods of a class that had no part in the
// search from every domain, as the plan is; nil if none does by itself.
func (a *assembler) keptAway(c int) *model.Reason {
	p := a.p
	if d := &p.Rules.Duties[c]; p.Classes[c].Refusal != nil || !p.Apart.Has(c) && !a.s.Absent[c] || len(d.Spans) == 0 {
		return nil
	}
	l, nowhere := ledger.New(p, a.st.Bins()), &ledger.Bin{Number: -1, Node: -1}
	d, keys := &p.Rules.Duties[c], p.Table.Numbers(p.Rules.Duties[c].Spans)
	for _, r := range slices.Concat(d.Owns, d.Joins) {
		rule, count := &p.Rules.Domain[r], &l.Counts[r]
		at := slices.Index(keys, rule.Rule.Key)
		own := slices.Contains(d.Owns, r)
		if at < 0 || !own && rule.Kind != topology.Apart {
			continue
		}
		open := func(cell topology.Cell) bool {
			d := cell.At[at]
			if d < 0 {
				return !own || rule.Kind == topology.Apart
			}
			return (!own || l.RuleAllows(c, r, d, nowhere)) && (rule.Kind != topology.Apart || count.Owners[d] == 0)
		}
		if !slices.ContainsFunc(p.Cells[c], open) {
			return explain.BlockedBy(p, c, rule, count.Most, count.Is)
		}
	}
	return nil
}
