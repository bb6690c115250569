package pack_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// solve packs a problem and holds the result against every rule.
func solve(t *testing.T, p *pack.Problem) *pack.Result {
	t.Helper()
	return solveWithin(t, p, math.MaxInt)
}

func solveWithin(t *testing.T, p *pack.Problem, maxSteps int) *pack.Result {
	t.Helper()
	r, err := pack.New(p).Solve(context.Background(), maxSteps)
	require.NoError(t, err)
	check(t, p, r)
	return r
}

// check is the referee: it knows the rules of a packing and nothing of how one
// is found.
func check(t *testing.T, p *pack.Problem, r *pack.Result) {
	t.Helper()
	require.Len(t, r.Left, len(p.Classes))
	require.Len(t, r.Nodes, len(p.Nodes))
	placed := make([]int, len(p.Classes))
	for i, shares := range r.Nodes {
		checkNode(t, p, i, shares)
		tally(placed, shares, 1)
	}
	used := make([][]int64, len(p.Pools))
	for i := range p.Pools {
		used[i] = make([]int64, len(p.Pools[i].Limits))
	}
	for i := range r.New {
		checkLaunch(t, p, &r.New[i])
		tally(placed, r.New[i].Shares, r.New[i].Copies)
		spend(p, &r.New[i], used[r.New[i].Pool])
	}
	for i := range p.Pools {
		for l, limit := range p.Pools[i].Limits {
			require.LessOrEqual(t, used[i][l], max(limit, 0), "limit %d of pool %d", l, i)
		}
	}
	for c := range p.Classes {
		require.GreaterOrEqual(t, r.Left[c], 0, "class %d", c)
		require.Equal(t, p.Classes[c].Count, placed[c]+r.Left[c], "pods of class %d", c)
	}
	checkComplete(t, p, r, used)
	require.False(t, math.IsNaN(r.Bound) || math.IsInf(r.Bound, 0) || r.Bound < 0, "bound %v", r.Bound)
	require.LessOrEqual(t, r.Bound, cost(r)*(1+1e-12), "the bound is above the cost")
}

func tally(placed []int, shares []pack.Share, copies int) {
	for _, s := range shares {
		placed[s.Class] += s.Count * copies
	}
}

// spend adds the most that a launch may take of the limits of its pool.
func spend(p *pack.Problem, l *pack.Launch, used []int64) {
	pool := &p.Pools[l.Pool]
	if pool.Limits == nil {
		return
	}
	most := make([]int64, len(used))
	for o := range l.Options.All() {
		for i, use := range pool.Uses[o-pool.First] {
			most[i] = max(most[i], use)
		}
	}
	for i := range used {
		used[i] += most[i] * int64(l.Copies)
	}
}

func checkNode(t *testing.T, p *pack.Problem, i int, shares []pack.Share) {
	t.Helper()
	for k, s := range shares {
		require.Positive(t, s.Count)
		require.True(t, p.Nodes[i].Classes.Has(s.Class), "class %d may not run on node %d", s.Class, i)
		require.True(t, k == 0 || shares[k-1].Class < s.Class, "shares in order")
	}
	if len(shares) > 0 {
		require.True(t, holds(p.Nodes[i].Free, sum(p, shares)), "node %d is too full", i)
	}
}

func checkLaunch(t *testing.T, p *pack.Problem, l *pack.Launch) {
	t.Helper()
	pool := &p.Pools[l.Pool]
	require.Positive(t, l.Copies)
	require.NotEmpty(t, l.Shares)
	require.False(t, l.Options.Empty())
	trait, need := int32(0), sum(p, l.Shares)
	for k, s := range l.Shares {
		require.Positive(t, s.Count)
		if k > 0 {
			before := l.Shares[k-1]
			require.True(t, before.Class < s.Class || before.Class == s.Class && before.Variant < s.Variant, "shares in order")
		}
		v := &p.Classes[s.Class].Variants[s.Variant]
		require.True(t, l.Options.SubsetOf(v.Options), "an option does not admit class %d", s.Class)
		trait = merge(t, p, l.Pool, trait, v.Trait)
	}
	if trait != 0 {
		require.True(t, l.Options.Window(pool.First, pool.Last).SubsetOf(p.Traits.Options(l.Pool, trait)), "an option cannot have the trait")
	}
	require.Equal(t, trait, l.Trait)
	first := -1
	for o := range l.Options.All() {
		require.True(t, pool.First <= o && o < pool.Last, "option %d is not of pool %d", o, l.Pool)
		require.True(t, holds(p.Options[o].Capacity, need), "option %d is too small", o)
		if first < 0 {
			first = o
		}
	}
	require.Equal(t, p.Options[first].Price, l.Price)
	checkMinValues(t, p, l)
}

func merge(t *testing.T, p *pack.Problem, pool int, a, b int32) int32 {
	t.Helper()
	switch {
	case b == 0 || a == b:
		return a
	case a == 0:
		return b
	}
	both, ok := p.Traits.Merge(pool, a, b)
	require.True(t, ok, "traits %d and %d are together on a node", a, b)
	return both
}

func checkMinValues(t *testing.T, p *pack.Problem, l *pack.Launch) {
	t.Helper()
	pool := &p.Pools[l.Pool]
	short := false
	for i := range pool.MinValues {
		short = short || distinct(p, l.Pool, i, l.Options, l.Trait) < pool.MinValues[i].Need
	}
	require.Equal(t, short, l.Relaxed, "a launch says whether it misses a MinValue")
	require.True(t, pool.BestEffort || !short, "a strict MinValue is missed")
}

// distinct counts the values of MinValue m of a pool that a node can show if it
// may be of any of some options and has a trait.
func distinct(p *pack.Problem, pool, m int, options bitset.Set, trait int32) int {
	var allowed bitset.Set
	if trait != 0 {
		allowed = p.Traits.Values(pool, m, trait)
	}
	seen := map[int32]bool{}
	for o := range options.All() {
		for _, v := range p.Pools[pool].MinValues[m].Values[o-p.Pools[pool].First] {
			if allowed == nil || allowed.Has(int(v)) {
				seen[v] = true
			}
		}
	}
	return len(seen)
}

func sum(p *pack.Problem, shares []pack.Share) []int64 {
	out := make([]int64, p.Dims)
	for _, s := range shares {
		for r, want := range p.Classes[s.Class].Request {
			out[r] += want * int64(s.Count)
		}
	}
	return out
}

// checkComplete demands that pods go to existing nodes while there is room, in
// the order of the nodes, and that no pod is left which a new node could take.
func checkComplete(t *testing.T, p *pack.Problem, r *pack.Result, used [][]int64) {
	t.Helper()
	later := make([]int, len(p.Classes)) // pods not on a node up to i
	for c := range p.Classes {
		later[c] = p.Classes[c].Count
	}
	for i := range p.Nodes {
		tally(later, r.Nodes[i], -1)
		taken := sum(p, r.Nodes[i])
		for c := range p.Nodes[i].Classes.All() {
			room := slicesSub(p.Nodes[i].Free, taken)
			require.False(t, later[c] > 0 && holds(room, p.Classes[c].Request), "node %d has room for another pod of class %d", i, c)
		}
	}
	for c, n := range r.Left {
		if n == 0 {
			continue
		}
		for i := range p.Pools {
			pool := &p.Pools[i]
			if pool.Limits != nil && pool.MinValues != nil {
				continue // which options a node must name depends on the pods
			}
			for _, v := range p.Classes[c].Variants {
				for o := pool.First; o < pool.Last; o++ {
					require.False(t, v.Options.Has(o) && affordable(pool, o, used[i]), "a pod of class %d is left though option %d takes it", c, o)
				}
			}
		}
	}
}

func affordable(pool *pack.Pool, option int, used []int64) bool {
	for i, limit := range pool.Limits {
		if pool.Uses[option-pool.First][i] > 0 && used[i]+pool.Uses[option-pool.First][i] > limit {
			return false
		}
	}
	return true
}

func slicesSub(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}
