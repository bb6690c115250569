package pack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// withStranger returns a copy of a problem with one more pool, of options that
// are cheaper and larger than any and admit nobody.
func withStranger(p *pack.Problem, tier int) *pack.Problem {
	out := *p
	n := len(p.Options)
	out.Options = append(slices.Clone(p.Options),
		pack.Option{Price: 0, Capacity: []int64{1 << 30, 1 << 20}},
		pack.Option{Price: 1e-9, Capacity: []int64{1 << 40, 1}})
	out.Pools = append(slices.Clone(p.Pools), pack.Pool{First: n, Last: n + 2, Tier: tier})
	out.Classes = nil
	for _, c := range p.Classes {
		variants := slices.Clone(c.Variants)
		for v := range variants {
			variants[v].Options = bitset.New(n + 2)
			copy(variants[v].Options, c.Variants[v].Options)
		}
		c.Variants = variants
		out.Classes = append(out.Classes, c)
	}
	return &out
}

// TestStrangersChangeNothing shows that options which no pod may use have no
// influence, not even through the scale that others are measured by.
func TestStrangersChangeNothing(t *testing.T) {
	t.Parallel()
	for _, f := range everySet() {
		if f.traits {
			continue // the label of these problems knows its options by number
		}
		for seed := range uint64(testlong.Seeds(2, 10)) {
			p := random(seed, f, 20, 30, 2)
			want := solve(t, p)
			last := p.Pools[len(p.Pools)-1].Tier
			for _, tier := range []int{last, last + 1} {
				got := solve(t, withStranger(p, tier))
				require.Equal(t, essence(want), essence(got), "%v seed %d", f, seed)
			}
		}
	}
}

// essence writes sets of options as lists, so that those of problems with more
// options compare.
func essence(r *pack.Result) any {
	type launch struct {
		pack.Launch
		options []int
	}
	var launches []launch
	for _, l := range r.New {
		options := slices.Collect(l.Options.All())
		l.Options = nil
		launches = append(launches, launch{l, options})
	}
	out := *r
	out.New = nil
	return []any{out, launches}
}

// TestMoreOfTheSame doubles every count. Two plans together are a plan for
// that, so the bound stays below them, and the engine is hardly above.
func TestMoreOfTheSame(t *testing.T) {
	for seed := range uint64(60) {
		p := random(seed, features{pools: true}, 20, 200, 3)
		once := solve(t, p)
		for c := range p.Classes {
			p.Classes[c].Count *= 2
		}
		twice := solve(t, p)
		require.LessOrEqual(t, twice.Bound, 2*cost(once)*(1+1e-9), "seed %d", seed)
		require.LessOrEqual(t, cost(twice), 2.1*cost(once), "seed %d", seed)
	}
}
