package pack_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// features says what a random problem has beside pods and options.
type features struct {
	limits, traits, minValues, pools, tiers, bestEffort, nodes bool
}

func (f features) String() string {
	out := "plain"
	for _, membership := range []struct {
		on   bool
		name string
	}{
		{f.limits, "limits"}, {f.traits, "traits"}, {f.minValues, "minValues"}, {f.pools, "pools"},
		{f.tiers, "tiers"}, {f.bestEffort, "bestEffort"}, {f.nodes, "nodes"},
	} {
		if membership.on {
			out += "+" + membership.name
		}
	}
	return out
}

// everySet returns every combination of features that makes sense.
func everySet() []features {
	var out []features
	for bits := range 1 << 7 {
		on := func(i int) bool { return bits>>i&1 != 0 }
		f := features{on(0), on(1), on(2), on(3), on(4), on(5), on(6)}
		if (!f.tiers || f.pools) && (!f.bestEffort || f.minValues) {
			out = append(out, f)
		}
	}
	return out
}

// tiny makes a problem of at most five pods, four options and two resources,
// small enough to be solved by trying everything.
func tiny(seed uint64, f features) *pack.Problem { return random(seed, f, 4, 5, 1) }

// random makes a problem of at most the given number of options and pods, on nodes that
// hold about so many times two pods.
func random(seed uint64, f features, options, pods, scale int) *pack.Problem {
	rng := splitmix(seed)
	p := &pack.Problem{Dims: 2}
	split := rng.between(1, options)
	ends := []int{split}
	if f.pools && split > 1 {
		ends = []int{rng.between(1, split-1), split}
	}
	first := 0
	label := &openLabel{}
	for i, last := range ends {
		p.Options = append(p.Options, tinyOptions(&rng, last-first, scale)...)
		pool := pack.Pool{First: first, Last: last, BestEffort: f.bestEffort}
		if f.tiers {
			pool.Tier = i
		}
		p.Pools = append(p.Pools, pool)
		label.pools = append(label.pools, [2]int{first, last})
		label.counts = append(label.counts, false)
		first = last
	}
	for range p.Options {
		label.allows = append(label.allows, int32(rng.between(1, 7)))
	}
	for i := range p.Pools {
		if f.limits && rng.chance(70) {
			tinyLimits(&rng, p, &p.Pools[i], pods)
		}
		if f.minValues && rng.chance(70) {
			tinyMinValue(&rng, &p.Pools[i])
			if f.traits && rng.chance(50) {
				countLabel(label, i, &p.Pools[i])
			}
		}
	}
	if f.traits {
		p.Traits = label
	}
	tinyClasses(&rng, p, label, rng.between(1, pods))
	if f.nodes {
		tinyNodes(&rng, p, scale)
	}
	return p
}

func tinyClasses(rng *splitmix, p *pack.Problem, label *openLabel, pods int) {
	kinds := map[string]int{}
	for pods > 0 {
		n := rng.between(1, pods)
		class, labels := tinyClass(rng, p, n, label)
		if _, ok := kinds[labels]; !ok {
			kinds[labels] = len(kinds)
		}
		class.Kind = kinds[labels]
		p.Classes = append(p.Classes, class)
		pods -= n
	}
}

func tinyNodes(rng *splitmix, p *pack.Problem, scale int) {
	for range rng.between(1, 3) {
		n := pack.Node{Classes: bitset.New(len(p.Classes))}
		for range p.Dims {
			n.Free = append(n.Free, int64(rng.between(-1, 14*scale)))
		}
		for c := range p.Classes {
			if rng.chance(80) {
				n.Classes.Add(c)
			}
		}
		p.Nodes = append(p.Nodes, n)
	}
}

// tinyOptions makes options, cheapest first, whose prices follow their size
// loosely. A few are free.
func tinyOptions(rng *splitmix, n, scale int) []pack.Option {
	out := make([]pack.Option, n)
	for i := range out {
		capacity := []int64{int64(rng.between(1, 12*scale)), int64(rng.between(0, 12*scale))}
		price := float64(capacity[0]+capacity[1]) * (0.5 + rng.float())
		if rng.chance(3) {
			price = 0
		}
		out[i] = pack.Option{Price: price, Capacity: capacity}
	}
	slices.SortStableFunc(out, func(a, b pack.Option) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// tinyLimits limits the nodes and the first resource of a pool.
func tinyLimits(rng *splitmix, p *pack.Problem, pool *pack.Pool, pods int) {
	pool.Limits = []int64{int64(rng.between(0, pods-1)), int64(rng.between(0, 6*pods))}
	for o := pool.First; o < pool.Last; o++ {
		pool.Uses = append(pool.Uses, []int64{1, p.Options[o].Capacity[0] + int64(rng.intn(2))})
	}
}

func tinyMinValue(rng *splitmix, pool *pack.Pool) {
	mv := pack.MinValue{Need: rng.between(1, min(3, pool.Last-pool.First)), Count: 4}
	for range pool.Last - pool.First {
		values := []int32{int32(rng.intn(4))}
		if rng.chance(20) {
			values = append(values, int32(rng.intn(4)))
		}
		mv.Values = append(mv.Values, values)
	}
	pool.MinValues = []pack.MinValue{mv}
}

// countLabel makes the MinValue of a pool count the values of the open label.
func countLabel(label *openLabel, i int, pool *pack.Pool) {
	label.counts[i] = true
	mv := &pool.MinValues[0]
	for o := pool.First; o < pool.Last; o++ {
		mv.Values[o-pool.First] = nil
		for v := range valuesOf(label.allows[o]).All() {
			mv.Values[o-pool.First] = append(mv.Values[o-pool.First], int32(v))
		}
	}
}

// tinyClass makes a class with one or two variants, each of which may use most
// of the options. It also returns the options that it could use were it small.
func tinyClass(rng *splitmix, p *pack.Problem, count int, label *openLabel) (class pack.Class, kind string) {
	c := pack.Class{Request: []int64{int64(rng.between(0, 7)), int64(rng.between(0, 5))}, Count: count}
	small := roomy(p, []int64{min(c.Request[0], 1), min(c.Request[1], 1)})
	fitting := roomy(p, c.Request)
	all := bitset.New(len(p.Options))
	variants := 1
	if rng.chance(20) {
		variants = 2
	}
	for range variants {
		v := pack.Variant{Options: bitset.New(len(p.Options))}
		if p.Traits != nil && rng.chance(60) {
			v.Trait = int32(rng.between(1, 7))
		}
		for o := range p.Options {
			if rng.chance(85) && (v.Trait == 0 || label.allows[o]&v.Trait != 0) {
				v.Options.Add(o)
			}
		}
		all.Or(v.Options)
		v.Options.And(fitting)
		keepMinValues(p, v)
		if !v.Options.Empty() {
			c.Variants = append(c.Variants, v)
		}
	}
	all.And(small)
	return c, all.Key()
}

// keepMinValues removes the options of pools in which one pod alone leaves too
// few values, as a caller does under a strict policy.
func keepMinValues(p *pack.Problem, v pack.Variant) {
	for i := range p.Pools {
		pool := &p.Pools[i]
		here := bitset.New(len(p.Options))
		here.AddRange(pool.First, pool.Last)
		here.And(v.Options)
		for m := range pool.MinValues {
			if !pool.BestEffort && distinct(p, i, m, here, v.Trait) < pool.MinValues[m].Need {
				v.Options.AndNot(here)
			}
		}
	}
}

// describe prints a problem for a failure message.
func describe(p *pack.Problem) string {
	out := ""
	for i := range p.Pools {
		pool := &p.Pools[i]
		out += fmt.Sprintf("pool %d tier %d options [%d,%d) limits %v uses %v minValues %v\n", i, pool.Tier, pool.First, pool.Last, pool.Limits, pool.Uses, pool.MinValues)
	}
	for o := range p.Options {
		out += fmt.Sprintf("option %d price %.4f capacity %v\n", o, p.Options[o].Price, p.Options[o].Capacity)
	}
	for c := range p.Classes {
		out += fmt.Sprintf("class %d request %v count %d kind %d\n", c, p.Classes[c].Request, p.Classes[c].Count, p.Classes[c].Kind)
		for _, v := range p.Classes[c].Variants {
			out += fmt.Sprintf("  options %v trait %d\n", slices.Collect(v.Options.All()), v.Trait)
		}
	}
	if label, ok := p.Traits.(*openLabel); ok {
		out += fmt.Sprintf("open label %v\n", label.allows)
	}
	return out
}
