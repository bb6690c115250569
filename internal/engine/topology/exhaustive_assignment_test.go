package topology_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// tiny makes up a problem with at most six pods and three domains a key.
func tiny(seed uint64) *topology.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &topology.Problem{}
	for range 1 + r.IntN(2) {
		p.Domains = append(p.Domains, 1+r.IntN(3))
	}
	for range 1 + r.IntN(3) {
		p.Rules = append(p.Rules, tinyRule(r, p))
	}
	left := 6
	for c := 0; c < 3 && left > 0; c++ {
		class := tinyClass(r, p, 1+r.IntN(min(left, 4)))
		left -= class.Count
		p.Classes = append(p.Classes, class)
	}
	countOwn(p)
	return p
}

func tinyRule(r *rand.Rand, p *topology.Problem) topology.Rule {
	rule := topology.Rule{Kind: topology.Kind(r.IntN(3)), Key: r.IntN(len(p.Domains))}
	n := p.Domains[rule.Key]
	rule.Members, rule.Owners = make([]int, n), make([]int, n)
	rule.Counted, rule.Sure = make([]bool, n), make([]bool, n)
	for d := range n {
		if r.IntN(3) == 0 {
			rule.Members[d] = 1 + r.IntN(2)
		}
		if rule.Kind == topology.Apart && r.IntN(5) == 0 {
			rule.Owners[d] = 1
		}
		rule.Sure[d] = rule.Members[d] > 0 || r.IntN(3) == 0
		rule.Counted[d] = rule.Sure[d]
	}
	if rule.Kind == topology.Spread {
		rule.Skew = 1 + r.IntN(2)
		if r.IntN(4) == 0 {
			rule.MinDomains = 1 + r.IntN(3)
		}
	}
	rule.Elsewhere = rule.Kind == topology.Together && r.IntN(8) == 0
	return rule
}

func tinyClass(r *rand.Rand, p *topology.Problem, count int) topology.Class {
	c := topology.Class{Count: count}
	for key := range p.Domains {
		c.Keys = append(c.Keys, key)
	}
	c.Cells = tinyCells(r, p, nil)
	for i := range p.Rules {
		owns, joins := r.IntN(2) == 0, r.IntN(3) > 0
		if owns {
			c.Owns = append(c.Owns, topology.Own{Rule: i, Count: 1, Weight: max(0, r.IntN(8)-6) * 50})
		}
		if !joins {
			continue
		}
		j := topology.Join{Rule: i, Count: 1}
		if owns {
			j.Both = 1
		}
		c.Joins = append(c.Joins, j)
	}
	return c
}

// tinyCells picks some of all combinations of domains.
func tinyCells(r *rand.Rand, p *topology.Problem, at []int) []topology.Cell {
	if len(at) == len(p.Domains) {
		if r.IntN(4) == 0 {
			return nil
		}
		cell := topology.Cell{At: append([]int{}, at...), Cost: float64(r.IntN(3)), Room: room}
		if r.IntN(4) == 0 {
			cell.Room = r.IntN(3)
		}
		return []topology.Cell{cell}
	}
	var out []topology.Cell
	for d := -1; d < p.Domains[len(at)]; d++ {
		if d == topology.None && r.IntN(4) > 0 {
			continue
		}
		out = append(out, tinyCells(r, p, append(at, d))...)
	}
	return out
}

// countOwn makes domains count that owners of a spread can fill, as whoever
// states a problem has to.
func countOwn(p *topology.Problem) {
	for c := range p.Classes {
		for _, o := range p.Classes[c].Owns {
			rule := &p.Rules[o.Rule]
			if o.Weight > 0 {
				continue
			}
			for _, cell := range p.Classes[c].Cells {
				if d := cell.At[rule.Key]; d != topology.None && cell.Room > 0 {
					rule.Counted[d] = true
				}
			}
		}
	}
}

// most returns the largest number of pods that can be placed, in any order and
// anywhere. What is allowed next goes by the numbers placed, not by their order.
func most(p *topology.Problem) int {
	placed := make([][]int, len(p.Classes))
	for c := range placed {
		placed[c] = make([]int, len(p.Classes[c].Cells))
	}
	seen := map[string]bool{}
	best := 0
	l := &ledger{p: p}
	var visit func()
	visit = func() {
		key := fmt.Sprint(placed)
		if seen[key] {
			return
		}
		seen[key] = true
		best = max(best, len(l.pods))
		for c := range p.Classes {
			n := 0
			for _, m := range placed[c] {
				n += m
			}
			for cell := range p.Classes[c].Cells {
				if n == p.Classes[c].Count || placed[c][cell] >= p.Classes[c].Cells[cell].Room || !l.allowed(pod{c, cell}) {
					continue
				}
				l.pods = append(l.pods, pod{c, cell})
				placed[c][cell]++
				visit()
				placed[c][cell]--
				l.pods = l.pods[:len(l.pods)-1]
			}
		}
	}
	visit()
	return best
}

// TestAssignAgainstAllOrders: Assign decides pod by pod, so it may leave pods
// that another order would have placed, but not many: it places all that can be
// placed in seven of eight problems that are out for trouble, and of all pods
// 95%.
func TestAssignAgainstAllOrders(t *testing.T) {
	seeds := uint64(600)
	if !testlong.On() {
		seeds = 100
	}
	problems, below, possible, got := 0, 0, 0, 0
	for seed := range seeds {
		p := tiny(seed)
		require.NoError(t, sound(p), "seed %d", seed)
		result := topology.Assign(p)
		checkResult(t, p, result)
		placed := 0
		for _, e := range result.Events {
			placed += e.Count
		}
		best := most(p)
		require.LessOrEqual(t, placed, best, "seed %d", seed)
		if best == 0 {
			continue
		}
		problems++
		possible += best
		got += placed
		if placed < best {
			below++
		}
	}
	t.Logf("%d of %d problems are below the best, %d of %d pods are placed", below, problems, got, possible)
	require.Less(t, below, problems/8)
	require.Greater(t, got*100, possible*95)
}

// TestAssignRepeatable: one problem has one result, and is not written to.
func TestAssignRepeatable(t *testing.T) {
	for seed := range uint64(500) {
		p := tiny(seed)
		want := topology.Assign(p)
		require.Equal(t, want, topology.Assign(p), "seed %d", seed)
		require.Equal(t, want, topology.Assign(tiny(seed)), "seed %d", seed)
		require.Equal(t, tiny(seed), p, "seed %d: the problem was changed", seed)
	}
}
