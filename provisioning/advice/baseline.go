package advice

import (
	"context"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// baseline is the unchanged input, solved either thoroughly or quickly.
type baseline struct {
	options  *provisioning.Options
	problem  *provisioning.Problem
	plan     *provisioning.Plan
	unplaced map[string]bool
}

func (a *asker) baseline(ctx context.Context, quick bool) (*baseline, error) {
	var o provisioning.Options
	if a.opts.Provisioning != nil {
		o = *a.opts.Provisioning
	}
	o.Quick = o.Quick || quick
	b := &baseline{options: &o}
	var err error
	if b.problem, err = provisioning.Prepare(a.in, b.options); err != nil {
		return nil, err
	}
	if b.plan, err = b.problem.Solve(progress.With(ctx, nil)); err != nil {
		return nil, err
	}
	a.report.Steps += len(a.in.Pods) + b.plan.Stats.Steps
	b.unplaced = unplaced(b.plan)
	return b, nil
}

// spent reports whether that many tenths of Options.MaxSteps are used up.
func (a *asker) spent(tenths int) bool { return a.report.Steps >= a.opts.MaxSteps*tenths/10 }

// unplaced returns the unplaced pods.
func unplaced(plan *provisioning.Plan) map[string]bool {
	out := make(map[string]bool, len(plan.Unplaced))
	for _, u := range plan.Unplaced {
		out[nameOf(u.Pod).String()] = true
	}
	return out
}

// answer is the result of a question. Its lost is empty if no pod loses its place.
type answer struct {
	Price
	lost  bool
	steps int
	err   error
}

// price solves the input without some constraints.
func (b *baseline) price(ctx context.Context, in provisioning.Input, list []Constraint) (out answer) {
	problem, err := b.without(in, list)
	if err != nil {
		return answer{err: err}
	}
	plan, err := problem.Solve(progress.With(ctx, nil))
	if err != nil {
		return answer{err: err}
	}
	out.Constraints, out.steps = list, len(in.Pods)+plan.Stats.Steps
	still := unplaced(plan)
	for name := range still { // as a set: the order does not matter
		if !b.unplaced[name] {
			out.lost = true
			return out
		}
	}
	out.Price = Price{Constraints: list, Cost: plan.Cost, Nodes: len(plan.Create), Saves: b.plan.Cost - plan.Cost,
		AtLeast: b.plan.LowerBound - plan.Cost, AtMost: b.plan.Cost - plan.LowerBound}
	for name := range b.unplaced { // sorted below
		if !still[name] {
			out.Placed = append(out.Placed, name)
		}
	}
	slices.Sort(out.Placed)
	return out
}

// questions are asked in order.
type questions struct {
	of   *baseline
	list [][]Constraint
	// want reports whether question i is still needed when its turn comes; otherwise it is skipped.
	// Once false it stays false.
	want func(i int) bool
	skip func(i int)
	take func(i int, a answer)
}

// each answers questions, Options.Parallel at a time. The result is the same as for one after the
// other: if want is false when the turn of a question comes, its answer is dropped.
func (a *asker) each(ctx context.Context, q questions) error {
	for next := 0; next < len(q.list); {
		var turn []int
		for ; next < len(q.list) && len(turn) < a.opts.Parallel; next++ {
			if q.want(next) {
				turn = append(turn, next)
			} else {
				q.skip(next)
			}
		}
		answers := make([]answer, len(turn))
		parallel.Each(len(turn), len(turn), func(k int) { answers[k] = q.of.price(ctx, a.in, q.list[turn[k]]) })
		for k, i := range turn {
			switch {
			case answers[k].err != nil:
				return answers[k].err
			case k > 0 && !q.want(i):
				q.skip(i)
			default:
				a.report.Steps += answers[k].steps
				q.take(i, answers[k])
				a.tell(ctx)
			}
		}
	}
	return nil
}

// tell reports the progress.
func (a *asker) tell(ctx context.Context) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: "advice.Ask", Stage: "questions", Done: a.report.Steps, Total: a.opts.MaxSteps, Unit: "steps",
			Detail: fmt.Sprintf("%d constraints cost something", len(a.report.Prices))})
	}
}

// without prepares the problem without some constraints.
func (b *baseline) without(in provisioning.Input, list []Constraint) (*provisioning.Problem, error) {
	pools, pods := false, false
	for _, c := range list {
		in = c.Without(in)
		pools, pods = pools || c.pool != "", pods || c.pool == ""
	}
	switch {
	case pools && pods:
		return b.problem.WithInput(in)
	case pools:
		return b.problem.WithPools(in.NodePools, in.InstanceTypes)
	}
	return b.problem.WithNodes(in.Nodes, in.Pods)
}
