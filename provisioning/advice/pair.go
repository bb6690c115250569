package advice

import (
	"cmp"
	"context"
	"slices"
)

// Pairs are looked for among the constraints that have most pods, and pools first.
const (
	pairedMost = 12 // constraints among which pairs are looked for
	pairedLast = 6  // of these, the number of constraints of which every pair is solved
)

// askPairs looks for constraints that cost nothing one by one but something together. First it
// solves without all of them, which shows whether there is anything to find. Then it restores one
// at a time, which shows whether that one contributes. Pairs of those that contribute are tested.
func (a *asker) askPairs(ctx context.Context) error {
	list := a.joint()
	if len(list) < 2 || a.spent(allTenths) {
		return nil
	}
	all := a.quick.price(ctx, a.in, list)
	a.report.Steps += all.steps
	if all.err != nil || all.lost || !a.worth(all.Saves) && len(all.Placed) == 0 {
		return all.err
	}
	list, err := a.involved(ctx, list, all.Price)
	if err != nil {
		return err
	}
	estimates, err := a.estimatePairs(ctx, list)
	if err != nil {
		return err
	}
	return a.confirmPairs(ctx, estimates[:min(len(estimates), max(1, a.opts.Questions/pairQuestions))])
}

// estimatePairs solves without each pair quickly, and sorts those that save something.
func (a *asker) estimatePairs(ctx context.Context, list []Constraint) (out []Price, err error) {
	q := questions{of: a.quick, want: func(int) bool { return !a.spent(allTenths) }, skip: func(int) {},
		take: func(_ int, x answer) {
			if !x.lost && (a.worth(x.Saves) || len(x.Placed) > 0) {
				out = append(out, x.Price)
			}
		}}
	for i, c := range list {
		for _, d := range list[i+1:] {
			pair := []Constraint{c, d}
			slices.SortFunc(pair, Constraint.Compare)
			q.list = append(q.list, pair)
		}
	}
	err = a.each(ctx, q)
	slices.SortFunc(out, Price.Compare)
	return out, err
}

// worth reports whether the savings of a quick answer are above its error, 1 % of the bill.
func (a *asker) worth(saves float64) bool { return saves > noise && saves > a.report.Cost/100 }

// joint returns constraints that cost nothing one by one: first those of pools, then those of the
// most pods.
func (a *asker) joint() []Constraint {
	out := slices.Clone(a.free)
	slices.SortFunc(out, func(x, y Constraint) int {
		return cmp.Or(poolsFirst(x, y), cmp.Compare(y.Pods, x.Pods), x.Compare(y))
	})
	return out[:min(len(out), pairedMost)]
}

// involved returns the constraints that contribute to the savings, those that contribute most
// first: it puts each back alone, and compares the savings that are left.
func (a *asker) involved(ctx context.Context, list []Constraint, all Price) ([]Constraint, error) {
	type loss struct {
		Constraint
		placed int
		saves  float64
	}
	var losses []loss
	q := questions{of: a.quick, want: func(int) bool { return !a.spent(allTenths) }, skip: func(int) {},
		take: func(i int, x answer) {
			l := loss{list[i], len(all.Placed) - len(x.Placed), all.Saves - x.Saves}
			if !x.lost && (l.placed > 0 || a.worth(l.saves)) {
				losses = append(losses, l)
			}
		}}
	for i := range list {
		q.list = append(q.list, slices.Delete(slices.Clone(list), i, i+1))
	}
	if err := a.each(ctx, q); err != nil {
		return nil, err
	}
	slices.SortFunc(losses, func(x, y loss) int {
		return cmp.Or(cmp.Compare(y.placed, x.placed), cmp.Compare(y.saves, x.saves), x.Compare(y.Constraint))
	})
	var out []Constraint
	for _, l := range losses[:min(len(losses), pairedLast)] {
		out = append(out, l.Constraint)
	}
	return out, nil
}

// confirmPairs solves pairs thoroughly. For a pair that saves something it also solves without each
// of the two, unless that is known.
func (a *asker) confirmPairs(ctx context.Context, estimates []Price) error {
	thorough := func(list [][]Constraint, take func(int, answer)) error {
		return a.each(ctx, questions{of: a.thorough, list: list, want: func(int) bool { return !a.spent(allTenths) }, skip: func(int) {}, take: take})
	}
	var pairs [][]Constraint
	for _, e := range estimates {
		pairs = append(pairs, e.Constraints)
	}
	var paying []Price
	var alone [][]Constraint
	if err := thorough(pairs, func(_ int, both answer) {
		if both.lost || !both.pays() {
			return
		}
		paying = append(paying, both.Price)
		for _, c := range both.Constraints {
			same := func(list []Constraint) bool { return list[0].Compare(c) == 0 }
			if _, known := a.alone(c); !known && !slices.ContainsFunc(alone, same) {
				alone = append(alone, []Constraint{c})
			}
		}
	}); err != nil {
		return err
	}
	if err := thorough(alone, func(_ int, x answer) { a.answers = append(a.answers, x) }); err != nil {
		return err
	}
	for _, both := range paying {
		if a.together(both) {
			a.report.Pairs = append(a.report.Pairs, both)
		}
	}
	slices.SortFunc(a.report.Pairs, Price.Compare)
	return nil
}

// alone returns the thorough answer about one constraint.
func (a *asker) alone(c Constraint) (answer, bool) {
	i := slices.IndexFunc(a.answers, func(x answer) bool { return x.Constraints[0].Compare(c) == 0 })
	if i < 0 {
		return answer{}, false
	}
	return a.answers[i], true
}

// together reports whether a pair is known to save more than its two constraints one by one.
func (a *asker) together(both Price) bool {
	saves, placed := 0.0, 0
	for _, c := range both.Constraints {
		one, known := a.alone(c)
		if !known {
			return false // the steps are used up
		}
		saves, placed = saves+max(0, one.Saves), placed+len(one.Placed)
	}
	return len(both.Placed) > placed || len(both.Placed) == placed && both.Saves > saves+noise
}
