package compile_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// TestNodesTakeWhatThePackerDoes: passes let a pod join others on a node exactly if the
// packer does, whatever kind of rule is in the way. Topology spreads are not asked there.
func TestNodesTakeWhatThePackerDoes(t *testing.T) {
	let, kept := 0, map[pack.RuleKind]int{}
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		rules := []pack.Rule{{Kind: pack.AtMost, Limit: 1 + r.IntN(3)}, {Kind: pack.Apart}, {Kind: pack.AtMost, Limit: 1 + r.IntN(2)}}
		c := &compile.Rules{ByClass: make([]compile.ClassRules, 3)}
		c.Node = slices.Grow(c.Node, len(rules))[:len(rules)]
		for i, rule := range rules {
			c.Node[i].Rule = rule
		}
		for i := range c.ByClass {
			for n := range rules {
				if owner, member := r.IntN(2), r.IntN(2); owner+member > 0 {
					c.ByClass[i].All = append(c.ByClass[i].All, pack.Membership{Rule: n, Owners: owner, Members: member, Both: min(owner, member)})
				}
			}
		}
		sums, there := make([]pack.Membership, len(rules)), []pack.Membership(nil)
		for range 6 {
			class := r.IntN(len(c.ByClass))
			all := c.ByClass[class].All
			want := !slices.ContainsFunc(all, func(m pack.Membership) bool {
				sum := sums[m.Rule]
				return !rules[m.Rule].Holds(pack.Membership{Owners: sum.Owners + m.Owners, Members: sum.Members + m.Members, Both: sum.Both + m.Both})
			})
			require.Equal(t, want, c.NodeExcluder(class, there) == nil, "seed %d", seed)
			if want {
				let++
				there = pack.AddPods(there, 1, all...)
				for _, m := range all {
					sum := &sums[m.Rule]
					sum.Owners, sum.Members, sum.Both = sum.Owners+m.Owners, sum.Members+m.Members, sum.Both+m.Both
				}
				continue
			}
			// A topology spread is left to its own counts.
			for i := range c.Node {
				spread := c.Node[i].Spread
				c.Node[i].Spread = true
				if c.NodeExcluder(class, there) == nil {
					kept[rules[i].Kind]++
				}
				c.Node[i].Spread = spread
			}
		}
	}
	require.Greater(t, let, 1_000)
	require.Greater(t, kept[pack.AtMost], 1_000)
	require.Greater(t, kept[pack.Apart], 1_000)
}
