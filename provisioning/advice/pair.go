package advice

import (
	"cmp"
	"context"
	"slices"
)

// Pairs are looked for among the constraints that have most pods, and pools first.
const (
	pairedMost = 24 // constraints among which pairs are looked for
	pairedLast = 6  // of them those of which every pair is asked about
	putBack    = 6  // that are put back at once
)

// askPairs looks for constraints that cost nothing by themselves and something together.
// Without all of them the bill says whether there is anything to find; without all but one,
// whether that one takes part in it. Pairs of those that do are asked about.
func (a *asker) askPairs(ctx context.Context) error {
	list := a.joint()
	if len(list) < 2 || a.spent(allTenths) {
		return nil
	}
	all, ok, err := a.price(ctx, a.quick, list...)
	if err != nil || !ok || !a.worth(all.Saves) && len(all.Placed) == 0 {
		return err
	}
	if list, err = a.involved(ctx, list, all); err != nil {
		return err
	}
	var estimates []Price
	for i, c := range list {
		for _, d := range list[i+1:] {
			if a.spent(allTenths) {
				break
			}
			pair := []Constraint{c, d}
			slices.SortFunc(pair, Constraint.Compare)
			price, ok, err := a.price(ctx, a.quick, pair...)
			if err != nil {
				return err
			}
			if ok && (a.worth(price.Saves) || len(price.Placed) > 0) {
				estimates = append(estimates, price)
			}
		}
	}
	slices.SortFunc(estimates, Price.Compare)
	for _, e := range estimates[:min(len(estimates), max(1, a.opts.Questions/pairQuestions))] {
		if a.spent(allTenths) {
			break
		}
		if err := a.askPair(ctx, e.Constraints); err != nil {
			return err
		}
	}
	slices.SortFunc(a.report.Pairs, Price.Compare)
	return nil
}

// worth tells whether a quick answer is more than the noise of quick answers.
func (a *asker) worth(saves float64) bool { return saves > noise && saves > a.report.Cost/100 }

// joint are constraints that cost nothing by themselves, those of pools first, then those
// that most pods have.
func (a *asker) joint() []Constraint {
	out := slices.Clone(a.free)
	slices.SortFunc(out, func(x, y Constraint) int {
		return cmp.Or(-compareBools(x.pool != "", y.pool != ""), cmp.Compare(y.Pods, x.Pods), x.Compare(y))
	})
	return out[:min(len(out), pairedMost)]
}

// involved are those without which less is saved, the most important first. Several are put
// back at once, and one by one only where that matters.
func (a *asker) involved(ctx context.Context, list []Constraint, all Price) ([]Constraint, error) {
	type loss struct {
		Constraint
		placed int
		saves  float64
	}
	var losses []loss
	for groups := slices.Collect(slices.Chunk(list, putBack)); len(groups) > 0 && !a.spent(allTenths); groups = groups[1:] {
		group := groups[0]
		others := slices.DeleteFunc(slices.Clone(list), func(c Constraint) bool {
			return slices.ContainsFunc(group, func(g Constraint) bool { return g.Compare(c) == 0 })
		})
		price, ok, err := a.price(ctx, a.quick, others...)
		if err != nil {
			return nil, err
		}
		l := loss{group[0], len(all.Placed) - len(price.Placed), all.Saves - price.Saves}
		switch {
		case !ok || l.placed <= 0 && !a.worth(l.saves):
		case len(group) == 1:
			losses = append(losses, l)
		default:
			groups = append(groups, group[:len(group)/2], group[len(group)/2:])
		}
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

// askPair asks about a pair thoroughly, and about each of the two.
func (a *asker) askPair(ctx context.Context, pair []Constraint) error {
	both, ok, err := a.price(ctx, a.thorough, pair...)
	if err != nil || !ok {
		return err
	}
	saves, placed := 0.0, 0
	for _, c := range pair {
		one, ok, err := a.price(ctx, a.thorough, c)
		if err != nil {
			return err
		}
		if ok {
			saves, placed = saves+max(0, one.Saves), placed+len(one.Placed)
		}
	}
	if len(both.Placed) > placed || len(both.Placed) == placed && both.Saves > saves+noise {
		a.report.Pairs = append(a.report.Pairs, both)
	}
	return nil
}
