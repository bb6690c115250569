package pack_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// families are the problems to measure, by what makes them hard.
var families = []struct {
	name  string
	sizes []int
	make  func(n int) *pack.Problem
}{
	// Few kinds of pod, many of each.
	{"generic/pods", []int{100, 1000, 5000, 100_000}, func(n int) *pack.Problem { return generic(1, n, 50, 700) }},
	// No two pods alike.
	{"diverse/pods", []int{1000, 5000, 20_000}, func(n int) *pack.Problem { return diverse(1, n, 700) }},
	// Nodes that hold a few pods each.
	{"perfect/nodes", []int{5, 20, 40}, func(n int) *pack.Problem { p, _ := perfect(1, n); return p }},
	// A pool for each of many tenants.
	{"tenants/pools", []int{10, 100}, tenants},
	// Workloads that each name a few types of their own.
	{"pinned/classes", []int{30, 100}, pinned},
}

func BenchmarkPack(b *testing.B) {
	for _, f := range families {
		for _, n := range f.sizes {
			b.Run(fmt.Sprintf("family=%s=%d", f.name, n), func(b *testing.B) {
				k := pack.New(f.make(n))
				b.ReportAllocs()
				var r *pack.Result
				var err error
				for b.Loop() {
					if r, err = k.Solve(context.Background(), math.MaxInt); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(cost(r)/r.Bound, "cost/bound")
				b.ReportMetric(float64(r.Steps), "steps")
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, f := range families {
		n := f.sizes[len(f.sizes)-1]
		b.Run(fmt.Sprintf("family=%s=%d", f.name, n), func(b *testing.B) {
			p := f.make(n)
			b.ReportAllocs()
			for b.Loop() {
				pack.New(p)
			}
		})
	}
}

func tenants(n int) *pack.Problem {
	rng := splitmix(7)
	p := &pack.Problem{Dims: 3}
	for range n {
		first := len(p.Options)
		p.Options = append(p.Options, market(&rng, 20)...)
		p.Pools = append(p.Pools, pack.Pool{First: first, Last: len(p.Options)})
	}
	for i, pool := range p.Pools {
		own := bitset.New(len(p.Options))
		own.AddRange(pool.First, pool.Last)
		for range 3 {
			c := open(p, small(&rng), rng.between(1, 20))
			c.Variants[0].Options.And(own)
			c.Kind = i
			p.Classes = append(p.Classes, c)
		}
	}
	return p
}

func pinned(n int) *pack.Problem {
	rng := splitmix(7)
	p := &pack.Problem{Dims: 3, Options: market(&rng, 700)}
	p.Pools = []pack.Pool{{First: 0, Last: len(p.Options)}}
	for i := range n {
		some := bitset.New(len(p.Options))
		for range 40 {
			some.Add(rng.intn(len(p.Options)))
		}
		c := open(p, small(&rng), rng.between(1, 20))
		if i > 0 { // one may go anywhere
			c.Variants[0].Options.And(some)
		}
		c.Kind = i
		p.Classes = append(p.Classes, c)
	}
	return p
}

// small returns the request of a pod that most nodes have room for.
func small(rng *splitmix) []int64 {
	return []int64{purchaseOf(rng, []int64{100, 250, 500, 1000, 1500}), purchaseOf(rng, []int64{128, 256, 512, 1024, 2048}) * mib, 1}
}
