package pack_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// shop makes a problem of one resource and one pool whose options have the
// given prices and sizes, cheapest first.
func shop(options ...[2]float64) *pack.Problem {
	p := &pack.Problem{Dims: 1}
	for _, o := range options {
		p.Options = append(p.Options, pack.Option{Price: o[0], Capacity: []int64{int64(o[1])}})
	}
	p.Pools = []pack.Pool{{First: 0, Last: len(options)}}
	return p
}

// add adds the given number of pods of a size that may use every option with room.
func add(p *pack.Problem, size int64, count int) {
	p.Classes = append(p.Classes, open(p, []int64{size}, count))
}

// bought lists the price of each new node, ascending.
func bought(r *pack.Result) []float64 {
	out := []float64{}
	for _, l := range r.New {
		for range l.Copies {
			out = append(out, l.Price)
		}
	}
	slices.Sort(out)
	return out
}

func TestNothingToDo(t *testing.T) {
	some := shop([2]float64{1, 10})
	add(some, 3, 0)
	nodes := &pack.Problem{Dims: 1, Nodes: []pack.Node{{Free: []int64{5}, Classes: bitset.New(0)}}}
	for name, p := range map[string]*pack.Problem{
		"an empty problem":     {},
		"options and no pods":  shop([2]float64{1, 10}),
		"a class without pods": some,
		"nodes and no pods":    nodes,
		"pools and no options": {Dims: 1, Pools: []pack.Pool{{}, {}}},
	} {
		r := solve(t, p)
		require.Empty(t, r.New, name)
		require.Zero(t, r.Bound, name)
		require.Zero(t, left(r), name)
	}
}

func TestNowhereToGo(t *testing.T) {
	none := &pack.Problem{Dims: 1, Classes: []pack.Class{{Request: []int64{1}, Count: 3}}}
	require.Equal(t, []int{3}, solve(t, none).Left, "there are no options")

	small := shop([2]float64{1, 10})
	add(small, 11, 2)
	add(small, 10, 2)
	small.Classes[0].Variants = nil
	r := solve(t, small)
	require.Equal(t, []int{2, 0}, r.Left, "one class is too large")
	require.Equal(t, []float64{1, 1}, bought(r))
	require.InDelta(t, 2, r.Bound, 1e-5, "the bound speaks of the pods that are placed")
}

func TestNoResources(t *testing.T) {
	p := &pack.Problem{Options: []pack.Option{{Price: 1}, {Price: 2}}, Pools: []pack.Pool{{First: 0, Last: 2}}}
	p.Classes = []pack.Class{
		{Count: 1000, Variants: []pack.Variant{{Options: setOf(p, 0, 1)}}},
		{Count: 7, Kind: 1, Variants: []pack.Variant{{Options: setOf(p, 1)}}},
	}
	r := solve(t, p)
	require.Equal(t, []float64{2}, bought(r), "one node takes all")
}

func TestPodsThatAskForNothing(t *testing.T) {
	for _, sizes := range [][]int64{{0}, {0, 0}, {0, 7}, {7, 0, 3}} {
		p := shop([2]float64{1, 0}, [2]float64{2, 10})
		for _, size := range sizes {
			add(p, size, 50)
		}
		solve(t, p)
	}
}

func TestFreeOptions(t *testing.T) {
	p := shop([2]float64{0, 4}, [2]float64{0, 10}, [2]float64{3, 20})
	add(p, 4, 3)
	r := solve(t, p)
	require.Zero(t, cost(r))
	require.Zero(t, r.Bound)

	add(p, 15, 1) // only the one that costs something holds it
	r = solve(t, p)
	require.Equal(t, 3.0, cost(r))
}

func TestHugeNumbers(t *testing.T) {
	const all = math.MaxInt64
	p := &pack.Problem{Dims: 2, Options: []pack.Option{{Price: 1, Capacity: []int64{all, all}}, {Price: 1.5, Capacity: []int64{all, all}}}}
	p.Pools = []pack.Pool{{First: 0, Last: 2, Limits: []int64{all}, Uses: [][]int64{{all / 4}, {all / 4}}}}
	p.Classes = []pack.Class{open(p, []int64{all/2 + 1, 1}, 3), open(p, []int64{1, all / 3}, 7)}
	p.Nodes = []pack.Node{{Free: []int64{all, all}, Classes: bitset.New(2)}}
	p.Nodes[0].Classes.AddRange(0, 2)
	r := solve(t, p)
	require.Zero(t, left(r))
}

// TestOddNumbers mixes nothing, little, much and less than nothing.
func TestOddNumbers(t *testing.T) {
	t.Parallel()
	numbers := []int64{0, 0, 0, 1, 2, 5, 100, -1, math.MaxInt64, math.MaxInt64 / 2, 1 << 40}
	prices := []float64{0, 0, 1e-12, 0.5, 1, 1e9}
	for seed := range uint64(testlong.Seeds(300, 2000)) {
		rng := splitmix(seed)
		p := &pack.Problem{Dims: rng.between(0, 3)}
		price := 0.0
		for range rng.between(1, 8) {
			price += purchaseOf(&rng, prices)
			o := pack.Option{Price: price, Capacity: make([]int64, p.Dims)}
			for r := range o.Capacity {
				o.Capacity[r] = purchaseOf(&rng, numbers)
			}
			p.Options = append(p.Options, o)
		}
		p.Pools = []pack.Pool{{First: 0, Last: len(p.Options)}}
		for kind := range rng.between(1, 8) {
			request := make([]int64, p.Dims)
			for r := range request {
				request[r] = max(purchaseOf(&rng, numbers), 0)
			}
			c := open(p, request, rng.intn(30))
			c.Kind = kind
			p.Classes = append(p.Classes, c)
		}
		solve(t, p)
	}
}

func TestNegativeRoom(t *testing.T) {
	p := shop([2]float64{1, -1}, [2]float64{2, 5})
	add(p, 0, 1)
	p.Nodes = []pack.Node{{Free: []int64{-3}, Classes: bitset.New(1)}}
	p.Nodes[0].Classes.Add(0)
	require.Equal(t, []float64{2}, bought(solve(t, p)), "where room is below nothing, not even nothing fits")
}

func TestTheCheapestMixIsBought(t *testing.T) {
	tests := []struct {
		name    string
		options [][2]float64
		pods    []int64
		want    []float64
	}{
		{"one large beats two small", [][2]float64{{3, 10}, {5, 20}}, []int64{10, 10}, []float64{5}},
		{"two small beat one large", [][2]float64{{2, 10}, {5, 20}}, []int64{10, 10}, []float64{2, 2}},
		{"the last node is a small one", [][2]float64{{1, 5}, {1.8, 10}}, []int64{5, 5, 5}, []float64{1, 1.8}},
		{"pods are put together that fill a node", [][2]float64{{1, 10}}, []int64{7, 6, 4, 3}, []float64{1, 1}},
	}
	for _, tt := range tests {
		p := shop(tt.options...)
		for _, size := range tt.pods {
			add(p, size, 1)
		}
		require.Equal(t, tt.want, bought(solve(t, p)), tt.name)
	}
}

func TestALaunchListsEveryOptionThatHoldsIt(t *testing.T) {
	p := shop([2]float64{1, 10}, [2]float64{2, 9}, [2]float64{3, 12}, [2]float64{4, 20})
	add(p, 5, 2)
	p.Classes[0].Variants[0].Options.Remove(2)
	r := solve(t, p)
	require.Len(t, r.New, 1)
	require.Equal(t, []int{0, 3}, slices.Collect(r.New[0].Options.All()))
	require.Equal(t, []pack.Share{{Class: 0, Count: 2}}, r.New[0].Shares)
}

func TestEqualNodesAreOneLaunch(t *testing.T) {
	p := shop([2]float64{1, 10})
	add(p, 5, 100_000)
	r := solve(t, p)
	require.Len(t, bought(r), 50_000)
	require.Less(t, len(r.New), 200, "what is alike is written once")
}

func TestLimits(t *testing.T) {
	limited := func(limit int64, uses ...int64) *pack.Problem {
		p := shop([2]float64{1, 4}, [2]float64{3, 10})
		p.Pools[0].Limits = []int64{limit}
		for _, u := range uses {
			p.Pools[0].Uses = append(p.Pools[0].Uses, []int64{u})
		}
		add(p, 4, 5)
		return p
	}
	tests := []struct {
		name    string
		problem *pack.Problem
		left    int
	}{
		{"nothing may be used", limited(0, 1, 1), 5},
		{"a limit below zero allows nothing", limited(-8, 1, 1), 5},
		{"what uses nothing is not limited", limited(0, 0, 1), 0},
		{"three of the small", limited(12, 4, 100), 2},
		{"all, with room to spare", limited(100, 4, 10), 0},
	}
	for _, tt := range tests {
		require.Equal(t, tt.left, left(solve(t, tt.problem)), tt.name)
	}

	r := solve(t, limited(12, 4, 13))
	for _, l := range r.New {
		require.False(t, l.Options.Has(1), "an option that would break the limit is not listed")
	}
}

func TestTiers(t *testing.T) {
	p := shop([2]float64{5, 10}, [2]float64{1, 10})
	p.Pools = []pack.Pool{
		{First: 0, Last: 1, Tier: 0, Limits: []int64{2}, Uses: [][]int64{{1}}},
		{First: 1, Last: 2, Tier: 3},
	}
	add(p, 10, 2)
	require.Equal(t, []float64{5, 5}, bought(solve(t, p)), "the first tier is used, dear as it is")

	p.Classes[0].Count = 5
	r := solve(t, p)
	require.Equal(t, []float64{1, 1, 1, 5, 5}, bought(r), "what its limits leave out goes to the next")
	require.InDelta(t, 13, r.Bound, 1e-4, "the bound knows of tiers")
	require.True(t, slices.IsSortedFunc(r.New, func(a, b pack.Launch) int { return a.Pool - b.Pool }), "tier by tier")

	add(p, 1, 1)
	p.Classes[1].Kind = 1
	p.Classes[1].Variants[0].Options.Remove(0)
	r = solve(t, p)
	require.Equal(t, []float64{1, 1, 1, 1, 5, 5}, bought(r), "pods go to the tier that admits them")
}

func TestPoolsOfOneTierCompete(t *testing.T) {
	p := shop([2]float64{5, 10}, [2]float64{1, 10})
	p.Pools = []pack.Pool{{First: 0, Last: 1}, {First: 1, Last: 2}}
	add(p, 10, 2)
	require.Equal(t, []float64{1, 1}, bought(solve(t, p)))
}

func TestExistingNodes(t *testing.T) {
	p := shop([2]float64{1, 10})
	add(p, 5, 5)
	all := bitset.New(1)
	all.Add(0)
	p.Nodes = []pack.Node{
		{Free: []int64{4}, Classes: all},
		{Free: []int64{11}, Classes: all},
		{Free: []int64{100}, Classes: bitset.New(1)},
		{Free: []int64{6}, Classes: all},
	}
	r := solve(t, p)
	require.Equal(t, [][]pack.Share{nil, {{Class: 0, Count: 2}}, nil, {{Class: 0, Count: 1}}}, r.Nodes)
	require.Equal(t, []float64{1}, bought(r), "the rest gets a new node")
	require.InDelta(t, 1, r.Bound, 1e-5, "the bound speaks of new nodes")

	p.Options, p.Pools, p.Classes[0].Variants = nil, nil, nil
	r = solve(t, p)
	require.Equal(t, []int{2}, r.Left, "without options nodes are filled all the same")
}

// TestNodesTakeWhomNobodyElseTakes shows that a pod that cannot have a new node
// comes before one that fills the node better but can.
func TestNodesTakeWhomNobodyElseTakes(t *testing.T) {
	p := shop([2]float64{1, 10})
	add(p, 10, 1)
	p.Classes = append(p.Classes, pack.Class{Request: []int64{3}, Count: 2, Kind: 1})
	p.Nodes = []pack.Node{{Free: []int64{10}, Classes: bitset.New(2)}}
	p.Nodes[0].Classes.AddRange(0, 2)
	r := solve(t, p)
	require.Zero(t, left(r))
	require.Equal(t, []pack.Share{{Class: 1, Count: 2}}, r.Nodes[0])
	require.Equal(t, []float64{1}, bought(r))
}

func TestTraits(t *testing.T) {
	// One label, left open by the cheap option for values 1 and 2, by the dear
	// one for 2 and 4.
	p := shop([2]float64{1, 10}, [2]float64{3, 10})
	p.Traits = &openLabel{allows: []int32{3, 6}, pools: [][2]int{{0, 2}}, counts: []bool{false}}
	asking := func(trait int32, options ...int) pack.Class {
		return pack.Class{Request: []int64{2}, Count: 1, Variants: []pack.Variant{{Options: setOf(p, options...), Trait: trait}}}
	}
	tests := []struct {
		name    string
		classes []pack.Class
		want    []float64
	}{
		{"the same is asked", []pack.Class{asking(2, 0, 1), asking(2, 0, 1)}, []float64{1}},
		{"one asks nothing", []pack.Class{asking(0, 0, 1), asking(1, 0)}, []float64{1}},
		{"they agree on one value", []pack.Class{asking(3, 0, 1), asking(6, 0, 1)}, []float64{1}},
		{"they contradict each other", []pack.Class{asking(1, 0), asking(2, 0, 1)}, []float64{1, 1}},
		{"the value is on the dear option only", []pack.Class{asking(4, 1), asking(4, 1)}, []float64{3}},
	}
	for _, tt := range tests {
		p.Classes = tt.classes
		require.Equal(t, tt.want, bought(solve(t, p)), tt.name)
	}
}

func TestVariants(t *testing.T) {
	p := shop([2]float64{1, 4}, [2]float64{2, 10})
	p.Classes = []pack.Class{{Request: []int64{4}, Count: 2, Variants: []pack.Variant{{Options: setOf(p, 1)}, {Options: setOf(p, 0)}}}}
	r := solve(t, p)
	require.Equal(t, 2.0, cost(r))
	for _, l := range r.New {
		for _, s := range l.Shares {
			require.Equal(t, l.Price == 2, s.Variant == 0, "the share names the variant that the option is of")
		}
	}
}

// openLabel is a Traits with one label. A trait is the set of values that pods
// allow, as bits; allows holds the values that each option leaves open.
type openLabel struct {
	allows []int32
	pools  [][2]int // first and last option
	counts []bool   // by pool: its MinValues count the values of this label
}

func (l *openLabel) Merge(pool int, a, b int32) (int32, bool) {
	both := a & b
	return both, both != 0 && !l.Options(pool, both).Empty()
}

func (l *openLabel) Options(pool int, trait int32) bitset.Set {
	first, last := l.pools[pool][0], l.pools[pool][1]
	set := bitset.NewWindow(first, last)
	for o := first; o < last; o++ {
		if l.allows[o]&trait != 0 {
			set.Add(o - bitset.Base(first))
		}
	}
	return set
}

func (l *openLabel) Values(pool, _ int, trait int32) bitset.Set {
	if !l.counts[pool] {
		return nil
	}
	return valuesOf(trait)
}

// valuesOf returns the numbers of the values in a trait.
func valuesOf(trait int32) bitset.Set {
	set := bitset.New(32)
	for v := range 32 {
		if trait>>v&1 != 0 {
			set.Add(v)
		}
	}
	return set
}

// TestTierTakesNothingForOtherOptions counts what is allocated for new nodes of a hundred
// options, beside some that nobody may use: no more than sets of them take.
func TestTierTakesNothingForOtherOptions(t *testing.T) {
	bytes := func(others int) int {
		p := &pack.Problem{Dims: 1, Pools: []pack.Pool{{Last: 100}, {First: 100, Last: 100 + others, Tier: 1}}}
		other := []int64{1_000}
		for o := range 100 + others {
			p.Options = append(p.Options, pack.Option{Price: float64(1 + o), Capacity: other})
			if o < 100 {
				p.Options[o].Capacity = []int64{int64(1 + o)}
			}
		}
		p.Capacities = pack.NewCapacities(p.Options, []int{0, 100}, 1)
		may := bitset.New(len(p.Options))
		may.AddRange(0, 100)
		p.Classes = []pack.Class{{Request: []int64{1}, Count: 1, Variants: []pack.Variant{{Options: may}}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pack.New(p).Ready()
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc)
	}
	bytes(0)
	few, many := bytes(1_000), bytes(50_000)
	t.Log(few, many)
	require.Less(t, many, few+3*50_000)
}
