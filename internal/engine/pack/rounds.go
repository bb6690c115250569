package pack

import "slices"

const (
	// maxRounds is the most often that a tier is packed anew.
	maxRounds = 4
	// roundsGap is the gap to the bound below which another round is not
	// worth its time.
	roundsGap = 0.015
	// hopelessGap is the gap above which rounds give way to column generation.
	hopelessGap = 0.06
	// roundsGain is the least share of the cost that a round must have gained
	// for another to follow.
	roundsGain = 0.005
	// roundsSteps is the number of patterns after which no new round begins.
	roundsSteps = 5000
	// learning is how far multipliers move towards what was paid.
	learning = 0.7
)

// rounds runs greedy again and again and keeps the cheapest run.
//
// The covering relaxation cuts pods in pieces, so it undervalues those that
// are hard to combine: they stay behind and end up on nodes half empty. Each
// round therefore values a class higher by what its pods cost in the round
// before, and takes it earlier.
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
		if bestCost > q.bound*(1+hopelessGap) && s.generates(t, start.left) {
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

// uncorrected are the multipliers before anything is learnt, and the highest.
func (s *solver) uncorrected() ([]float64, float64) {
	out := slices.Clone(s.urgency)
	return out, slices.Max(append(out, 1))
}

// coarseRun is the greedy run that a coarse problem gets. It takes a tenth of the time of
// a fine one, and is luckier now and then.
func (s *solver) coarseRun(t *tier) []purchase {
	fine, learnt, highest := s.effort, s.multiplier, s.highestMultiplier
	s.effort, s.filler.effort = coarse(), coarse()
	s.multiplier, s.highestMultiplier = s.uncorrected()
	purchases := s.greedy(t, s.duals(t, s.left))
	s.effort, s.filler.effort = fine, fine
	s.multiplier, s.highestMultiplier = learnt, highest
	return purchases
}

// correct raises the multiplier of each class towards what its pods cost for
// what they are worth.
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
