package consolidation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// Bounds of the search through all sets.
const (
	exhaustiveLimit = 6      // candidates
	exhaustiveLooks = 31_500 // tries, over the number of nodes: each reads all of them
)

// exhaust tries the sets of the candidates, takes the one that saves the most for
// what it disturbs, and goes on with what is left.
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
			return nil // what they lean on has to wait
		}
	}
}

// choice is a set of candidates.
type choice struct {
	set     []*state.StateNode
	most    float64 // that it can gain: what its nodes cost less their evictions
	promise float64 // what it gains by the estimate
}

// bestSet tries sets and returns what is worth doing of the one that gains the most.
// First come the nodes by themselves, then the sets that promise the most by the
// estimate; those are left out that cannot gain more than the best so far, and all that
// are left once as many were tried as the size of the cluster lets. Each is tried with
// pods where the estimate has them as well: the engine fills nodes one after the other,
// and so misses a perfect fit now and then.
func (s *search) bestSet(ctx context.Context, open []*state.StateNode) (best []*simulation.CandidateSet, err error) {
	most := 0.0
	tries := max(2*len(open), exhaustiveLooks/len(s.cluster.Nodes))
	for _, c := range s.choices(open) {
		if s.spent() || tries == 0 {
			break
		}
		if len(c.set) > 1 && c.most <= most+simulation.PriceSlack || !s.allowed(c.set) {
			continue
		}
		tries--
		sets, err := s.ask(ctx, c.set, nil)
		if err == nil {
			sets, err = s.refit(ctx, c.set, sets, 1)
		}
		if err != nil {
			return nil, err
		}
		if good, gain := worthDoing(sets); gain > most+simulation.PriceSlack {
			best, most = good, gain
		}
		for _, cs := range sets {
			if cs.Outcome.Bad() && len(c.set) == 1 {
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
