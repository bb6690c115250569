package pack

import "slices"

const (
	// maxRounds is the largest number of rounds for a tier.
	maxRounds = 4
	// roundsGap is a gap between cost and bound; at a smaller gap no further round is run.
	roundsGap = 0.015
	// columnGap is the gap above which column generation replaces further rounds.
	columnGap = 0.06
	// roundsGain is the least gain of a round, as a share of the cost, for another to follow.
	roundsGain = 0.005
	// roundsSteps is the number of patterns after which no new round starts.
	roundsSteps = 5000
	// learning is the share of the way that each round moves the multiplier of a class towards the
	// cost paid for it.
	learning = 0.7
)

// rounds runs greedy several times and keeps the cheapest run.
//
// The covering relaxation cuts pods into pieces, so it undervalues pods that are hard to combine:
// they are left until the end and get half-empty nodes. So each round raises the value of a class
// to what its pods cost in the round before, and takes it earlier.
func (s *solver) rounds(t *tier, q duals) []purchase {
	start, startSteps := s.save(), s.steps
	s.multiplier, s.highestMultiplier = s.uncorrected()
	var best []purchase
	var end state
	bestCost := 0.0
	for round := range maxRounds {
		s.restore(start)
		purchases := s.greedy(t, q)
		cost := costOf(t, purchases)
		complete := s.complete(t)
		gained := round == 0 || cost < bestCost*(1-roundsGain)
		if round == 0 || complete && cost < bestCost {
			best, bestCost, end = purchases, cost, s.save()
		}
		if !complete || !gained || bestCost < q.bound*(1+roundsGap) || s.steps >= s.maxSteps || s.steps-startSteps >= roundsSteps || s.ctx.Err() != nil {
			break
		}
		if bestCost > q.bound*(1+columnGap) && s.generates(t, start.left) {
			break
		}
		s.correct(t, purchases, q.value)
	}
	if len(best) > 0 && bestCost > q.bound*(1+roundsGap) && s.steps < s.maxSteps && !s.p.Coarse {
		s.restore(start)
		if purchases := s.coarseRun(t); s.complete(t) && costOf(t, purchases) < bestCost {
			return purchases
		}
	}
	s.restore(end)
	return best
}

// uncorrected returns the multipliers of the first round, and the highest of them.
func (s *solver) uncorrected() ([]float64, float64) {
	out := slices.Clone(s.urgency)
	return out, slices.Max(append(out, 1))
}

// coarseRun returns a greedy run with the effort of coarse. It takes a tenth of the time of an
// ordinary run, and its plan is sometimes cheaper.
func (s *solver) coarseRun(t *tier) []purchase {
	fine, learnt, highest := s.effort, s.multiplier, s.highestMultiplier
	s.effort, s.filler.effort = coarse(), coarse()
	s.multiplier, s.highestMultiplier = s.uncorrected()
	purchases := s.greedy(t, s.duals(t, s.left))
	s.effort, s.filler.effort = fine, fine
	s.multiplier, s.highestMultiplier = learnt, highest
	return purchases
}

// correct moves the multiplier of each class towards the ratio of its cost to its worth.
func (s *solver) correct(t *tier, purchases []purchase, value []float64) {
	paid := make([]float64, len(s.left))
	worth := make([]float64, len(s.left))
	for i := range purchases {
		p := &purchases[i]
		ratio := t.candidates[p.candidate].price / worthOf(p.shares, value)
		for _, sh := range p.shares {
			w := float64(value[sh.Class] * float64(sh.Count) * float64(p.copies))
			paid[sh.Class] += float64(ratio * w)
			worth[sh.Class] += w
		}
	}
	for c := range paid {
		if worth[c] > 0 {
			s.multiplier[c] *= 1 + float64(learning*(paid[c]/worth[c]-1))
			s.highestMultiplier = max(s.highestMultiplier, s.multiplier[c])
		}
	}
}
