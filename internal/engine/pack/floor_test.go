package pack_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// floorProblem makes up a problem small enough for all packings to be tried,
// with existing nodes, reservations and pods that keep to themselves.
func floorProblem(seed uint64) *pack.Problem {
	rng := splitmix(seed)
	p := &pack.Problem{Dims: 2, Reservations: []int{rng.between(0, 2), 1}, Rules: []pack.Rule{{Kind: pack.Apart}, {Kind: pack.Apart}}}
	for range rng.between(2, 5) {
		o := pack.Option{Price: float64(rng.between(5, 40)) / 100, Capacity: []int64{int64(rng.between(2, 12)), int64(rng.between(2, 12))}}
		if rng.between(0, 3) == 0 {
			o.Reservation, o.Price = rng.between(1, 2), o.Price/20
		}
		p.Options = append(p.Options, o)
	}
	p.Pools = []pack.Pool{{Last: len(p.Options)}}
	for range rng.between(1, 3) {
		c := pack.Class{Request: []int64{int64(rng.between(0, 6)), int64(rng.between(1, 6))}, Count: rng.between(1, 3), Kind: len(p.Classes)}
		for range rng.between(1, 2) {
			v := pack.Variant{Options: bitset.New(len(p.Options))}
			for o := range p.Options {
				if rng.between(0, 9) < 7 && fit(c.Request, p.Options[o].Capacity) {
					v.Options.Add(o)
				}
			}
			c.Variants = append(c.Variants, v)
		}
		if rng.between(0, 3) == 0 {
			c.Memberships = []pack.Membership{{Rule: rng.between(0, 1), Owners: 1, Members: 1, Both: 1}}
		}
		p.Classes = append(p.Classes, c)
	}
	for range rng.between(0, 2) {
		n := pack.Node{Free: []int64{int64(rng.between(0, 8)), int64(rng.between(0, 8))}, Classes: bitset.New(len(p.Classes))}
		for c := range p.Classes {
			if rng.between(0, 3) > 0 {
				n.Classes.Add(c)
			}
		}
		if rng.between(0, 4) == 0 {
			n.Memberships = []pack.Membership{{Rule: 0, Owners: 1, Members: 1, Both: 1}}
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p
}

func fit(request, room []int64) bool { return request[0] <= room[0] && request[1] <= room[1] }

// exhaustive finds the least cost of a floorProblem by trying everything.
type exhaustive struct {
	p            *pack.Problem
	pods         []int // the class of each
	bins         []exhaustiveBin
	reservations []int
	best         float64
}

type exhaustiveBin struct {
	room   []int64
	option int // -1 for an existing node
	node   int
	apart  [2]bool // by rule: somebody is there who keeps to himself
}

func leastOf(p *pack.Problem) float64 {
	e := &exhaustive{p: p, reservations: append([]int(nil), p.Reservations...), best: math.Inf(1)}
	for c := range p.Classes {
		for range p.Classes[c].Count {
			e.pods = append(e.pods, c)
		}
	}
	for i := range p.Nodes {
		b := exhaustiveBin{room: append([]int64(nil), p.Nodes[i].Free...), option: -1, node: i}
		for _, membership := range p.Nodes[i].Memberships {
			b.apart[membership.Rule] = true
		}
		e.bins = append(e.bins, b)
	}
	e.place(0, 0)
	return e.best
}

func (e *exhaustive) place(i int, cost float64) {
	if cost >= e.best {
		return
	}
	if i == len(e.pods) {
		e.best = cost
		return
	}
	c := e.pods[i]
	for b := range e.bins {
		e.into(b, c, func() { e.place(i+1, cost) })
	}
	for o := range e.p.Options {
		option := &e.p.Options[o]
		if option.Reservation > 0 && e.reservations[option.Reservation-1] == 0 {
			continue
		}
		if option.Reservation > 0 {
			e.reservations[option.Reservation-1]--
		}
		e.bins = append(e.bins, exhaustiveBin{room: append([]int64(nil), option.Capacity...), option: o})
		e.into(len(e.bins)-1, c, func() { e.place(i+1, cost+option.Price) })
		e.bins = e.bins[:len(e.bins)-1]
		if option.Reservation > 0 {
			e.reservations[option.Reservation-1]++
		}
	}
}

// into puts a pod into a bin, if it may, goes on, and takes it out again.
func (e *exhaustive) into(at, c int, goOn func()) {
	b, class := &e.bins[at], &e.p.Classes[c]
	admitted := false
	if b.option < 0 {
		admitted = e.p.Nodes[b.node].Classes.Has(c)
	} else {
		for _, v := range class.Variants {
			admitted = admitted || v.Options.Has(b.option)
		}
	}
	if !admitted || !fit(class.Request, b.room) {
		return
	}
	before := *b
	before.room = append([]int64(nil), b.room...)
	for _, membership := range class.Memberships {
		if b.apart[membership.Rule] {
			return
		}
	}
	for _, membership := range class.Memberships {
		b.apart[membership.Rule] = true
	}
	b.room[0] -= class.Request[0]
	b.room[1] -= class.Request[1]
	goOn()
	e.bins[at] = before
}

// TestFloorAgainstOptimum holds the floor against the best of all packings,
// whatever hint it is given, and wants it to be the optimum often enough to be of
// use.
func TestFloorAgainstOptimum(t *testing.T) {
	seeds := testlong.Seeds(600, 4000)
	total, exact := 0, 0
	for seed := range uint64(seeds) {
		p := floorProblem(seed)
		least := leastOf(p)
		if math.IsInf(least, 1) {
			continue
		}
		rng := splitmix(seed)
		best := 0.0
		for range 3 {
			bought := make([]int, len(p.Classes))
			for c := range bought {
				bought[c] = rng.between(0, p.Classes[c].Count)
			}
			floor := pack.Floor(p, bought)
			require.LessOrEqual(t, floor, least*(1+1e-9), "seed %d, bought %v\nstocks %v\noptions %+v\nclasses %+v\nnodes %+v", seed, bought, p.Reservations, p.Options, p.Classes, p.Nodes)
			best = max(best, floor)
		}
		if least > 0 {
			total++
			if best > 0.999*least {
				exact++
			}
		}
	}
	t.Logf("%d of %d are the optimum", exact, total)
	require.Greater(t, total, seeds/2)
	require.Greater(t, float64(exact), 0.5*float64(total))
}

// TestFloorOfReservations: what a reservation may save is what its pieces hold, and no
// more than they are.
func TestFloorOfReservations(t *testing.T) {
	p := &pack.Problem{
		Dims: 1, Reservations: []int{2},
		Options: []pack.Option{{Price: 0.01, Capacity: []int64{4}, Reservation: 1}, {Price: 1, Capacity: []int64{4}}},
	}
	all := bitset.New(2)
	all.AddRange(0, 2)
	p.Classes = []pack.Class{{Request: []int64{1}, Count: 20, Variants: []pack.Variant{{Options: all}}}}
	require.InDelta(t, 3.02, pack.Floor(p, []int{12}), 1e-4, "two nodes of the reservation and three of the others")
	p.Classes[0].Count = 5
	require.InDelta(t, 0.0125, pack.Floor(p, []int{0}), 1e-4, "a node and a quarter of the reservation")
	p.Classes[0].Count = 8
	require.InDelta(t, 0.02, pack.Floor(p, []int{0}), 1e-4, "both nodes of the reservation")
}

// TestFloorOfNodes: room on nodes counts as far as whole pods fit.
func TestFloorOfNodes(t *testing.T) {
	p := &pack.Problem{Dims: 1, Options: []pack.Option{{Price: 1, Capacity: []int64{4}}}}
	all := bitset.New(1)
	all.Add(0)
	p.Classes = []pack.Class{{Request: []int64{2}, Count: 20, Variants: []pack.Variant{{Options: all}}}}
	for range 10 {
		p.Nodes = append(p.Nodes, pack.Node{Free: []int64{3}, Classes: all})
	}
	require.InDelta(t, 5, pack.Floor(p, []int{10}), 1e-4, "each node holds a pod, though it has room for one and a half")
}

// TestFloorOfPlenty: what many nodes have more of than anybody asks for does not hide
// what they are short of.
func TestFloorOfPlenty(t *testing.T) {
	p := &pack.Problem{Dims: 2, Options: []pack.Option{{Price: 1, Capacity: []int64{4, 4}}, {Price: 1, Capacity: []int64{2, 8}}}}
	all := bitset.New(2)
	all.AddRange(0, 2)
	for _, request := range [][]int64{{1, 1}, {1, 2}} {
		p.Classes = append(p.Classes, pack.Class{Request: request, Count: 20_000, Variants: []pack.Variant{{Options: all}}})
	}
	for range 5000 {
		p.Nodes = append(p.Nodes, pack.Node{Free: []int64{2, 1000}, Classes: all})
	}
	require.GreaterOrEqual(t, pack.Floor(p, []int{10_000, 20_000}), 7499.0, "a quarter of a node for each of 40,000 pods, less the 10,000 on nodes that exist")
}

// TestFloorOfComponents: options of two zones hold the pods of their zone, and some pods go to either.
func TestFloorOfComponents(t *testing.T) {
	options := []pack.Option{{Price: 0.24, Capacity: []int64{4}}, {Price: 0.24, Capacity: []int64{4}}}
	class := func(request int64, count int, zones ...int) pack.Class {
		set := bitset.New(2)
		kind := 2
		for _, z := range zones {
			set.Add(z)
			kind = z
		}
		if len(zones) > 1 {
			kind = 2
		}
		return pack.Class{Request: []int64{request}, Count: count, Variants: []pack.Variant{{Options: set}}, Kind: kind}
	}
	for name, tt := range map[string]struct {
		classes []pack.Class
		node    *pack.Node
		want    float64
	}{
		"each zone has a node of its own": {[]pack.Class{class(2, 3, 0), class(2, 1, 1), class(0, 1, 0, 1)}, nil, 0.72},
		"nodes are whole in each zone":    {[]pack.Class{class(2, 3, 0), class(2, 3, 1), class(0, 1, 0, 1)}, nil, 0.96},
		"pods of either zone need more":   {[]pack.Class{class(2, 2, 0), class(2, 2, 1), class(4, 1, 0, 1)}, nil, 0.72},
		"an existing node holds one":      {[]pack.Class{class(2, 3, 0), class(2, 1, 1), class(0, 1, 0, 1)}, &pack.Node{Free: []int64{2}, Classes: bitset.Of(3, 1)}, 0.48},
		"and does not where it is full":   {[]pack.Class{class(2, 3, 0), class(2, 1, 1), class(0, 1, 0, 1)}, &pack.Node{Free: []int64{1}, Classes: bitset.Of(3, 1)}, 0.72},
	} {
		p := &pack.Problem{Dims: 1, Options: options, Classes: tt.classes}
		if tt.node != nil {
			p.Nodes = []pack.Node{*tt.node}
		}
		bought := make([]int, len(tt.classes))
		for c := range bought {
			bought[c] = tt.classes[c].Count
		}
		require.InDelta(t, tt.want, pack.Floor(p, bought), 1e-9, name)
	}
}
