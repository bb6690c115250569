package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// evictionWeight breaks ties in favour of fewer evictions: it is too small to
// weigh against money.
func (s *search) evictionWeight() float64 {
	return max(s.cluster.opts.Consolidation.DisruptionPrice, 1e-7)
}

// worthDoing are the parts that are, and what they gain together.
func worthDoing(parts []*candidateSet, eviction float64) (good []*candidateSet, gain float64) {
	for _, pt := range parts {
		if pt.outcome.bad() {
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
func (s *search) allowed(targets []*stateNode) bool {
	var taken []*stateNode
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
			set = slices.DeleteFunc(set, func(m *stateNode) bool { return !s.mayGo(m) })
			key := setKey(set)
			if len(set) == 0 || s.tried[key] || !s.allowed(set) {
				continue
			}
			s.tried[key] = true
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
func setKey(set []*stateNode) string {
	list := names(set)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// maxPolished is how many actions are found that way before the estimate is made
// anew.
const maxPolished = 8

// attempt is a set of nodes and what removing it may gain.
type attempt struct {
	set  []*stateNode
	gain float64
}

// promising lists sets of nodes to try, the most promising first: single nodes,
// and runs of two to four nodes of a pool that are the emptiest for what they
// cost.
func (s *search) promising() [2][][]*stateNode {
	open := s.open()
	var singles, runs []attempt
	byPool := map[string][]*stateNode{}
	for _, m := range open {
		byPool[m.poolName] = append(byPool[m.poolName], m)
		if a, ok := s.weigh([]*stateNode{m}); ok {
			singles = append(singles, a)
		}
	}
	for _, pool := range s.cluster.poolNames {
		list := byPool[pool]
		waste := map[*stateNode]float64{}
		for _, m := range list {
			waste[m] = s.e.Waste(m.name)
		}
		slices.SortFunc(list, func(a, b *stateNode) int {
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
	var out [2][][]*stateNode
	most := min(max(fewestTries, manyTries/len(s.cluster.nodes)), len(singles)+len(runs))
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
func (s *search) weigh(set []*stateNode) (attempt, bool) {
	o := s.outcome(set)
	if len(set) > 1 {
		o.Floor *= roundedUp
	} else {
		o.Floor *= roundedLeast
	}
	gain := o.Saving() - s.cluster.required(set, s.totals)
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
func (s *search) outcome(set []*stateNode) screen.Outcome { return s.outcomeBy(s.e, set) }

func (s *search) outcomeBy(e *estimate.Estimate, set []*stateNode) screen.Outcome {
	o := s.remove(e, set...)
	if o.Floor < o.Price && o.Left > 0 {
		steady := s.cluster.opts.Consolidation.NoSpotToSpot && !slices.ContainsFunc(set, func(m *stateNode) bool {
			return m.labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot
		})
		o.Floor = max(o.Floor, e.AtLeast(o.Rest, steady))
	}
	return o
}

// remove estimates what becomes of the pods of some nodes.
func (s *search) remove(e *estimate.Estimate, set ...*stateNode) screen.Outcome {
	numbers := make([]int, len(set))
	for i, m := range set {
		numbers[i], _ = e.At(m.name)
		s.w.stats.Steps += len(e.Cluster.Nodes[numbers[i]].Pods)
	}
	s.w.stats.WhatIfs++
	return e.Estimator.RemoveWith(s.swaps(e, set), numbers...)
}

// refit asks the engine again about nodes for which it launches far more than the
// estimate would, with each pod on the node where the estimate has it. The engine
// chooses zones and nodes for one kind of pod after the other, and leaves gaps; of
// the two answers the better one counts. Of few nodes it is not asked: that hardly
// ever brings anything.
func (s *search) refit(ctx context.Context, targets []*stateNode, parts []*candidateSet) ([]*candidateSet, error) {
	if len(targets) < min(fewTargets, len(s.cluster.nodes)/refitShare) || len(s.cluster.nodes) > refitNodes || s.w.refused != nil || s.spent() {
		return parts, nil
	}
	launched := 0.0
	for _, pt := range parts {
		launched += totalPrice(pt.nodes)
		if pt.outcome.rule == ruleUnplaced {
			launched += priceOf(pt.targets)
		}
	}
	o := s.outcome(targets)
	if refitGap*o.Floor >= launched-priceSlack {
		return parts, nil
	}
	again, err := s.askPinned(ctx, fit{targets: targets, pins: s.places(targets)})
	if err != nil {
		return nil, err
	}
	if s.value(again) > s.value(parts)+priceSlack {
		return again, nil
	}
	return parts, nil
}

// Bounds of a second look: the largest cluster, which part of a small cluster must be about
// to go, where fewTargets is more than that, and how much more than the floor what was
// launched must cost.
const (
	refitNodes = 300
	refitShare = 5
	refitGap   = 1.2
)

// value is what some parts save above what is asked for.
func (s *search) value(parts []*candidateSet) float64 {
	sum := 0.0
	for _, pt := range parts {
		if !pt.outcome.bad() {
			sum += pt.saving - s.cluster.required(pt.targets, s.totals)
		}
	}
	return sum
}

// places are the names of the nodes where the last estimate has the pods of some
// nodes, by pod.
func (s *search) places(targets []*stateNode) map[string]string {
	hosts := map[int]string{}
	for _, m := range s.cluster.nodes {
		if i, found := s.e.At(m.name); found {
			hosts[i] = m.labels[corev1.LabelHostname]
		}
	}
	places := slices.Clone(s.e.Estimator.Places())
	free := s.w.moving(targets)
	out := map[string]string{}
	for _, m := range targets {
		for _, p := range s.w.displaced[m.name] {
			kind := p
			if free[p] != nil {
				kind = free[p]
			}
			class, known := s.e.Class(s.w.kinds.Of(kind))
			if !known {
				continue
			}
			at := slices.IndexFunc(places, func(l screen.Place) bool { return l.Class == class && l.Pods > 0 })
			if at >= 0 {
				places[at].Pods--
				out[podObject(p)] = hosts[int(places[at].Node)]
			}
		}
	}
	return out
}

// swaps are the pods that may change their domain when some nodes go, as the
// estimator knows them.
func (s *search) swaps(e *estimate.Estimate, set []*stateNode) []screen.Swap {
	var out []screen.Swap
	free := s.w.moving(set)
	if len(free) == 0 {
		return nil
	}
	for _, m := range set {
		for _, p := range s.w.displaced[m.name] {
			if free[p] == nil {
				continue
			}
			own, known := e.Class(s.w.kinds.Of(p))
			other, found := e.Class(s.w.kinds.Of(free[p]))
			if known && found {
				out = append(out, screen.Swap{Own: own, Other: other})
			}
		}
	}
	return out
}
