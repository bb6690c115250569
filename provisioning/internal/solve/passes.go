package solve

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// A pass changes a solution that is being made, and leaves it such that the pods with a
// place can be bound in the order that it returns. What it works on is the assembler;
// what later passes and strategies have to know of it is in the Solution.
type pass struct {
	name string // as model.LeftOut has it, or as what cannot be left out
	// run returns the order in which pods can be bound then, and whether the pass was not
	// left out.
	run func(a *assembler, s *Solution, order []int32) (now []int32, ran bool)
}

// passes are run in this order, once for each solution.
var passes = []pass{
	{model.Replay, (*assembler).replayed},          // pods are bound one by one, and those that cannot be are taken off
	{model.InsertLeft, (*assembler).insertLeft},    // pods left over are placed one by one
	{model.EjectOthers, (*assembler).ejectOthers},  // pods make room for those left over
	{model.Eliminate, (*assembler).eliminateWaste}, // new nodes are emptied onto others
	{model.SwapPods, (*assembler).swapPods},        // pods change places for soft constraints
	{model.InsertAgain, (*assembler).insertAgain},  // pods left over, where others went away
	{model.LettingIn, (*assembler).letIn},          // pods that waited for all others
}

// repair runs the passes, and returns the order in which pods can be bound.
func (a *assembler) repair(s *Solution) []int32 {
	var order []int32
	for _, p := range passes {
		now, ran := p.run(a, s, order)
		if order = now; ran {
			a.came(p.name)
		}
	}
	return order
}

func (a *assembler) replayed(*Solution, []int32) ([]int32, bool) {
	return a.replayOrder(a.order()), true
}

func (a *assembler) insertLeft(_ *Solution, order []int32) ([]int32, bool) {
	if a.p.Skips(model.InsertLeft) {
		return order, false
	}
	return a.insertRest(order), true
}

// ejectOthers notes how unevenly pods are spread then, where another attempt may be
// tried or this is one: what comes after does not spread them better.
func (a *assembler) ejectOthers(s *Solution, order []int32) ([]int32, bool) {
	order, s.ejected = a.makeRoom(order)
	if a.s.Rooms != nil || a.s.Kept != nil || a.s.Raised != nil || a.leant != nil || a.leavesSome() {
		s.uneven = a.unevenness()
	}
	s.leant = a.leant
	return order, true
}

func (a *assembler) eliminateWaste(s *Solution, order []int32) ([]int32, bool) {
	order, s.closed = a.eliminateNodes(order, s.Stats.Steps)
	if s.closed = s.closed || s.ejected; s.closed {
		s.PackingBound = 0 // it is about what was chosen before
	}
	return order, true
}

func (a *assembler) swapPods(s *Solution, order []int32) ([]int32, bool) {
	s.swapped = !a.p.Opts.Quick && a.swapBySoftScore()
	return order, s.swapped || s.closed
}

func (a *assembler) insertAgain(s *Solution, order []int32) ([]int32, bool) {
	if !s.swapped && !s.closed || a.p.Skips(model.InsertAgain) {
		return order, false
	}
	return a.insert(order), true
}

// letIn places pods of the classes that have waited for all others, one by one.
func (a *assembler) letIn(s *Solution, order []int32) ([]int32, bool) {
	if a.s.Absent == nil {
		return order, true
	}
	a.last = true
	order, closed := a.eliminateNodes(a.insert(order), s.Stats.Steps)
	if closed {
		s.closed, s.PackingBound = true, 0
		order = a.insert(order)
	}
	return order, true
}

// came tells the trace what a pass came to.
func (a *assembler) came(name string) {
	t := a.p.Opts.Trace
	if t == nil || t.After == nil {
		return
	}
	s := model.Score{}
	for _, placed := range a.placed {
		if !placed {
			s.Left++
		}
	}
	for _, n := range a.new {
		s.Cost += n.BinType.Price()
	}
	t.After(name, s)
}
