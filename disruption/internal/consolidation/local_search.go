package consolidation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// evictionWeight breaks ties in favour of fewer evictions. It is too small to outweigh a difference
// in price.
const evictionWeight = 1e-7

// worthDoing returns the sets that are worth doing, and the sum of their gains in USD per hour.
func worthDoing(sets []*simulation.CandidateSet) (good []*simulation.CandidateSet, gain float64) {
	for _, cs := range sets {
		if cs.Outcome.Bad() {
			continue
		}
		good = append(good, cs)
		gain += cs.Saving - evictionWeight*state.DisruptionCost(cs.Targets...)
	}
	return good, gain
}

// allowed reports whether budgets allow some nodes to be removed together. If not, it records the
// reason for a single node, and a larger set for withoutBudgets.
func (s *search) allowed(targets []*state.StateNode) bool {
	v := s.quota.Refusal(targets)
	switch {
	case !v.Bad():
		return true
	case len(targets) == 1:
		s.reasons[targets[0].Name] = v
	default:
		s.refused[setKey(targets)] = targets
	}
	return false
}

// polish tries single nodes, and sets of neighbours, where the estimate promises a saving. It ends
// when several in a row were not worth doing.
func (s *search) polish(ctx context.Context) error {
	for _, list := range s.promising() {
		at := func(i int, allowed func([]*state.StateNode) bool) []*state.StateNode {
			if set := s.stillOpen(list[i]); len(set) > 0 && !s.tried[setKey(set)] && allowed(set) {
				return set
			}
			return nil
		}
		failed := 0
		for i := range list {
			set := at(i, s.allowed)
			if len(set) == 0 {
				continue
			}
			if s.spent() {
				return nil
			}
			s.expect(ctx, false, mostFailures-failed, i, len(list), at)
			s.tried[setKey(set)] = true
			accepted, found := len(s.sets), s.found()
			if _, err := s.try(ctx, set); err != nil {
				return err
			}
			for _, cs := range s.sets[accepted:] {
				for _, m := range cs.Targets {
					s.quota.Take(m)
				}
			}
			if failed++; s.found() > found {
				failed = 0
			}
			if failed == mostFailures {
				break
			}
		}
	}
	return nil
}

// stillOpen returns the nodes of a set that may still be removed.
func (s *search) stillOpen(set []*state.StateNode) []*state.StateNode {
	return slices.DeleteFunc(slices.Clone(set), func(m *state.StateNode) bool { return !s.mayGo(m) })
}

// mostFailures is the number of tries in a row that may fail.
const mostFailures = 4

// setKey returns a key that is equal for equal sets of nodes.
func setKey(set []*state.StateNode) string {
	list := names(set)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// attempt is a set of nodes with the estimated gain of removing it.
type attempt struct {
	set  []*state.StateNode
	gain float64
}

// compare sorts the attempts with the largest gain first.
func (a attempt) compare(b attempt) int {
	return cmp.Or(cmp.Compare(b.gain, a.gain), strings.Compare(a.set[0].Name, b.set[0].Name), cmp.Compare(len(a.set), len(b.set)))
}

// promising lists sets of nodes to try, the most promising first: single nodes, and runs of two to
// four nodes of a pool with the least load for their price.
func (s *search) promising() [2][][]*state.StateNode {
	open := s.open()
	var singles, runs []attempt
	byPool := map[string][]*state.StateNode{}
	for _, m := range open {
		byPool[m.PoolName] = append(byPool[m.PoolName], m)
		if a, ok := s.weigh([]*state.StateNode{m}); ok {
			singles = append(singles, a)
		}
	}
	for _, pool := range s.cluster.PoolNames {
		list := byPool[pool]
		waste := map[*state.StateNode]float64{}
		for _, m := range list {
			waste[m] = s.e.Waste(m.Name)
		}
		slices.SortFunc(list, func(a, b *state.StateNode) int {
			return cmp.Or(cmp.Compare(waste[b], waste[a]), strings.Compare(a.Name, b.Name))
		})
		for size := 2; size <= longestRun; size++ {
			for i := 0; i+size <= len(list); i++ {
				if a, ok := s.weigh(slices.Clone(list[i : i+size])); ok {
					runs = append(runs, a)
				}
			}
		}
	}
	slices.SortFunc(singles, attempt.compare)
	slices.SortFunc(runs, attempt.compare)
	var out [2][][]*state.StateNode
	most := min(max(fewestTries, manyTries/len(s.cluster.Nodes)), len(singles)+len(runs))
	singles = singles[:min(len(singles), max(most/2, most-len(runs)))]
	runs = runs[:min(len(runs), most-len(singles))]
	for i, list := range [][]attempt{singles, runs} {
		for _, a := range list {
			out[i] = append(out[i], a.set)
		}
	}
	return out
}

// Bounds of the sets that polish tries.
const (
	longestRun  = 4
	fewestTries = 8
	manyTries   = 1200 // most tries times nodes: each try reads all nodes
)

// New nodes cost more than the floor, because they come in sizes: by the factor roundedUp on
// average, and almost always by at least roundedLeast. Single nodes are tried even if a gain is
// unlikely.
const (
	roundedUp    = 1.3
	roundedLeast = 1.05
)

// weigh estimates the gain of removing some nodes. It reports false if the set cannot be worth
// doing.
func (s *search) weigh(set []*state.StateNode) (attempt, bool) {
	if len(set) > 1 {
		return s.gain(set, roundedUp)
	}
	return s.gain(set, roundedLeast)
}

// gain is weigh with the price of new nodes set to rounded times the floor.
func (s *search) gain(set []*state.StateNode, rounded float64) (attempt, bool) {
	o := s.outcome(s.e, set)
	o.Floor *= rounded
	gain := o.Saving() - s.rules.Required(set)
	if gain <= simulation.PriceSlack {
		return attempt{}, false
	}
	return attempt{set: set, gain: gain / state.DisruptionCost(set...)}, true
}

// outcome estimates where the pods of some nodes go. Its floor is higher than the one by the prices
// of resources alone, because only whole nodes can be bought.
func (s *search) outcome(e *estimate.Estimate, set []*state.StateNode) estimate.Outcome {
	o := e.Remove(s.w.Moving(set), names(set)...)
	s.w.Stats.WhatIfs++
	s.w.Stats.Steps += o.Steps
	if o.Floor < o.Price && o.Left > 0 {
		steady := s.rules.opts.NoSpotToSpot && !slices.ContainsFunc(set, func(m *state.StateNode) bool {
			return m.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot
		})
		o.Floor = max(o.Floor, e.AtLeast(o.Rest, steady))
	}
	return o
}

// refit repeats a what-if in which the engine launches nodes for at least gap times the price in
// the estimate. The engine tries each pod first on the node that the estimate chose. The engine
// chooses zones and nodes for one kind of pod after the other, and so leaves gaps. refit returns
// the better of the two answers.
func (s *search) refit(ctx context.Context, targets []*state.StateNode, sets []*simulation.CandidateSet, gap float64) ([]*simulation.CandidateSet, error) {
	if len(s.cluster.Nodes) > refitNodes || s.w.Refused != nil || s.spent() {
		return sets, nil
	}
	launched := 0.0
	for _, cs := range sets {
		launched += simulation.TotalPrice(cs.Nodes)
		if cs.Outcome.Rule == rule.Unplaced {
			launched += state.PriceOf(cs.Targets)
		}
	}
	o := s.outcome(s.e, targets)
	if gap*o.Floor >= launched-simulation.PriceSlack {
		return sets, nil
	}
	again, err := s.ask(ctx, targets, s.e.Places(s.w.Moving(targets), names(targets)...))
	if err != nil {
		return nil, err
	}
	if s.value(again) > s.value(sets)+simulation.PriceSlack {
		return again, nil
	}
	return sets, nil
}

// Bounds of refit. refitNodes is the largest cluster. If not all sets are tried, at least one node
// in refitShare of a small cluster must be among the targets (fewTargets, if that is less), and the
// new nodes must cost refitGap times the floor. With fewer targets it hardly ever improves the
// answer.
const (
	refitNodes = 300
	refitShare = 5
	refitGap   = 1.2
)

// value returns what the sets that are worth doing save beyond the required saving, in USD per
// hour.
func (s *search) value(sets []*simulation.CandidateSet) float64 {
	sum := 0.0
	for _, cs := range sets {
		if !cs.Outcome.Bad() {
			sum += cs.Saving - s.rules.Required(cs.Targets)
		}
	}
	return sum
}
