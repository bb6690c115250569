package pack_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// withRules adds rules between the pods of a problem, and pods with memberships to
// its nodes.
func withRules(p *pack.Problem, seed uint64) *pack.Problem {
	rng := splitmix(seed ^ 0x5eed)
	for range rng.between(1, 3) {
		r := pack.Rule{Kind: pack.Apart}
		if rng.chance(50) {
			r = pack.Rule{Kind: pack.AtMost, Limit: rng.between(1, 3)}
		}
		p.Rules = append(p.Rules, r)
	}
	for c := range p.Classes {
		p.Classes[c].Memberships = someMemberships(&rng, p)
	}
	for i := range p.Nodes {
		if rng.chance(40) {
			p.Nodes[i].Memberships = someMemberships(&rng, p)
		}
	}
	return p
}

func someMemberships(rng *splitmix, p *pack.Problem) []pack.Membership {
	var out []pack.Membership
	for r := range p.Rules {
		switch rng.intn(5) {
		case 0:
			out = append(out, pack.Membership{Rule: r, Owners: 1})
		case 1:
			out = append(out, pack.Membership{Rule: r, Members: 1})
		case 2, 3:
			out = append(out, pack.Membership{Rule: r, Owners: 1, Members: 1, Both: 1})
		}
	}
	return out
}

// obeys says whether the rules hold between pods of some classes and what runs
// there already. Each pod here is one owner, one member or both.
func obeys(p *pack.Problem, there []pack.Membership, shares []pack.Share) bool {
	for r, rule := range p.Rules {
		owners, members, both := 0, 0, 0
		add := func(memberships []pack.Membership, n int) {
			for _, membership := range memberships {
				if membership.Rule == r {
					owners, members, both = owners+n*membership.Owners, members+n*membership.Members, both+n*membership.Both
				}
			}
		}
		add(there, 1)
		for _, s := range shares {
			add(p.Classes[s.Class].Memberships, s.Count)
		}
		switch {
		case owners == 0:
		case rule.Kind == pack.AtMost && members > rule.Limit:
			return false
		// Some owner has a member beside it, unless the only member is the only
		// owner.
		case rule.Kind == pack.Apart && members > 0 && (owners > 1 || members > 1 || both == 0):
			return false
		}
	}
	return true
}

// checkRules is the referee for problems with rules: it looks at what each node
// holds, and whether any pod that is left has a place.
func checkRules(t *testing.T, p *pack.Problem, r *pack.Result) {
	t.Helper()
	placed := make([]int, len(p.Classes))
	for i, shares := range r.Nodes {
		checkNode(t, p, i, shares)
		tally(placed, shares, 1)
		if len(shares) > 0 {
			require.True(t, obeys(p, p.Nodes[i].Memberships, shares), "node %d: %v", i, shares)
		}
	}
	for i := range r.New {
		checkLaunch(t, p, &r.New[i])
		tally(placed, r.New[i].Shares, r.New[i].Copies)
		require.True(t, obeys(p, nil, r.New[i].Shares), "launch %d: %v", i, r.New[i].Shares)
	}
	for c := range p.Classes {
		require.Equal(t, p.Classes[c].Count, placed[c]+r.Left[c], "pods of class %d", c)
		if r.Left[c] == 0 {
			continue
		}
		for i := range p.Nodes {
			free := slicesSub(p.Nodes[i].Free, sum(p, r.Nodes[i]))
			more := append(slices.Clone(r.Nodes[i]), pack.Share{Class: c, Count: 1})
			require.False(t, p.Nodes[i].Classes.Has(c) && holds(free, p.Classes[c].Request) && obeys(p, p.Nodes[i].Memberships, more),
				"a pod of class %d is left though node %d takes it", c, i)
		}
		for _, v := range p.Classes[c].Variants {
			for _, pool := range p.Pools {
				for o := pool.First; o < pool.Last; o++ {
					require.False(t, pool.Limits == nil && pool.MinValues == nil && v.Options.Has(o) && holds(p.Options[o].Capacity, p.Classes[c].Request),
						"a pod of class %d is left though option %d takes it", c, o)
				}
			}
		}
	}
	require.LessOrEqual(t, r.Bound, cost(r)*(1+1e-12), "the bound is above the cost")
}

// TestRulesHold solves random problems with rules on new nodes and existing
// ones.
func TestRulesHold(t *testing.T) {
	seeds := uint64(600)
	if !testlong.On() {
		seeds = 150
	}
	for i, f := range everySet() {
		if f.bestEffort || f.tiers {
			continue
		}
		for seed := range seeds / 30 {
			p := withRules(random(seed*997+uint64(i), f, 6, 30, 3), seed)
			r, err := pack.New(p).Solve(context.Background(), math.MaxInt)
			require.NoError(t, err)
			checkRules(t, p, r)
			again, err := pack.New(p).Solve(context.Background(), math.MaxInt)
			require.NoError(t, err)
			require.Equal(t, r, again, "features %s, seed %d", f, seed)
		}
	}
}

// TestRulesFewSteps: a packing that ran out of steps obeys the rules and leaves
// nobody without need.
func TestRulesFewSteps(t *testing.T) {
	for seed := range uint64(100) {
		p := withRules(random(seed, features{nodes: seed%2 == 0}, 6, 40, 3), seed)
		for _, steps := range []int{0, 1, 7} {
			r, err := pack.New(p).Solve(context.Background(), steps)
			require.NoError(t, err)
			checkRules(t, p, r)
		}
	}
}

// TestRulesAgainstOracle compares tiny problems with the least cost of all ways
// to split the pods: rules never make the bound too high, and cost little
// more than they must.
func TestRulesAgainstOracle(t *testing.T) {
	seeds := uint64(1_500)
	if !testlong.On() {
		seeds = 300
	}
	problems, optimal := 0, 0
	spent, least := 0.0, 0.0
	for seed := range seeds {
		p := withRules(tiny(seed, features{}), seed)
		o := newOracle(p)
		for set := range o.ways {
			if !obeys(p, nil, o.shares(set)) {
				o.ways[set] = nil
			}
		}
		r, err := pack.New(p).Solve(context.Background(), math.MaxInt)
		require.NoError(t, err)
		checkRules(t, p, r)
		want := o.least(o.placed(r))
		require.False(t, math.IsInf(want, 1), "seed %d", seed)
		require.GreaterOrEqual(t, cost(r)*(1+1e-9)+1e-9, want, "seed %d: cheaper than can be", seed)
		require.LessOrEqual(t, r.Bound, want*(1+1e-9)+1e-9, "seed %d: the bound is too high\n%s", seed, describe(p))
		if want > 0 {
			problems++
			spent, least = spent+cost(r), least+want
			if cost(r) <= want*(1+1e-9) {
				optimal++
			}
		}
	}
	t.Logf("%d of %d are optimal, %.2f%% above the least in all", optimal, problems, 100*(spent/least-1))
	require.Greater(t, optimal*100, problems*97)
	require.Less(t, spent, least*1.005)
}

// shares counts the pods of a set by class.
func (o *oracle) shares(set int) []pack.Share {
	var out []pack.Share
	for pod, c := range o.pods {
		if set&(1<<pod) != 0 {
			out = append(out, pack.Share{Class: c, Count: 1})
		}
	}
	return out
}

// TestRulesOfLargeWorkloads: one pod a node of one workload, at most three of
// another, and small pods that fill up the rest.
func TestRulesOfLargeWorkloads(t *testing.T) {
	p := shop([2]float64{1, 10}, [2]float64{1.9, 20})
	add(p, 6, 40)
	add(p, 3, 90)
	add(p, 1, 200)
	p.Rules = []pack.Rule{{Kind: pack.Apart}, {Kind: pack.AtMost, Limit: 3}}
	p.Classes[0].Memberships = []pack.Membership{{Rule: 0, Owners: 1, Members: 1, Both: 1}}
	p.Classes[1].Memberships = []pack.Membership{{Rule: 1, Owners: 1, Members: 1, Both: 1}}
	r, err := pack.New(p).Solve(context.Background(), math.MaxInt)
	require.NoError(t, err)
	checkRules(t, p, r)
	require.Equal(t, []int{0, 0, 0}, r.Left)
	require.LessOrEqual(t, cost(r), 68.5) // 710 units of room, at 0.095 each at least
}
