package consolidation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// evictionWeight breaks ties in favour of fewer evictions: it is too small to
// weigh against money.
const evictionWeight = 1e-7

// worthDoing are the sets that are, and what they gain together.
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

// allowed reports whether budgets let some nodes go together. It notes the reason
// for a node that may not go even alone, and sets for withoutBudgets.
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

// polish tries nodes one by one, and sets of neighbours, where the estimate says
// that it may save something. It ends when several in a row were not worth doing.
func (s *search) polish(ctx context.Context) error {
	for _, list := range s.promising() {
		failed := 0
		for _, set := range list {
			set = slices.DeleteFunc(set, func(m *state.StateNode) bool { return !s.mayGo(m) })
			key := setKey(set)
			if len(set) == 0 || s.tried[key] || !s.allowed(set) {
				continue
			}
			s.tried[key] = true
			if s.spent() {
				return nil
			}
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
func setKey(set []*state.StateNode) string {
	list := names(set)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// maxPolished is how many actions are found that way before the estimate is made
// anew.
const maxPolished = 8

// attempt is a set of nodes and what removing it may gain.
type attempt struct {
	set  []*state.StateNode
	gain float64
}

// compare has what may gain the most first.
func (a attempt) compare(b attempt) int {
	return cmp.Or(cmp.Compare(b.gain, a.gain), strings.Compare(a.set[0].Name, b.set[0].Name), cmp.Compare(len(a.set), len(b.set)))
}

// promising lists sets of nodes to try, the most promising first: single nodes,
// and runs of two to four nodes of a pool that are the emptiest for what they
// cost.
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
func (s *search) weigh(set []*state.StateNode) (attempt, bool) {
	if len(set) > 1 {
		return s.gain(set, roundedUp)
	}
	return s.gain(set, roundedLeast)
}

// gain is weigh where new nodes cost so many times the floor.
func (s *search) gain(set []*state.StateNode, rounded float64) (attempt, bool) {
	o := s.outcome(s.e, set)
	o.Floor *= rounded
	gain := o.Saving() - s.rules.Required(set)
	if gain <= simulation.PriceSlack {
		return attempt{}, false
	}
	return attempt{set: set, gain: gain / state.DisruptionCost(set...)}, true
}

// outcome estimates what becomes of the pods of some nodes, with a floor that is
// higher than that of the prices of resources alone.
func (s *search) outcome(e *estimate.Estimate, set []*state.StateNode) screen.Outcome {
	o := s.remove(e, set...)
	if o.Floor < o.Price && o.Left > 0 {
		steady := s.rules.opts.NoSpotToSpot && !slices.ContainsFunc(set, func(m *state.StateNode) bool {
			return m.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot
		})
		o.Floor = max(o.Floor, e.AtLeast(o.Rest, steady))
	}
	return o
}

// remove estimates what becomes of the pods of some nodes.
func (s *search) remove(e *estimate.Estimate, set ...*state.StateNode) screen.Outcome {
	numbers := make([]int, len(set))
	for i, m := range set {
		numbers[i], _ = e.At(m.Name)
		s.w.Stats.Steps += len(e.Cluster.Nodes[numbers[i]].Pods)
	}
	s.w.Stats.WhatIfs++
	return e.Estimator.RemoveWith(s.swaps(e, set), numbers...)
}

// refit asks the engine again about nodes for which it launches more than the estimate
// would, gap times as much at least, which is to try each pod first where the estimate
// has it. The engine chooses zones and nodes for one kind of pod after the other, and
// leaves gaps; of the two answers the better one counts.
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
	again, err := s.ask(ctx, targets, s.places(targets))
	if err != nil {
		return nil, err
	}
	if s.value(again) > s.value(sets)+simulation.PriceSlack {
		return again, nil
	}
	return sets, nil
}

// Bounds of a second look: the largest cluster; and where not all sets are tried, which
// part of a small cluster must be about to go, where fewTargets is more than that, and how
// much more than the floor what was launched must cost. Of fewer nodes it hardly ever
// brings anything there.
const (
	refitNodes = 300
	refitShare = 5
	refitGap   = 1.2
)

// value is what some sets save above what is asked for.
func (s *search) value(sets []*simulation.CandidateSet) float64 {
	sum := 0.0
	for _, cs := range sets {
		if !cs.Outcome.Bad() {
			sum += cs.Saving - s.rules.Required(cs.Targets)
		}
	}
	return sum
}

// places are the names of the nodes where the last estimate has the pods of some
// nodes, by pod.
func (s *search) places(targets []*state.StateNode) map[types.NamespacedName]string {
	nodes := map[int]string{}
	for _, m := range s.cluster.Nodes {
		if i, found := s.e.At(m.Name); found {
			nodes[i] = m.Name
		}
	}
	places := slices.Clone(s.e.Estimator.Places())
	free := s.w.Moving(targets)
	out := map[types.NamespacedName]string{}
	for _, m := range targets {
		for _, p := range s.w.Displaced[m.Name] {
			kind := p
			if free[p] != nil {
				kind = free[p]
			}
			class, known := s.e.Class(s.w.Kinds.Of(kind))
			if !known {
				continue
			}
			at := slices.IndexFunc(places, func(l screen.Place) bool { return l.Class == class && l.Pods > 0 })
			if at >= 0 {
				places[at].Pods--
				out[state.NameOf(p)] = nodes[int(places[at].Node)]
			}
		}
	}
	return out
}

// swaps are the pods that may change their domain when some nodes go, as the
// estimator knows them.
func (s *search) swaps(e *estimate.Estimate, set []*state.StateNode) []screen.Swap {
	var out []screen.Swap
	free := s.w.Moving(set)
	if len(free) == 0 {
		return nil
	}
	for _, m := range set {
		for _, p := range s.w.Displaced[m.Name] {
			if free[p] == nil {
				continue
			}
			own, known := e.Class(s.w.Kinds.Of(p))
			other, found := e.Class(s.w.Kinds.Of(free[p]))
			if known && found {
				out = append(out, screen.Swap{Own: own, Other: other})
			}
		}
	}
	return out
}
