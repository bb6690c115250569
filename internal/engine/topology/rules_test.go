package topology_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

const room = math.MaxInt

// evenly returns a spread over a key all of whose domains are there to be filled.
func evenly(key, skew int, members ...int) topology.Rule {
	r := topology.Rule{Kind: topology.Spread, Key: key, Skew: skew, Members: members}
	for range members {
		r.Counted, r.Sure = append(r.Counted, true), append(r.Sure, true)
	}
	return r
}

func together(key int, members ...int) topology.Rule {
	return topology.Rule{Kind: topology.Together, Key: key, Members: members}
}

func apart(key int, members, owners []int) topology.Rule {
	return topology.Rule{Kind: topology.Apart, Key: key, Members: members, Owners: owners}
}

// cells are those with the domains 0 to n-1 of one key.
func cells(n int) []topology.Cell {
	out := make([]topology.Cell, n)
	for d := range out {
		out[d] = topology.Cell{At: []int{d}, Room: room}
	}
	return out
}

// replicas returns a class over key 0 whose pods have some rules and are counted by
// them.
func replicas(count int, cells []topology.Cell, rules ...int) topology.Class {
	c := topology.Class{Count: count, Keys: []int{0}, Cells: cells}
	for _, r := range rules {
		c.Owns = append(c.Owns, topology.Own{Rule: r, Count: 1})
		c.Joins = append(c.Joins, topology.Join{Rule: r, Count: 1, Both: 1})
	}
	return c
}

// followers returns a class over key 0 whose pods have a rule that does not count
// them.
func followers(count int, cells []topology.Cell, rules ...int) topology.Class {
	c := replicas(count, cells, rules...)
	c.Joins = nil
	return c
}

// counted returns a class over key 0 whose pods a rule counts that they do not have.
func counted(count int, cells []topology.Cell, rules ...int) topology.Class {
	c := replicas(count, cells, rules...)
	c.Owns = nil
	for i := range c.Joins {
		c.Joins[i].Both = 0
	}
	return c
}

// threefold makes one pod of a class stand for three.
func threefold(c topology.Class) topology.Class {
	for i := range c.Owns {
		c.Owns[i].Count *= 3
	}
	for i := range c.Joins {
		c.Joins[i].Count *= 3
		c.Joins[i].Both *= 3
	}
	return c
}

// soft makes the rules of a class preferences.
func soft(c topology.Class, weight int) topology.Class {
	for i := range c.Owns {
		c.Owns[i].Weight = weight
	}
	return c
}

func TestAssign(t *testing.T) {
	nowhere := topology.Cell{At: []int{topology.None}, Room: room}
	for _, tt := range []struct {
		name    string
		p       topology.Problem
		placed  [][]int // by class and cell
		blocked []int
	}{
		{
			"spread: as many in each domain",
			topology.Problem{Domains: []int{3}, Rules: []topology.Rule{evenly(0, 1, 0, 0, 0)}, Classes: []topology.Class{replicas(6, cells(3), 0)}},
			[][]int{{2, 2, 2}}, []int{0},
		},
		{
			"spread: a skew is a bound and no aim, so few domains are used",
			topology.Problem{Domains: []int{3}, Rules: []topology.Rule{evenly(0, 2, 0, 0, 0)}, Classes: []topology.Class{replicas(4, cells(3), 0)}},
			[][]int{{2, 2, 0}}, []int{0},
		},
		{
			"spread: the dear domain as seldom as the skew allows",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{evenly(0, 2, 0, 0)},
				Classes: []topology.Class{replicas(4, []topology.Cell{{At: []int{0}, Room: room, Cost: 9}, {At: []int{1}, Room: room, Cost: 2}}, 0)},
			},
			[][]int{{1, 3}}, []int{0},
		},
		{
			"spread: those that are there count",
			topology.Problem{Domains: []int{3}, Rules: []topology.Rule{evenly(0, 1, 2, 1, 0)}, Classes: []topology.Class{replicas(3, cells(3), 0)}},
			[][]int{{0, 1, 2}}, []int{0},
		},
		{
			"spread: an empty domain nobody can fill stops all others at the skew",
			topology.Problem{Domains: []int{3}, Rules: []topology.Rule{evenly(0, 2, 0, 0, 0)}, Classes: []topology.Class{replicas(9, cells(2), 0)}},
			[][]int{{2, 2}}, []int{5},
		},
		{
			"spread: pods that go together raise the only domain one by one",
			topology.Problem{Domains: []int{1}, Rules: []topology.Rule{evenly(0, 1, 0)}, Classes: []topology.Class{threefold(replicas(1, cells(1), 0))}},
			[][]int{{1}}, []int{0},
		},
		{
			"spread: which makes it one that counts towards minDomains",
			topology.Problem{
				Domains: []int{1},
				Rules:   []topology.Rule{{Kind: topology.Spread, Skew: 1, MinDomains: 1, Counted: []bool{true}, Sure: make([]bool, 1)}},
				Classes: []topology.Class{threefold(replicas(1, cells(1), 0))},
			},
			[][]int{{1}}, []int{0},
		},
		{
			"spread: pods that go together are too many where another domain is empty",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 0, 0)}, Classes: []topology.Class{threefold(replicas(1, cells(2), 0))}},
			[][]int{{0, 0}}, []int{1},
		},
		{
			"spread: a domain that is not counted stops nobody",
			topology.Problem{
				Domains: []int{3},
				Rules:   []topology.Rule{{Kind: topology.Spread, Skew: 1, Counted: []bool{true, true, false}, Sure: make([]bool, 3)}},
				Classes: []topology.Class{replicas(4, cells(2), 0)},
			},
			[][]int{{2, 2}}, []int{0},
		},
		{
			"spread: a domain too full at first, and no more once others have caught up",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 3, 0)}, Classes: []topology.Class{replicas(5, cells(2), 0)}},
			[][]int{{1, 4}}, []int{0},
		},
		{
			"spread: no place without the label",
			topology.Problem{Domains: []int{1}, Rules: []topology.Rule{evenly(0, 1, 0)}, Classes: []topology.Class{replicas(2, []topology.Cell{nowhere}, 0)}},
			[][]int{{0}}, []int{2},
		},
		{
			"spread: pods that are not counted may all go where the count is low",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 1, 0)}, Classes: []topology.Class{followers(4, cells(2)[1:], 0)}},
			[][]int{{4}}, []int{0},
		},
		{
			"spread: pods that are not counted stay out of what is too full",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 2, 0)}, Classes: []topology.Class{followers(4, cells(2)[:1], 0)}},
			[][]int{{0}}, []int{4},
		},
		{
			"minDomains: too few domains, so the least is taken for none",
			topology.Problem{
				Domains: []int{2},
				Rules:   []topology.Rule{{Kind: topology.Spread, Skew: 2, MinDomains: 3, Counted: []bool{true, true}, Sure: []bool{true, true}}},
				Classes: []topology.Class{replicas(9, cells(2), 0)},
			},
			[][]int{{2, 2}}, []int{5},
		},
		{
			"minDomains: domains that are not there yet come with the first pods",
			topology.Problem{
				Domains: []int{2},
				Rules:   []topology.Rule{{Kind: topology.Spread, Skew: 1, MinDomains: 2, Counted: []bool{true, true}, Sure: make([]bool, 2)}},
				Classes: []topology.Class{replicas(4, cells(2), 0)},
			},
			[][]int{{2, 2}}, []int{0},
		},
		{
			"together: the first goes to the cheapest, the rest to it",
			topology.Problem{
				Domains: []int{3}, Rules: []topology.Rule{together(0, 0, 0, 0)},
				Classes: []topology.Class{replicas(5, []topology.Cell{
					{At: []int{0}, Room: room, Cost: 3}, {At: []int{1}, Room: room, Cost: 1}, {At: []int{2}, Room: room, Cost: 2},
				}, 0)},
			},
			[][]int{{0, 5, 0}}, []int{0},
		},
		{
			"together: where one is there is where all go, whatever it costs",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 1)},
				Classes: []topology.Class{replicas(3, []topology.Cell{{At: []int{0}, Room: room}, {At: []int{1}, Room: room, Cost: 9}}, 0)},
			},
			[][]int{{0, 3}}, []int{0},
		},
		{
			"together: nobody to be with, and not of their own kind",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 0)}, Classes: []topology.Class{followers(2, cells(2), 0)}},
			[][]int{{0, 0}}, []int{2},
		},
		{
			"together: one elsewhere, where no pod can follow, keeps others from being the first",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{{Kind: topology.Together, Elsewhere: true}},
				Classes: []topology.Class{replicas(2, cells(2), 0)},
			},
			[][]int{{0, 0}}, []int{2},
		},
		{
			"together: followers served before those whom they follow are tried again",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 0)},
				Classes: []topology.Class{followers(2, cells(2), 0), counted(1, cells(2)[1:], 0)},
			},
			[][]int{{0, 2}, {1}}, []int{0, 0},
		},
		{
			"together: a leader goes where its followers can",
			topology.Problem{
				Domains: []int{3}, Rules: []topology.Rule{together(0, 0, 0, 0)},
				Classes: []topology.Class{counted(1, cells(3), 0), followers(2, cells(3)[2:], 0)},
			},
			[][]int{{0, 0, 1}, {2}}, []int{0, 0},
		},
		{
			"together: no place without the label, even for the first",
			topology.Problem{Domains: []int{1}, Rules: []topology.Rule{together(0, 0)}, Classes: []topology.Class{replicas(1, []topology.Cell{nowhere}, 0)}},
			[][]int{{0}}, []int{1},
		},
		{
			"apart: one in each domain, and no more",
			topology.Problem{Domains: []int{3}, Rules: []topology.Rule{apart(0, nil, nil)}, Classes: []topology.Class{replicas(4, cells(3), 0)}},
			[][]int{{1, 1, 1}}, []int{1},
		},
		{
			"apart: owners stay away from members that are there",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{apart(0, []int{1, 0}, nil)}, Classes: []topology.Class{followers(3, cells(2), 0)}},
			[][]int{{0, 3}}, []int{0},
		},
		{
			"apart: members stay away from owners that are there",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, []int{0, 1})}, Classes: []topology.Class{counted(3, cells(2), 0)}},
			[][]int{{3, 0}}, []int{0},
		},
		{
			"apart: members that come after owners stay away from them",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{followers(2, cells(2)[:1], 0), counted(2, cells(2), 0)},
			},
			[][]int{{2}, {0, 2}}, []int{0, 0},
		},
		{
			"apart: owners that come after members stay away from them",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{counted(2, cells(2)[:1], 0), followers(2, cells(2), 0)},
			},
			[][]int{{2}, {0, 2}}, []int{0, 0},
		},
		{
			"apart: nowhere else to go",
			topology.Problem{
				Domains: []int{1}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{followers(1, cells(1), 0), counted(2, cells(1), 0)},
			},
			[][]int{{1}, {0}}, []int{0, 2},
		},
		{
			"apart: without the label it means nothing",
			topology.Problem{Domains: []int{1}, Rules: []topology.Rule{apart(0, []int{5}, []int{5})}, Classes: []topology.Class{replicas(3, []topology.Cell{nowhere}, 0)}},
			[][]int{{3}}, []int{0},
		},
		{
			"apart: a pod that stands for two that keep each other away fits nowhere",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{{
					Count: 1, Keys: []int{0}, Cells: cells(2),
					Owns: []topology.Own{{Rule: 0, Count: 2}}, Joins: []topology.Join{{Rule: 0, Count: 2, Both: 2}},
				}},
			},
			[][]int{{0, 0}}, []int{1},
		},
		{
			"apart: nor one that stands for an owner and another whom it avoids",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{{
					Count: 1, Keys: []int{0}, Cells: cells(2),
					Owns: []topology.Own{{Rule: 0, Count: 1}}, Joins: []topology.Join{{Rule: 0, Count: 1}},
				}},
			},
			[][]int{{0, 0}}, []int{1},
		},
		{
			"soft: apart while there are domains, and together then",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{apart(0, nil, nil)}, Classes: []topology.Class{soft(replicas(4, cells(2), 0), 10)}},
			[][]int{{2, 2}}, []int{0},
		},
		{
			"soft: to where others are, though it costs more",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 1)},
				Classes: []topology.Class{soft(followers(2, []topology.Cell{{At: []int{0}, Room: room}, {At: []int{1}, Room: room, Cost: 9}}, 0), 1)},
			},
			[][]int{{0, 2}}, []int{0},
		},
		{
			"soft: nobody to be with is no hindrance",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 0)}, Classes: []topology.Class{soft(followers(2, cells(2)[:1], 0), 1)}},
			[][]int{{2}}, []int{0},
		},
		{
			"soft: members keep no distance from those who would rather be alone",
			topology.Problem{
				Domains: []int{1}, Rules: []topology.Rule{apart(0, nil, nil)},
				Classes: []topology.Class{soft(followers(1, cells(1), 0), 100), counted(2, cells(1), 0)},
			},
			[][]int{{1}, {2}}, []int{0, 0},
		},
		{
			"soft: a spread that cannot be kept is let go",
			topology.Problem{Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 0, 0)}, Classes: []topology.Class{soft(replicas(4, cells(2)[:1], 0), 100)}},
			[][]int{{4}}, []int{0},
		},
		{
			"rooms: a cell takes as many as it has room for",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 0)},
				Classes: []topology.Class{counted(5, []topology.Cell{{At: []int{0}, Room: 2}, {At: []int{1}, Room: 1}}, 0)},
			},
			[][]int{{2, 1}}, []int{2},
		},
		{
			"rooms: a full domain holds the others back by its count",
			topology.Problem{
				Domains: []int{2}, Rules: []topology.Rule{evenly(0, 1, 0, 0)},
				Classes: []topology.Class{replicas(6, []topology.Cell{{At: []int{0}, Room: 1}, {At: []int{1}, Room: room}}, 0)},
			},
			[][]int{{1, 2}}, []int{3},
		},
		{
			"a class without a cell",
			topology.Problem{Domains: []int{1}, Rules: []topology.Rule{apart(0, nil, nil)}, Classes: []topology.Class{replicas(2, nil, 0)}},
			[][]int{{}}, []int{2},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, sound(&tt.p))
			got := topology.Assign(&tt.p)
			require.Equal(t, tt.placed, got.Placed)
			require.Equal(t, tt.blocked, got.Blocked)
			checkResult(t, &tt.p, got)
		})
	}
}

// TestAssignTwoKeys: constraints over zones and racks at once.
func TestAssignTwoKeys(t *testing.T) {
	grid := func() []topology.Cell {
		var out []topology.Cell
		for zone := range 2 {
			for rack := range 2 {
				out = append(out, topology.Cell{At: []int{zone, rack}, Room: room})
			}
		}
		return out
	}
	class := replicas(4, grid(), 0, 1)
	class.Keys = []int{0, 1}
	t.Run("even over both", func(t *testing.T) {
		p := &topology.Problem{Domains: []int{2, 2}, Rules: []topology.Rule{evenly(0, 1, 0, 0), evenly(1, 1, 0, 0)}, Classes: []topology.Class{class}}
		got := topology.Assign(p)
		l := checkResult(t, p, got)
		require.Equal(t, []int{0}, got.Blocked)
		require.Equal(t, [][]int{{2, 2}, {2, 2}}, [][]int{l.members(0), l.members(1)})
	})
	t.Run("even over zones, in one rack", func(t *testing.T) {
		p := &topology.Problem{Domains: []int{2, 2}, Rules: []topology.Rule{evenly(0, 1, 0, 0), together(1, 0, 0)}, Classes: []topology.Class{class}}
		got := topology.Assign(p)
		l := checkResult(t, p, got)
		require.Equal(t, []int{0}, got.Blocked)
		require.Equal(t, []int{2, 2}, l.members(0))
		require.Contains(t, [][]int{{4, 0}, {0, 4}}, l.members(1))
	})
	t.Run("the first of one affinity must be the first of both", func(t *testing.T) {
		p := &topology.Problem{
			Domains: []int{2, 2}, Rules: []topology.Rule{together(0, 1, 0), together(1, 0, 0)}, Classes: []topology.Class{class},
		}
		got := topology.Assign(p)
		checkResult(t, p, got)
		require.Equal(t, []int{4}, got.Blocked)
	})
}

// TestAssignEvents: what was served in a row is one event, and the events are
// in the order of service.
func TestAssignEvents(t *testing.T) {
	p := &topology.Problem{
		Domains: []int{2}, Rules: []topology.Rule{together(0, 0, 0), evenly(0, 1, 0, 2)},
		Classes: []topology.Class{followers(2, cells(2), 0), counted(1, cells(2)[1:], 0), replicas(2, cells(2), 1)},
	}
	got := topology.Assign(p)
	require.Equal(t, []topology.Event{
		{Class: 1, Cell: 0, Count: 1},
		{Class: 2, Cell: 0, Count: 2},
		{Class: 0, Cell: 1, Count: 2},
	}, got.Events)
	l := checkResult(t, p, got)
	require.Equal(t, [][]int{{0, 1}, {2, 2}}, [][]int{l.members(0), l.members(1)})
}
