package topology_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

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
