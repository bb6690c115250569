package pack_test

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

const (
	gib = int64(1) << 30
	mib = int64(1) << 20
)

// market makes options like those of a cloud: families of three memory ratios
// in many sizes, a price on demand and a lower one on spot in each of four
// zones.
func market(rng *splitmix, types int) []pack.Option {
	sizes := []int64{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192}
	ratios := []int64{2, 4, 8}
	unit := []float64{0.0425, 0.048, 0.063}
	var options []pack.Option
	for i := range types {
		family := i / len(sizes)
		k := family % 3
		vcpu := sizes[i%len(sizes)]
		price := float64(vcpu) * unit[k] * (0.8 + float64(0.05*float64(family%9)))
		cpu := vcpu*1000 - 60 - vcpu*3
		pods := min(58, 8+vcpu*15)
		if vcpu > 16 {
			pods = 234
		}
		memory := vcpu*ratios[k]*gib*925/1000 - (255+11*pods)*mib - 100*mib
		if memory <= 0 {
			continue
		}
		capacity := []int64{cpu, memory, pods}
		for range 4 {
			options = append(options, pack.Option{Price: price, Capacity: capacity})
			options = append(options, pack.Option{Price: price * (0.25 + float64(0.45*rng.float())), Capacity: capacity})
		}
	}
	slices.SortStableFunc(options, func(a, b pack.Option) int { return cmp.Compare(a.Price, b.Price) })
	return options
}

// generic makes pods of at most the given number of shapes that ask for CPU and
// memory and nothing else, on a market of the given number of types.
func generic(seed uint64, pods, shapes, types int) *pack.Problem {
	rng := splitmix(seed)
	p := &pack.Problem{Dims: 3, Options: market(&rng, types)}
	p.Pools = []pack.Pool{{First: 0, Last: len(p.Options)}}
	all := make([][2]int64, shapes)
	for i := range all {
		all[i] = [2]int64{
			purchaseOf(&rng, []int64{100, 250, 500, 1000, 1500}) + int64(rng.intn(shapes)/30),
			purchaseOf(&rng, []int64{100, 256, 512, 1024, 2048, 4096}) * mib,
		}
	}
	seen := map[[2]int64]int{}
	var order [][2]int64
	for range pods {
		s := purchaseOf(&rng, all)
		if seen[s] == 0 {
			order = append(order, s)
		}
		seen[s]++
	}
	for _, s := range order {
		p.Classes = append(p.Classes, open(p, []int64{s[0], s[1], 1}, seen[s]))
	}
	return p
}

// diverse makes the given number of classes of one pod each, no two alike.
func diverse(seed uint64, classes, types int) *pack.Problem {
	rng := splitmix(seed)
	p := &pack.Problem{Dims: 3, Options: market(&rng, types)}
	p.Pools = []pack.Pool{{First: 0, Last: len(p.Options)}}
	seen := map[[2]int64]bool{}
	for len(p.Classes) < classes {
		s := [2]int64{int64(rng.between(50, 4000)), int64(rng.between(64, 8192)) * mib}
		if !seen[s] {
			seen[s] = true
			p.Classes = append(p.Classes, open(p, []int64{s[0], s[1], 1}, 1))
		}
	}
	return p
}

// open makes a class that may use every option with room for it.
func open(p *pack.Problem, request []int64, count int) pack.Class {
	return pack.Class{Request: request, Count: count, Variants: []pack.Variant{{Options: roomy(p, request)}}}
}

// roomy returns the options that hold a request.
func roomy(p *pack.Problem, request []int64) bitset.Set {
	set := bitset.New(len(p.Options))
	for o := range p.Options {
		if holds(p.Options[o].Capacity, request) {
			set.Add(o)
		}
	}
	return set
}

// setOf returns the set of the given options.
func setOf(p *pack.Problem, options ...int) bitset.Set {
	set := bitset.New(len(p.Options))
	for _, o := range options {
		set.Add(o)
	}
	return set
}

func holds(capacity, request []int64) bool {
	for r, want := range request {
		if want > capacity[r] {
			return false
		}
	}
	return true
}

func cost(r *pack.Result) float64 {
	sum := 0.0
	for _, l := range r.New {
		sum += float64(l.Price * float64(l.Copies))
	}
	return sum
}

func left(r *pack.Result) int {
	n := 0
	for _, l := range r.Left {
		n += l
	}
	return n
}
