package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
)

// estimateOf returns an estimate of some nodes, named n0, n1 and so on.
func estimateOf(classes []class, sites []site) *Estimate {
	p := &compile.Problem{Constraints: compile.Constraints{Rules: &compile.Rules{}}}
	e := &Estimate{in: Input{State: &engine.State{Problem: p}}, p: p, classes: classes, sites: sites, at: map[string]int{}}
	for i := range sites {
		if sites[i].Node == nil {
			sites[i].Node = &Node{}
		}
		sites[i].Name = fmt.Sprint("n", i)
		e.at[sites[i].Name] = i
	}
	e.packing = newPacking(sites)
	return e
}

func priced(price float64) *Node { return &Node{Price: price} }

func TestRemove(t *testing.T) {
	e := estimateOf([]class{
		{request: []int64{2, 1}, admits: []bool{true, true}, floor: 0.2},
		{request: []int64{1, 1}, admits: []bool{true, false}, floor: math.Inf(1)},
	}, []site{
		{free: []int64{4, 4}, Node: priced(1), pods: []Count{{Class: 0, Pods: 3}}},
		{free: []int64{3, 9}, Node: priced(2), pods: []Count{{Class: 1, Pods: 1}}},
		{free: []int64{9, 9}, kind: 1, Node: priced(4)},
		{Node: priced(8), pods: []Count{{Class: 1, Pods: 9}}},
	})
	for range 2 { // looking changes nothing
		require.Equal(t, Outcome{Moved: 3, Price: 1, Steps: 1}, e.Remove(nil, "n0"))
		require.Equal(t, Outcome{Moved: 1, Price: 2, Steps: 1}, e.Remove(nil, "n1"), "to node 0, as node 2 does not admit it")
		require.Equal(t, Outcome{Price: 4}, e.Remove(nil, "n2"))
		o := e.Remove(nil, "n3")
		require.Equal(t, 7, o.Moved)
		require.Equal(t, 2, o.Left)
		require.True(t, math.IsInf(o.Floor, 1))
		o = e.Remove(nil, "n0", "n2", "n0")
		require.Equal(t, 1, o.Moved)
		require.Equal(t, 2, o.Left)
		require.InDelta(t, 5-0.4, o.Saving(), 1e-12)
	}
}

func TestNodesThatAreShut(t *testing.T) {
	e := estimateOf([]class{{request: []int64{1}, admits: []bool{true}, floor: 0.1}}, []site{
		{Node: priced(1), pods: []Count{{Class: 0, Pods: 2}}},
		{free: []int64{2}},
		{free: []int64{3}},
	})
	places := func() []place {
		e.Remove(nil, "n0")
		return e.places
	}
	require.Equal(t, []place{{class: 0, node: 1, pods: 2}}, places())
	e.Shut("n1")
	require.Equal(t, []place{{class: 0, node: 2, pods: 2}}, places())
	e.Shut("n2")
	require.Equal(t, []place{{class: 0, node: 1, pods: 2}}, places(), "only those of the last call")
	e.Shut("n1", "n2")
	require.Equal(t, Outcome{Left: 2, Floor: 0.2, Price: 1, Steps: 1, Rest: []Count{{Class: 0, Pods: 2}}}, e.Remove(nil, "n0"))
	e.Shut()
	require.Equal(t, []place{{class: 0, node: 1, pods: 2}}, places())
}

func TestPodsThatExcludeOthers(t *testing.T) {
	// Class 0 excludes its own pods (rule 0), and class 1 those of class 2 (rule 1).
	parts := [][]pack.Membership{{{Rule: 0, Owners: 1, Members: 1, Both: 1}}, {{Rule: 1, Owners: 1}}, {{Rule: 1, Members: 1}}}
	var classes []class
	for i := range parts {
		classes = append(classes, class{number: i, request: []int64{1}, admits: []bool{true}, floor: 0.1, parts: parts[i], alone: i == 0})
	}
	e := estimateOf(classes, []site{
		{free: []int64{5}},
		{free: []int64{6}},
		{free: []int64{7}, there: slices.Clone(parts[0]), pods: []Count{{Class: 0, Pods: 1}}},
		{free: []int64{0}, pods: []Count{{Class: 0, Pods: 3}}},                      // as if they had come before they excluded each other
		{free: []int64{0}, pods: []Count{{Class: 1, Pods: 2}, {Class: 2, Pods: 9}}}, // likewise
	})
	rules := e.p.Rules
	rules.Node = slices.Grow(rules.Node, 2)[:2]
	rules.Node[0].Kind, rules.Node[1].Kind = pack.Apart, pack.Apart
	rules.ByClass = make([]compile.ClassRules, len(parts))
	for i := range parts {
		rules.ByClass[i].All = parts[i]
	}
	for range 2 {
		o := e.Remove(nil, "n3")
		require.Equal(t, 2, o.Moved, "one each to nodes 0 and 1, and none to node 2")
		require.Equal(t, []Count{{Class: 0, Pods: 1}}, o.Rest)
		o = e.Remove(nil, "n3", "n2")
		require.Equal(t, []int{2, 2}, []int{o.Moved, o.Left}, "with node 2 gone there is one more, and no more room")
		o = e.Remove(nil, "n4")
		require.Equal(t, 11, o.Moved, "the excluded are not where those who exclude them are")
		o = e.Remove(nil, "n4", "n1", "n2")
		require.Equal(t, 3, o.Moved, "class 1, and class 0 next to it, are on node 0")
		require.Equal(t, []Count{{Class: 2, Pods: 9}}, o.Rest, "which the excluded cannot join")
	}
}

func TestPricesAreAFloor(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var supplies []supply
		for range 1 + dice.IntN(20) {
			supplies = append(supplies, supply{room: []int64{1 + dice.Int64N(64000), 1 + dice.Int64N(1<<38), 110}, price: 0.01 + dice.Float64()})
		}
		prices := unitPrices(supplies, []int64{dice.Int64N(1e6), dice.Int64N(1 << 40), dice.Int64N(1000)})
		require.Len(t, prices, 3)
		for _, s := range supplies {
			require.LessOrEqual(t, worth(s.room, prices), s.price*(1+1e-9))
		}
	}
}

func TestPricesAreNearTheBest(t *testing.T) {
	// Half the pods want CPU and half memory: the two kinds of machine share them.
	supplies := []supply{{room: []int64{8, 16}, price: 1}, {room: []int64{4, 32}, price: 1}}
	wanted := []int64{600, 2400}
	// The best floor is that of the linear program: 50 of each machine.
	prices := unitPrices(supplies, wanted)
	require.InDelta(t, 100, worth(wanted, prices), 3)
	require.Nil(t, unitPrices(nil, wanted))
	require.True(t, math.IsInf(worth(wanted, nil), 1))
}
