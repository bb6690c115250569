package screen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

func TestRemove(t *testing.T) {
	c := &screen.Cluster{
		Classes: []screen.Class{
			{Request: []int64{2, 1}, Admits: []bool{true, true}, Floor: 0.2},
			{Request: []int64{1, 1}, Admits: []bool{true, false}, Floor: math.Inf(1)},
		},
		Nodes: []screen.Node{
			{Free: []int64{4, 4}, Price: 1, Pods: []screen.Count{{Class: 0, Pods: 3}}},
			{Free: []int64{3, 9}, Price: 2, Pods: []screen.Count{{Class: 1, Pods: 1}}},
			{Free: []int64{9, 9}, Kind: 1, Price: 4},
			{Price: 8, Pods: []screen.Count{{Class: 1, Pods: 9}}},
		},
	}
	e := screen.NewEstimator(c)
	for range 2 { // looking changes nothing
		require.Equal(t, screen.Outcome{Moved: 3, Price: 1}, e.Remove(0))
		require.Equal(t, screen.Outcome{Moved: 1, Price: 2}, e.Remove(1), "to node 0, as node 2 does not admit it")
		require.Equal(t, screen.Outcome{Price: 4}, e.Remove(2))
		o := e.Remove(3)
		require.Equal(t, 7, o.Moved)
		require.Equal(t, 2, o.Left)
		require.True(t, math.IsInf(o.Floor, 1))
		o = e.Remove(0, 2, 0)
		require.Equal(t, 1, o.Moved)
		require.Equal(t, 2, o.Left)
		require.InDelta(t, 5-0.4, o.Saving(), 1e-12)
	}
}

func TestPodsThatCountForAnotherClass(t *testing.T) {
	c := &screen.Cluster{
		Classes: []screen.Class{
			{Request: []int64{2}, Admits: []bool{true, false}, Floor: 0.2},
			{Request: []int64{2}, Admits: []bool{true, true}, Floor: 0.1},
		},
		Nodes: []screen.Node{
			{Price: 1, Pods: []screen.Count{{Class: 0, Pods: 2}}},
			{Free: []int64{3}},
			{Free: []int64{5}, Kind: 1},
		},
	}
	e := screen.NewEstimator(c)
	for range 2 { // looking changes nothing
		o := e.Remove(0)
		require.Equal(t, []int{1, 1}, []int{o.Moved, o.Left})
		require.Equal(t, []screen.Place{{Class: 0, Node: 1, Pods: 1}}, e.Places())
		o = e.RemoveWith([]screen.Swap{{Own: 0, Other: 1}}, 0)
		require.Equal(t, []int{2, 0}, []int{o.Moved, o.Left})
		require.Equal(t, []screen.Place{{Class: 0, Node: 1, Pods: 1}, {Class: 1, Node: 2, Pods: 1}}, e.Places())
		o = e.RemoveWith([]screen.Swap{{Own: 0, Other: 1}, {Own: 0, Other: 1}}, 0)
		require.Equal(t, []int{2, 0}, []int{o.Moved, o.Left})
		require.Equal(t, []screen.Place{{Class: 1, Node: 1, Pods: 1}, {Class: 1, Node: 2, Pods: 1}}, e.Places())
	}
}

func TestNodesThatAreShut(t *testing.T) {
	c := &screen.Cluster{
		Classes: []screen.Class{{Request: []int64{1}, Admits: []bool{true}, Floor: 0.1}},
		Nodes: []screen.Node{
			{Price: 1, Pods: []screen.Count{{Class: 0, Pods: 2}}},
			{Free: []int64{2}},
			{Free: []int64{3}},
		},
	}
	e := screen.NewEstimator(c)
	places := func() []screen.Place {
		e.Remove(0)
		return e.Places()
	}
	require.Equal(t, []screen.Place{{Class: 0, Node: 1, Pods: 2}}, places())
	e.Shut(1)
	require.Equal(t, []screen.Place{{Class: 0, Node: 2, Pods: 2}}, places())
	e.Shut(2)
	require.Equal(t, []screen.Place{{Class: 0, Node: 1, Pods: 2}}, places(), "only those of the last call")
	e.Shut(1, 2)
	require.Equal(t, screen.Outcome{Left: 2, Floor: 0.2, Price: 1, Rest: []screen.Count{{Class: 0, Pods: 2}}}, e.Remove(0))
	e.Shut()
	require.Equal(t, []screen.Place{{Class: 0, Node: 1, Pods: 2}}, places())
}

func TestPodsThatShunOthers(t *testing.T) {
	// Group 0 is web, which keeps away from its like; group 1 is loud, which
	// class 1 keeps away from.
	c := &screen.Cluster{
		Classes: []screen.Class{
			{Request: []int64{1}, Admits: []bool{true}, Floor: 0.1, AntiAffinity: screen.AntiAffinity{Of: []uint64{1}, Excludes: []uint64{1}}},
			{Request: []int64{1}, Admits: []bool{true}, Floor: 0.1, AntiAffinity: screen.AntiAffinity{Of: []uint64{0}, Excludes: []uint64{2}}},
			{Request: []int64{1}, Admits: []bool{true}, Floor: 0.1, AntiAffinity: screen.AntiAffinity{Of: []uint64{2}, Excludes: []uint64{0}}},
		},
	}
	node := func(room int64, there screen.AntiAffinity, pods ...screen.Count) {
		c.Nodes = append(c.Nodes, screen.Node{Free: []int64{room}, Price: 1, Pods: pods, There: there})
	}
	nobody := screen.AntiAffinity{Of: []uint64{0}, Excludes: []uint64{0}}
	node(5, nobody)
	node(6, nobody)
	node(7, screen.AntiAffinity{Of: []uint64{1}, Excludes: []uint64{1}}, screen.Count{Class: 0, Pods: 1})
	node(0, nobody, screen.Count{Class: 0, Pods: 3})                                  // as if they had come before they shunned each other
	node(0, nobody, screen.Count{Class: 1, Pods: 2}, screen.Count{Class: 2, Pods: 9}) // likewise
	e := screen.NewEstimator(c)
	for range 2 {
		o := e.Remove(3)
		require.Equal(t, 2, o.Moved, "one each to nodes 0 and 1, and none to node 2")
		require.Equal(t, []screen.Count{{Class: 0, Pods: 1}}, o.Rest)
		o = e.Remove(3, 2)
		require.Equal(t, []int{2, 2}, []int{o.Moved, o.Left}, "with node 2 gone there is one more, and no more room")
		o = e.Remove(4)
		require.Equal(t, 11, o.Moved, "the loud are not where those who shun them are")
		o = e.Remove(4, 1, 2)
		require.Equal(t, 3, o.Moved, "class 1, and class 0 beside it, are on node 0")
		require.Equal(t, []screen.Count{{Class: 2, Pods: 9}}, o.Rest, "which the loud cannot join")
	}
}

func TestPricesAreAFloor(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var supply []screen.Supply
		for range 1 + dice.IntN(20) {
			supply = append(supply, screen.Supply{Room: []int64{1 + dice.Int64N(64000), 1 + dice.Int64N(1<<38), 110}, Price: 0.01 + dice.Float64()})
		}
		prices := screen.Prices(supply, []int64{dice.Int64N(1e6), dice.Int64N(1 << 40), dice.Int64N(1000)})
		require.Len(t, prices, 3)
		for _, s := range supply {
			require.LessOrEqual(t, screen.Floor(s.Room, prices), s.Price*(1+1e-9))
		}
	}
}

func TestPricesAreNearTheBest(t *testing.T) {
	// Half the pods want CPU and half memory: the two kinds of machine share them.
	supply := []screen.Supply{{Room: []int64{8, 16}, Price: 1}, {Room: []int64{4, 32}, Price: 1}}
	wanted := []int64{600, 2400}
	// The best floor is that of the linear program: 50 of each machine.
	prices := screen.Prices(supply, wanted)
	require.InDelta(t, 100, screen.Floor(wanted, prices), 3)
	require.Nil(t, screen.Prices(nil, wanted))
	require.True(t, math.IsInf(screen.Floor(wanted, nil), 1))
}

func BenchmarkRemove(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			dice := rand.New(rand.NewPCG(3, 4))
			c := &screen.Cluster{}
			for range 100 {
				admits := []bool{true, dice.IntN(2) == 0, dice.IntN(2) == 0}
				c.Classes = append(c.Classes, screen.Class{Request: []int64{100 + dice.Int64N(2000), dice.Int64N(8 << 30), 1}, Admits: admits, Floor: dice.Float64()})
			}
			for range nodes {
				n := screen.Node{Free: []int64{dice.Int64N(4000), dice.Int64N(16 << 30), 50}, Kind: dice.Int32N(3), Price: 0.2}
				for i := range int32(8) {
					n.Pods = append(n.Pods, screen.Count{Class: 12*i + dice.Int32N(4), Pods: 1 + dice.Int32N(2)})
				}
				c.Nodes = append(c.Nodes, n)
			}
			e := screen.NewEstimator(c)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				e.Remove(i % nodes)
				i++
			}
		})
	}
}
