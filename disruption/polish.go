package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// evictionWeight breaks ties in favour of fewer evictions: it is too small to
// weigh against money.
func (s *search) evictionWeight() float64 { return max(s.f.opts.DisruptionPrice, 1e-7) }

// worthDoing are the parts that are, and what they gain together.
func worthDoing(parts []*part, eviction float64) (good []*part, gain float64) {
	for _, pt := range parts {
		if pt.verdict.bad() {
			continue
		}
		good = append(good, pt)
		gain += pt.saving
		for _, m := range pt.targets {
			gain -= eviction * (oneEviction + m.cost).float()
		}
	}
	return good, gain
}

// allowed reports whether budgets let some nodes go together. It notes the reason
// for a node that may not go even alone.
func (s *search) allowed(targets []*member) bool {
	var taken []*member
	ok := true
	for _, m := range targets {
		v := s.quota.take(m)
		if v.bad() {
			ok = false
			if len(targets) == 1 {
				s.reasons[m.name] = v
			}
			break
		}
		taken = append(taken, m)
	}
	for _, m := range taken {
		s.quota.back(m)
	}
	return ok
}

// polish tries nodes one by one, and sets of neighbours, where the estimate says
// that it may save something. It ends when several in a row were not worth doing.
func (s *search) polish(ctx context.Context) error {
	for _, list := range s.promising() {
		failed := 0
		for _, set := range list {
			set = slices.DeleteFunc(set, func(m *member) bool { return !s.mayGo(m) })
			key := setKey(set)
			if len(set) == 0 || s.vain[key] || !s.allowed(set) {
				continue
			}
			s.vain[key] = true
			if s.spent() {
				return nil
			}
			accepted, found := len(s.parts), s.found()
			if _, err := s.try(ctx, set); err != nil {
				return err
			}
			for _, pt := range s.parts[accepted:] {
				for _, m := range pt.targets {
					s.quota.take(m)
				}
			}
			if failed++; s.found() > found {
				failed = 0
			}
			if failed == mostFailures || s.found()-s.before >= maxPolished {
				break
			}
		}
	}
	return nil
}

// mostFailures is how many sets in a row may be tried in vain.
const mostFailures = 4

// setKey is the same for the same nodes.
func setKey(set []*member) string {
	names := make([]string, len(set))
	for i, m := range set {
		names[i] = m.name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// maxPolished is how many actions are found that way before the estimate is made
// anew.
const maxPolished = 8

// attempt is a set of nodes and what removing it may gain.
type attempt struct {
	set  []*member
	gain float64
}

// promising lists sets of nodes to try, the most promising first: single nodes,
// and runs of two to four nodes of a pool that are the emptiest for what they
// cost.
func (s *search) promising() [2][][]*member {
	open := s.open()
	var singles, runs []attempt
	byPool := map[string][]*member{}
	for _, m := range open {
		byPool[m.poolName] = append(byPool[m.poolName], m)
		if a, ok := s.weigh([]*member{m}); ok {
			singles = append(singles, a)
		}
	}
	for _, pool := range s.f.poolNames {
		list := byPool[pool]
		waste := map[*member]float64{}
		for _, m := range list {
			waste[m] = s.e.supplier(m, 0).waste
		}
		slices.SortFunc(list, func(a, b *member) int {
			return cmp.Or(cmp.Compare(waste[b], waste[a]), strings.Compare(a.name, b.name))
		})
		for size := 2; size <= longestRun; size++ {
			for i := 0; i+size <= len(list); i++ {
				if a, ok := s.weigh(slices.Clone(list[i : i+size])); ok {
					runs = append(runs, a)
				}
			}
		}
	}
	order := func(a, b attempt) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), strings.Compare(a.set[0].name, b.set[0].name), cmp.Compare(len(a.set), len(b.set)))
	}
	slices.SortFunc(singles, order)
	slices.SortFunc(runs, order)
	var out [2][][]*member
	most := min(max(fewestTries, manyTries/len(s.f.members)), len(singles)+len(runs))
	singles = singles[:min(len(singles), max(most/2, most-len(runs)))]
	runs = runs[:min(len(runs), most-len(singles))]
	for i, list := range [][]attempt{singles, runs} {
		for _, a := range list {
			out[i] = append(out[i], a.set)
		}
	}
	return out
}

// Bounds of what is tried that way.
const (
	longestRun  = 4
	fewestTries = 8
	manyTries   = 1200 // over the number of nodes: each try reads all of them
)

// New nodes cost more than the floor, as they come in sizes: roundedUp as a rule, and
// hardly ever less than roundedLeast. Of single nodes even the unlikely is tried.
const (
	roundedUp    = 1.3
	roundedLeast = 1.05
)

// weigh estimates what removing some nodes may gain, and reports false if it
// cannot be worth doing.
func (s *search) weigh(set []*member) (attempt, bool) {
	o := s.outcome(set)
	if len(set) > 1 {
		o.Floor *= roundedUp
	} else {
		o.Floor *= roundedLeast
	}
	gain := o.Saving() - s.f.required(set, s.totals)
	if gain <= priceSlack {
		return attempt{}, false
	}
	units := 0.0
	for _, m := range set {
		units += (oneEviction + m.cost).float()
	}
	return attempt{set: set, gain: gain / units}, true
}

// outcome estimates what becomes of the pods of some nodes, with a floor that is
// higher than that of the prices of resources alone.
func (s *search) outcome(set []*member) screen.Outcome { return s.outcomeBy(s.e, set) }

func (s *search) outcomeBy(e *estimate, set []*member) screen.Outcome {
	o := e.remove(set...)
	if o.Floor < o.Price && o.Left > 0 {
		steady := s.f.opts.NoSpotToSpot && !slices.ContainsFunc(set, func(m *member) bool {
			return m.labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot
		})
		o.Floor = max(o.Floor, e.atLeast(o.Rest, steady))
	}
	return o
}

// remove estimates what becomes of the pods of some nodes.
func (e *estimate) remove(set ...*member) screen.Outcome {
	numbers := make([]int, len(set))
	for i, m := range set {
		numbers[i] = e.at[m.name]
		e.w.stats.Steps += len(e.cluster.Nodes[numbers[i]].Pods)
	}
	e.w.stats.WhatIfs++
	return e.estimator.RemoveWith(e.swaps(set), numbers...)
}
