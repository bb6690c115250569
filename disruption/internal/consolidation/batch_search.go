package consolidation

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// cover tries the nodes that the estimate would remove, as many as budgets allow. While some nodes
// are tried, the nodes still to be tried take no pods, because those pods would have to move again.
func (s *search) cover(ctx context.Context) error {
	var chosen, all []*state.StateNode
	for _, name := range s.e.Cover(names(s.open()), s.evictionPrice) {
		m := s.cluster.ByName[name]
		if s.tried[setKey([]*state.StateNode{m})] {
			continue // with more nodes gone it is not better
		}
		all = append(all, m)
		if v := s.quota.Take(m); v.Bad() {
			s.reasons[m.Name] = v
			continue
		}
		chosen = append(chosen, m)
	}
	if len(chosen) < len(all) {
		s.refused[setKey(all)] = all
	}
	defer func() {
		for _, m := range chosen {
			if s.mayGo(m) {
				s.quota.Back(m)
			}
		}
		s.cordoned(nil)
	}()
	queue := [][]*state.StateNode{chosen}
	most := max(2, min(maxLooks, lookedAt/len(s.cluster.Nodes)))
	for looks := 0; len(queue) > 0 && looks < most; looks++ {
		targets := s.stillOpen(queue[0])
		queue = queue[1:]
		if len(targets) == 0 {
			continue
		}
		s.cordoned(queue)
		if looks > 0 { // the estimate has chosen the first set, but not its halves
			if _, ok := s.weigh(targets); !ok {
				continue
			}
		}
		if s.spent() || s.news() && len(targets) < fewTargets {
			return nil
		}
		bad, err := s.try(ctx, targets)
		if err != nil {
			return err
		}
		s.cordoned(nil)
		for _, cs := range bad {
			queue = append(queue, s.smaller(cs, targets)...)
		}
	}
	return nil
}

// names returns the names of nodes.
func names(nodes []*state.StateNode) []string {
	out := make([]string, len(nodes))
	for i, m := range nodes {
		out[i] = m.Name
	}
	return out
}

// evictionPrice returns the weight of a unit of disruption cost when nodes of a pool are chosen, in
// USD per hour. It is above zero even if MinimumScore is zero, so that of two nodes the one with
// fewer pods is chosen.
func (s *search) evictionPrice(pool string) float64 {
	return max(rankingShare, s.rules.opts.MinimumScore) * s.rules.totals[pool].unit
}

// rankingShare is the least weight of a unit of disruption cost, as a share of the pool's cost per
// unit.
const rankingShare = 1.0

// fewTargets is the number of nodes below which halves are not tried once something was found: the
// next pass finds them.
const fewTargets = 20

// These constants bound how many sets cover tries. Each try reads all nodes.
const (
	maxLooks = 8
	lookedAt = 6000
)

// cordoned keeps the nodes of the sets from taking pods in what-ifs and estimates, until it is
// called again. It does nothing in a large cluster: there is more room elsewhere than the pods
// need, and what the nodes take now saves more than moving it twice costs.
func (s *search) cordoned(sets [][]*state.StateNode) {
	if len(s.cluster.Nodes) > refitNodes {
		return
	}
	var closed []*state.StateNode
	for _, set := range sets {
		for _, m := range set {
			if s.mayGo(m) {
				closed = append(closed, m)
			}
		}
	}
	s.w.Cordon(closed)
	s.e.Shut(names(closed)...)
}

// smaller returns the sets to try after one that is not worth doing. If its replacements would have
// to be spot nodes and may not, it is the part of the set that the estimate expects to need no
// replacement. Otherwise it is the two halves, in the order in which the nodes were chosen.
func (s *search) smaller(cs *simulation.CandidateSet, order []*state.StateNode) [][]*state.StateNode {
	set := slices.DeleteFunc(slices.Clone(order), func(m *state.StateNode) bool { return !slices.Contains(cs.Targets, m) })
	if len(set) < 2 {
		return nil
	}
	if cs.Outcome.Rule == rule.SpotToSpot && len(set) <= mostGrown {
		switch grown := s.grow(set); len(grown) {
		case 0:
			return nil
		case len(set): // the estimate was wrong
		default:
			return [][]*state.StateNode{grown}
		}
	}
	return [][]*state.StateNode{set[:len(set)/2], set[len(set)/2:]}
}

// grow picks nodes one after the other, each if the estimate promises a larger saving with it than
// without.
func (s *search) grow(set []*state.StateNode) []*state.StateNode {
	var out []*state.StateNode
	best := 0.0
	for _, m := range set {
		with := append(slices.Clone(out), m)
		o := s.outcome(s.e, with)
		if gain := o.Price - roundedUp*o.Floor - s.rules.Required(with); gain > best+simulation.PriceSlack {
			out, best = with, gain
		}
	}
	return out
}

// mostGrown is the largest set from which grow picks. Each node is estimated together with those
// picked before.
const mostGrown = 100
