package consolidation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// Bounds of the exhaustive search.
const (
	exhaustiveLimit = 6      // most candidates
	exhaustiveLooks = 31_500 // most tries times nodes: each try reads all nodes
)

// exhaust tries the sets of the candidates, accepts the set that saves the most for its disruption,
// and repeats with the remaining candidates.
func (s *search) exhaust(ctx context.Context) error {
	for {
		open := s.open()
		if len(open) == 0 {
			return nil
		}
		s.e = s.w.Estimate(s.e)
		best, err := s.bestSet(ctx, open)
		if err != nil {
			return err
		}
		if len(best) == 0 {
			return nil
		}
		before := s.found()
		for _, cs := range bestFirst(best) {
			if s.accept(cs); cs.Outcome.Bad() {
				continue
			}
			for _, m := range cs.Targets {
				s.quota.Take(m)
			}
		}
		if s.found() == before {
			return nil // the sets that this one depends on have to wait
		}
	}
}

// choice is a set of candidates with its estimated gain.
type choice struct {
	set     []*state.StateNode
	most    float64 // upper bound on its gain: the price of its nodes less their evictions
	promise float64 // its gain by the estimate
}

// bestSet tries sets and returns the parts worth doing of the set that gains the most. Single nodes
// come first, then the sets that promise the most by the estimate. A set is skipped if it cannot
// gain more than the best so far. The number of tries is bounded by the size of the cluster. Each
// set is also tried with its pods on the nodes that the estimate chose for them: the engine fills
// nodes one after the other, and so misses a perfect fit now and then.
func (s *search) bestSet(ctx context.Context, open []*state.StateNode) (best []*simulation.CandidateSet, err error) {
	most := 0.0
	tries := max(2*len(open), exhaustiveLooks/len(s.cluster.Nodes))
	list := s.choices(open)
	at := func(i int, allowed func([]*state.StateNode) bool) []*state.StateNode {
		if c := list[i]; (len(c.set) == 1 || c.most > most+simulation.PriceSlack) && allowed(c.set) {
			return c.set
		}
		return nil
	}
	for i := range list {
		if s.spent() || tries == 0 {
			break
		}
		set := at(i, s.allowed)
		if len(set) == 0 {
			continue
		}
		s.expect(ctx, false, tries, i, len(list), at)
		tries--
		sets, err := s.ask(ctx, set, nil)
		if err == nil {
			sets, err = s.refit(ctx, set, sets, 1)
		}
		if err != nil {
			return nil, err
		}
		if good, gain := worthDoing(sets); gain > most+simulation.PriceSlack {
			best, most = good, gain
		}
		for _, cs := range sets {
			if cs.Outcome.Bad() && len(set) == 1 {
				s.remember(cs)
			}
		}
	}
	return best, nil
}

// choices lists the sets of some nodes in the order in which they are tried.
func (s *search) choices(open []*state.StateNode) []choice {
	var out []choice
	for set := uint(1); set < 1<<len(open); set++ {
		c := choice{}
		evictions := 0.0
		for i, m := range open {
			if set&(1<<i) == 0 {
				continue
			}
			price, _ := m.Price()
			units := evictionWeight * state.DisruptionCost(m)
			c.set, c.most, evictions = append(c.set, m), c.most+max(price-units, 0), evictions+units
		}
		if c.promise = math.Inf(1); len(c.set) > 1 {
			c.promise = s.outcome(s.e, c.set).Saving() - evictions
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(len(a.set), len(b.set)))
	})
	return out
}
