package solve

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// Where limits leave room for fewer nodes than pods are to be spread over, the
// packer buys what it buys, and domains without a node do not count: all nodes may
// be in one. So domains are assigned once more, with as many of them as there are
// nodes, each with its even share of what found a place.

// evenHints are those of an attempt that places the pods of a solution more evenly.
func evenHints(p *compile.Problem, s *attempt.Attempt, r *pack.Result, plan *Solution) *attempt.Hints {
	rooms := evenRooms(s, p, r, plan)
	if rooms == nil {
		return nil
	}
	o := s.Again()
	o.Relaxed, o.Rooms = s.Relaxed, rooms
	return &o
}

// evenRooms are, by unit and cell, the even shares of the pods that a plan places;
// nil if all is even enough, or nothing shows that cells held less than was to go
// there.
func evenRooms(s *attempt.Attempt, p *compile.Problem, r *pack.Result, plan *Solution) [][]int {
	if s.Rooms == nil || !p.Limited() {
		return nil
	}
	found, _ := s.Placed(r)
	in := placedIn(p, plan)
	nodes := len(plan.Create) + len(plan.Bind)
	var out [][]int
	some := false
	for u := range s.Units {
		unit, class := &s.Units[u], &s.Problem.Classes[u]
		rooms := make([]int, len(class.Cells))
		for cell := range rooms {
			rooms[cell] = class.Cells[cell].Room
		}
		if rule := spreadOf(s, u); rule >= 0 && unit.Bundle < 0 && unit.Pinned < 0 && !unit.Leads {
			count := min(in[unit.Members[0].Class], unit.Count)
			if rooms = shares(s, p, u, rule, count, nodes); used(rooms) > used(found[u]) {
				some = true
			}
		}
		out = append(out, rooms)
	}
	if !some {
		return nil
	}
	return out
}

// spreadOf is the first hard topology spread of a unit, -1 if it has none.
func spreadOf(s *attempt.Attempt, u int) int {
	for _, own := range s.Problem.Classes[u].Owns {
		if own.Weight == 0 && s.Problem.Rules[own.Rule].Kind == topology.Spread {
			return own.Rule
		}
	}
	return -1
}

// used counts the cells that something goes to.
func used(cells []int) int {
	n := 0
	for _, count := range cells {
		if count > 0 {
			n++
		}
	}
	return n
}

// shares divides pods of a unit evenly among at most so many of its cells: those
// with room on nodes that exist first, then the cheapest. What is there counts.
func shares(s *attempt.Attempt, p *compile.Problem, u, rule, count, most int) []int {
	cells := s.Units[u].Cells
	key := slices.Index(s.Problem.Classes[u].Keys, s.Problem.Rules[rule].Key)
	var order []int
	for cell := range cells {
		if cells[cell].At[key] >= 0 && cells[cell].Room > 0 {
			order = append(order, cell)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(-model.CompareBools(cells[a].Free > 0, cells[b].Free > 0), cmp.Compare(cells[a].Cost, cells[b].Cost))
	})
	order = order[:min(len(order), most)]
	members := slices.Clone(s.Problem.Rules[rule].Members)
	out := make([]int, len(cells))
	for ; count > 0 && len(order) > 0; count-- {
		least := order[0]
		for _, cell := range order {
			if members[cells[cell].At[key]] < members[cells[least].At[key]] {
				least = cell
			}
		}
		out[least]++
		members[cells[least].At[key]]++
	}
	return out
}
