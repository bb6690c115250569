package pack_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// reservationProblem makes up a problem of a few nodes and several reservations, which
// options of one or two pools share. Whatever comes from a reservation costs next to
// nothing, and most options are there beside it.
func reservationProblem(seed uint64) *pack.Problem {
	rng := splitmix(seed)
	p := &pack.Problem{Dims: 2, StrictReservation: rng.chance(30)}
	for range rng.between(1, 3) {
		p.Reservations = append(p.Reservations, rng.between(0, 2))
	}
	type shape struct {
		price    float64
		capacity []int64
	}
	var shapes []shape
	for range rng.between(1, 3) {
		size := rng.between(4, 12)
		shapes = append(shapes, shape{float64(size+rng.between(0, 4)) / 10, []int64{int64(size), int64(rng.between(4, 12))}})
	}
	for range rng.between(1, 2) {
		pool := pack.Pool{First: len(p.Options)}
		if len(p.Pools) > 0 && rng.chance(40) {
			pool.Tier = 1
		}
		for _, s := range shapes {
			if rng.chance(80) {
				p.Options = append(p.Options, pack.Option{Price: s.price, Capacity: s.capacity})
			}
			for reservation := range p.Reservations {
				if rng.chance(50) {
					p.Options = append(p.Options, pack.Option{Price: s.price / float64(purchaseOf(&rng, []int{1000, 1000, 4})), Capacity: s.capacity, Reservation: reservation + 1})
				}
			}
		}
		pool.Last = len(p.Options)
		slices.SortStableFunc(p.Options[pool.First:], func(a, b pack.Option) int { return cmp.Compare(a.Price, b.Price) })
		p.Pools = append(p.Pools, pool)
	}
	for range rng.between(1, 4) {
		c := pack.Class{Request: []int64{int64(rng.between(1, 6)), int64(rng.between(1, 6))}, Count: rng.between(1, 2), Kind: len(p.Classes)}
		v := pack.Variant{Options: bitset.New(len(p.Options))}
		bought := rng.chance(85)
		for o := range p.Options {
			if (bought || p.Options[o].Reservation != 0) && rng.chance(75) && fit(c.Request, p.Options[o].Capacity) {
				v.Options.Add(o)
			}
		}
		c.Variants = []pack.Variant{v}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// TestReservationsAreAssignedBest compares what the new nodes cost with all other ways
// to share the reservations out among them.
func TestReservationsAreAssignedBest(t *testing.T) {
	t.Parallel()
	drawn, contested, seeds := 0, 0, lawSeeds(5000)
	for seed := range seeds {
		p := reservationProblem(seed)
		r := solveReserved(t, p)
		var nodes []*pack.Launch
		for i := range r.New {
			for range r.New[i].Copies {
				nodes = append(nodes, &r.New[i])
			}
		}
		best := cheapestDraws(p, nodes, slices.Clone(p.Reservations))
		require.InDelta(t, best, cost(r), 1e-9, "seed %d: %s", seed, describeReservations(p, r))
		for _, n := range nodes {
			if n.Reservation != 0 {
				drawn++
			}
		}
		if first := firstDraws(p, nodes, slices.Clone(p.Reservations)); first > best+1e-9 {
			contested++
		}
	}
	t.Logf("%d nodes draw on stocks; in %d problems the order of the nodes would have decided", drawn, contested)
	require.Greater(t, drawn, int(seeds/5))
	require.Greater(t, contested, int(seeds/50))
}

// solveReserved packs a problem and holds the result against the rules. That no
// pod is left which a new node could take cannot be asked of reservations that other
// pods drew on.
func solveReserved(t *testing.T, p *pack.Problem) *pack.Result {
	t.Helper()
	r, err := pack.New(p).Solve(t.Context(), math.MaxInt)
	require.NoError(t, err)
	left := slices.Clone(p.Reservations)
	placed := make([]int, len(p.Classes))
	for i := range r.New {
		l := &r.New[i]
		checkLaunch(t, p, l)
		tally(placed, l.Shares, l.Copies)
		if l.Reservation != 0 {
			left[l.Reservation-1] -= l.Copies
			require.GreaterOrEqual(t, left[l.Reservation-1], 0, "stock %d is overdrawn: %s", l.Reservation, describeReservations(p, r))
		}
		from := false
		for o := range l.Options.All() {
			of := p.Options[o].Reservation
			require.True(t, of == l.Reservation || of == 0 && !(p.StrictReservation && l.Reservation != 0), "option %d is of stock %d: %s", o, of, describeReservations(p, r))
			from = from || of == l.Reservation
		}
		require.True(t, from, "no option of stock %d: %s", l.Reservation, describeReservations(p, r))
	}
	for c := range p.Classes {
		require.Equal(t, p.Classes[c].Count, placed[c]+r.Left[c])
		if r.Left[c] == 0 {
			continue
		}
		for o := range p.Classes[c].Variants[0].Options.All() {
			reservation := p.Options[o].Reservation
			require.False(t, reservation == 0 || left[reservation-1] > 0, "class %d waits though option %d is there: %s", c, o, describeReservations(p, r))
		}
	}
	require.LessOrEqual(t, r.Bound, cost(r)*(1+1e-12))
	return r
}

// prices are what a node costs from no reservation and from each, infinite where it
// cannot be had or would not be drawn from the reservation.
func drawPrices(p *pack.Problem, l *pack.Launch) []float64 {
	out := slices.Repeat([]float64{math.Inf(1)}, 1+len(p.Reservations))
	pool := &p.Pools[l.Pool]
	need := sum(p, l.Shares)
	for o := pool.First; o < pool.Last; o++ {
		admitted := holds(p.Options[o].Capacity, need)
		for _, s := range l.Shares {
			admitted = admitted && p.Classes[s.Class].Variants[s.Variant].Options.Has(o)
		}
		if admitted {
			out[p.Options[o].Reservation] = min(out[p.Options[o].Reservation], p.Options[o].Price)
		}
	}
	return out
}

// cheapestDraws tries every reservation, and none, for each node.
func cheapestDraws(p *pack.Problem, nodes []*pack.Launch, left []int) float64 {
	if len(nodes) == 0 {
		return 0
	}
	best := math.Inf(1)
	for reservation, price := range drawPrices(p, nodes[0]) {
		if math.IsInf(price, 1) || reservation > 0 && left[reservation-1] == 0 {
			continue
		}
		if reservation > 0 {
			left[reservation-1]--
		}
		best = min(best, price+cheapestDraws(p, nodes[1:], left))
		if reservation > 0 {
			left[reservation-1]++
		}
	}
	return best
}

// firstDraws gives each node in turn the cheapest that is left for it.
func firstDraws(p *pack.Problem, nodes []*pack.Launch, left []int) float64 {
	sum := 0.0
	for _, n := range nodes {
		best, from := math.Inf(1), 0
		for reservation, price := range drawPrices(p, n) {
			if (reservation == 0 || left[reservation-1] > 0) && price < best {
				best, from = price, reservation
			}
		}
		if from > 0 {
			left[from-1]--
		}
		sum += best
	}
	return sum
}

// TestReservationsAgainstOptimum holds what is bought against the best of all packings.
// A greedy packer does not always find it, but must be near.
func TestReservationsAgainstOptimum(t *testing.T) {
	t.Parallel()
	total, exact, got, least := 0, 0, 0.0, 0.0
	seeds := lawSeeds(6000)
	for seed := range seeds {
		p := reservationProblem(seed)
		for i := range p.Pools {
			p.Pools[i].Tier = 0 // or the heavier pool is not a matter of cost
		}
		r := solveReserved(t, p)
		if slices.Max(r.Left) > 0 {
			continue
		}
		want := leastOf(p)
		require.GreaterOrEqual(t, cost(r), want-1e-9, "seed %d", seed)
		total++
		if cost(r) < want+0.01 {
			exact++
		}
		got, least = got+cost(r), least+want
	}
	t.Logf("%d of %d are the optimum; in sum %.4f of it", exact, total, got/least)
	require.Greater(t, total, int(seeds/2))
	require.Greater(t, float64(exact), 0.9*float64(total))
}

func describeReservations(p *pack.Problem, r *pack.Result) string {
	out := fmt.Sprintf("stocks %v strict %v\npools %+v\noptions %+v\nclasses %+v\n", p.Reservations, p.StrictReservation, p.Pools, p.Options, p.Classes)
	for i := range r.New {
		l := &r.New[i]
		out += fmt.Sprintf("%d × pool %d stock %d price %v: %+v\n", l.Copies, l.Pool, l.Reservation, l.Price, l.Shares)
	}
	return out + fmt.Sprintf("left %v", r.Left)
}
