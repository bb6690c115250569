package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// BudgetPrice is the saving that one disruption budget delays at an instant.
type BudgetPrice struct {
	// NodePool has the budget at this Index of spec.disruption.budgets.
	NodePool string
	Index    int
	Budget   v1.Budget
	// Saves is how much less the managed nodes would cost after the actions that may begin now, if
	// the budget allowed all nodes, in USD per hour. It is above zero.
	Saves float64
	// Actions is how many more actions may begin then; it may be below zero, because one action
	// with several nodes may replace others.
	Actions int
}

// Compare orders prices: the largest saving first, then by pool and index. No two of one cluster
// are equal.
func (p BudgetPrice) Compare(other BudgetPrice) int {
	return cmp.Or(cmp.Compare(other.Saves, p.Saves), cmp.Compare(p.NodePool, other.NodePool), cmp.Compare(p.Index, other.Index))
}

// String returns the price in one line, such as "NodePool general: budget nodes=10%: it holds up
// 0.4100 USD/h".
func (p BudgetPrice) String() string {
	if p.NodePool == "" {
		return "no budget"
	}
	return fmt.Sprintf("NodePool %s: budget %s: it holds up %.4f USD/h", p.NodePool, budgetText(p.Budget), p.Saves)
}

// Budgets returns the saving that each disruption budget of the NodePools delays at an instant,
// sorted by BudgetPrice.Compare. For every budget of a pool with a node that waits, or is not
// disrupted, because of budgets, disruption.Propose is called again with a budget of 100% instead.
// A budget that delays nothing is not listed, nor one that another budget makes irrelevant. The
// saving is only delayed and not lost.
//
// The error is that of ctx; objects with faults are not disrupted, as by disruption.Propose. It
// takes the time of one proposal for each such budget, and one more.
func Budgets(ctx context.Context, now time.Time, s Side) ([]BudgetPrice, error) {
	in := s.Input
	asked := 0
	tell := func() {
		progress.Report(ctx, progress.Event{Work: "compare.Budgets", Stage: "proposals", Done: asked, Unit: "asked for"})
		asked++
	}
	tell()
	base, _, err := disruption.Propose(progress.With(ctx, nil), now, in, s.Options)
	if err != nil {
		return nil, err
	}
	in.CatalogCache = base.CatalogCache
	var out []BudgetPrice
	for i, pool := range in.NodePools {
		if pool == nil || !heldUp(base, pool.Name) {
			continue
		}
		for k, b := range pool.Spec.Disruption.Budgets {
			open := pool.DeepCopy()
			open.Spec.Disruption.Budgets[k].Nodes = "100%"
			without := in
			without.NodePools = slices.Clone(in.NodePools)
			without.NodePools[i] = open
			tell()
			p, _, err := disruption.Propose(progress.With(ctx, nil), now, without, s.Options)
			if err != nil {
				return nil, err
			}
			if saves := base.CostAfter - p.CostAfter; saves > tiny {
				out = append(out, BudgetPrice{NodePool: pool.Name, Index: k, Budget: b, Saves: saves, Actions: len(p.Actions) - len(base.Actions)})
			}
		}
	}
	slices.SortFunc(out, BudgetPrice.Compare)
	return out, nil
}

// heldUp reports whether a node of a pool waits, or is not disrupted, because of a budget.
func heldUp(p *disruption.Proposal, pool string) bool {
	of := func(t disruption.Target) bool { return t.NodePool == pool }
	return slices.ContainsFunc(p.Waiting, func(w disruption.Waiting) bool { return slices.ContainsFunc(w.Targets, of) }) ||
		slices.ContainsFunc(p.Blocked, func(b disruption.Blocked) bool { return b.Code == disruption.CodeBudget && of(b.Target) })
}

// budgetText returns a budget in one line.
func budgetText(b v1.Budget) string {
	text := "nodes=" + b.Nodes
	if b.Reasons != nil {
		var reasons []string
		for _, r := range b.Reasons {
			reasons = append(reasons, string(r))
		}
		text += " for [" + strings.Join(reasons, ", ") + "]"
	}
	if b.Schedule != nil {
		text += fmt.Sprintf(" at %q", *b.Schedule)
	}
	if b.Duration != nil {
		text += " of " + words.Span(b.Duration.Duration)
	}
	return text
}
