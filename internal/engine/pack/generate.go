package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/knapsack"
)

const (
	// generateGap is the gap to the bound, as a share of the cost of the plan, above which patterns
	// are generated.
	generateGap = 0.02
	// maxMasterRows is the largest number of classes for which patterns are generated: the work
	// grows with its square.
	maxMasterRows = 100
	// generateRounds is the largest number of rounds in which all candidates are priced.
	generateRounds = 40
	// generateWork is the number of rounds times classes: with many classes a round takes longer
	// and gains less.
	generateWork = 1200
	leastRounds  = 10
	// generateSteps is the least number of patterns built for a tier, and patternWork that number
	// times classes: useful patterns are found early.
	generateSteps = 200
	patternWork   = 30_000
	// generateBatch is the largest number of patterns added in a round.
	generateBatch = 24
	// generateAsked is the least number of candidates priced in a round.
	generateAsked = 4 * generateBatch
	// generatePatience is the number of rounds with a gain below generateGain after which
	// generation stops.
	generatePatience = 12
	generateGain     = 0.0005
	// generateVisits is the number of branches that may be visited for a pattern.
	generateVisits = 200
)

// generate packs a tier by column generation: it finds the patterns that improve the linear program
// over whole patterns, buys the integer part of its solution, and leaves the rest to greedy. Where
// pods are large for the cheap nodes, this finds mixes that taking the best pattern first does not.
//
// It returns the purchases, and a lower bound proven by the final duals.
func (s *solver) generate(t *tier, q duals, known []purchase) ([]purchase, float64) {
	m := newMaster(t, s.left)
	if !s.seed(t, m, known) {
		return nil, 0
	}
	visits, limit := generateVisits, min(s.maxSteps, s.steps+max(patternWork/len(s.left), generateSteps))
	last, idle := math.Inf(1), 0
	for range min(generateRounds, max(generateWork/len(m.classes), leastRounds)) {
		m.solve(20 * len(m.classes))
		if cost := m.cost(); cost < last*(1-generateGain) {
			last, idle = cost, 0
		} else if idle++; idle == generatePatience {
			break
		}
		if s.steps >= limit || s.ctx.Err() != nil {
			break
		}
		if s.newColumns(t, m, q, visits) {
			continue
		}
		if visits == maxVisits {
			break
		}
		visits = maxVisits
	}
	m.price()
	worth := make([]float64, len(s.left))
	for i, c := range m.classes {
		worth[c] = math.Max(m.dual[i], 0)
	}
	bound := s.patternBound(t, s.left, worth)
	return s.roundDown(t, m, q, worth), bound
}

// generates says whether few enough classes are left in a tier for column generation.
func (s *solver) generates(t *tier, left []int) bool {
	rows := 0
	if s.urgent || t.reserved {
		return false // the master's patterns use no reservations
	}
	for c, n := range left {
		if n > 0 && t.groupOf[c] >= 0 {
			rows++
		}
	}
	return rows > 0 && rows <= maxMasterRows
}

// seed adds the known patterns and, for each class, the best node with pods of that class only.
func (s *solver) seed(t *tier, m *master, known []purchase) bool {
	for _, c := range m.classes {
		best := column{candidate: -1}
		bestUnit := math.Inf(1)
		for i := range t.candidates {
			n, variant := s.oneClass(t, &t.candidates[i], c, bestUnit)
			if n == 0 {
				continue
			}
			if unit := t.candidates[i].price / float64(n); unit < bestUnit {
				bestUnit = unit
				best = column{candidate: i, price: t.candidates[i].price}
				best.shares = []Share{{Class: c, Variant: variant, Count: n}}
				best.trait = s.p.Classes[c].Variants[variant].Trait
			}
		}
		if best.candidate < 0 {
			return false
		}
		m.columns = append(m.columns, best)
	}
	m.start()
	for i := range known {
		p := &known[i]
		m.columns = append(m.columns, column{candidate: p.candidate, price: t.candidates[p.candidate].price, pattern: p.pattern})
	}
	return true
}

// oneClass returns how many pods of a class a candidate holds, and by which variant; none if each
// pod would cost limit or more.
func (s *solver) oneClass(t *tier, c *candidate, class int, limit float64) (int, int) {
	entries := t.entries[c.serves]
	i, found := slices.BinarySearchFunc(entries, int32(class), func(e entry, class int32) int { return cmp.Compare(e.class, class) })
	if !found {
		return 0, 0
	}
	e := entries[i]
	n := int64(min(s.left[class], s.alone[class]))
	for r, want := range s.p.Classes[class].Request {
		if want > 0 {
			n = min(n, max(c.capacity[r], 0)/want)
		}
	}
	if c.price >= limit*float64(n) {
		return 0, 0
	}
	if n > 0 && (s.isFlexible(c) || s.p.Pools[c.pool].MinValues != nil && (!c.safe || e.trait != 0)) {
		share := Share{Class: class, Variant: int(e.variant), Count: int(n)}
		n = int64(s.mostEnough(c, nil, share, e.trait))
	}
	return int(n), int(e.variant)
}

// newColumns prices candidates for patterns worth more than their price at the current duals, and
// adds the best of them. It says whether there were any.
//
// The candidates with the highest ceilings come first. Once enough patterns are found the others
// are left for a later round: the duals change in every round, so pricing all candidates each time
// gains nothing.
func (s *solver) newColumns(t *tier, m *master, q duals, visits int) bool {
	m.price()
	worth := make([]float64, len(s.left))
	multiplier := make([]float64, len(s.left))
	for i, c := range m.classes {
		worth[c] = math.Max(m.dual[i], 0)
		multiplier[c] = multiplierFor(worth[c], q.value[c], 10)
	}
	k := s.knapsack(s.left, worth)
	var found []column
	var gains []float64
	asked := 0
	for _, e := range s.estimates(t, k) {
		c := &t.candidates[e.candidate]
		floor := c.price * (1 + 1e-6)
		if e.ratio*c.price <= floor || asked >= generateAsked && len(found) > 0 {
			break
		}
		asked++
		k.Load(t.takes[c.serves], c.capacity)
		p := s.pricePattern(t, e.candidate, k, m, q, worth, multiplier, visits)
		if value := m.worth(p.shares); value > floor {
			as := s.cheapest(t, e.candidate, &p)
			found = append(found, column{candidate: as, price: t.candidates[as].price, pattern: p})
			gains = append(gains, value/c.price)
		}
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return -cmp.Compare(gains[x], gains[y]) })
	for _, i := range order[:min(len(order), generateBatch)] {
		m.columns = append(m.columns, found[i])
	}
	return len(found) > 0
}

// pricePattern returns the best pattern of a candidate that a short branch and bound finds. If it is
// cut short, or rules exclude the pattern, a balanced fill is tried, and the better one returned.
func (s *solver) pricePattern(t *tier, i int, k *knapsack.Knapsack, m *master, q duals, value, multiplier []float64, visits int) pattern {
	c := &t.candidates[i]
	s.step()
	found, ceiling := k.Most(c.price, visits)
	var other pattern
	if found > c.price {
		other = s.chosen(t, i, k)
		s.keepMinValues(t, i, &other, value)
	}
	if found == ceiling && (found == c.price || m.worth(other.shares) >= found*(1-1e-9)) {
		return other
	}
	got := s.filler.fill(&c.bin, t.entries[c.serves], s.left, worth{
		value: value, multiplier: multiplier, target: s.detail(t, &q, c.serves).target, highest: q.highest[c.serves],
	})
	p := pattern{shares: slices.Clone(got.shares), trait: got.trait}
	s.keepMinValues(t, i, &p, value)
	if m.worth(other.shares) > m.worth(p.shares) {
		return other
	}
	return p
}

// chosen returns the pattern that a knapsack chose; an empty one if rules or traits exclude it.
func (s *solver) chosen(t *tier, i int, k *knapsack.Knapsack) pattern {
	c := &t.candidates[i]
	p := pattern{shares: sharesOf(k.Chosen(), t.entries[c.serves])}
	ok := s.filler.tally.together(p.shares)
	for _, sh := range p.shares {
		if ok {
			p.trait, ok = s.filler.traits.join(&c.bin, p.trait, s.p.Classes[sh.Class].Variants[sh.Variant].Trait)
		}
	}
	if !ok {
		return pattern{}
	}
	return p
}

// sharesOf converts what a knapsack chose to shares, with the first entry of each class.
func sharesOf(chosen []knapsack.Chosen, entries []entry) []Share {
	out := make([]Share, 0, len(chosen))
	for _, x := range chosen {
		i, _ := slices.BinarySearchFunc(entries, int32(x.Class), func(e entry, class int32) int { return cmp.Compare(e.class, class) })
		out = append(out, Share{Class: x.Class, Variant: int(entries[i].variant), Count: x.Count})
	}
	sortShares(out)
	return out
}

// roundDown buys the integer part of the master's solution, and runs greedy on the rest with the
// worths found.
func (s *solver) roundDown(t *tier, m *master, q duals, worth []float64) []purchase {
	for c := range s.multiplier {
		s.multiplier[c] = 1
	}
	s.highestMultiplier = 1
	for _, c := range m.classes {
		s.multiplier[c] = multiplierFor(worth[c], q.value[c], 5)
		s.highestMultiplier = max(s.highestMultiplier, s.multiplier[c])
	}
	var purchases []purchase
	for i, column := range m.basic {
		if column < 0 {
			continue
		}
		p := &m.columns[column]
		uses := s.uses(t, p.candidate, &p.pattern)
		copies := min(int(m.level[i]+1e-6), s.copies(p.shares), s.affordable(&t.candidates[p.candidate], uses))
		if copies == 0 {
			continue
		}
		purchases = append(purchases, purchase{candidate: p.candidate, pattern: p.pattern, copies: copies, uses: uses})
		s.remove(p.shares, copies)
		s.spend(&t.candidates[p.candidate], uses, copies)
	}
	if s.complete(t) {
		return purchases
	}
	return append(purchases, s.greedy(t, s.duals(t, s.left))...)
}

// multiplierFor converts the worth of a pod to a multiplier of its value, between 1/most and most.
// It is 1 for a pod without value, which requests nothing and always fits.
func multiplierFor(worth, value, most float64) float64 {
	if value <= 0 {
		return 1
	}
	return min(max(worth/value, 1/most), most)
}
