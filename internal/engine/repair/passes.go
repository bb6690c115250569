package repair

import "github.com/dovetail-sdk/dovetail/internal/engine/model"

// A pass changes a state, and leaves it such that the pods with a place can be bound in
// the order that it returns. What later passes and strategies have to know of it is in
// Done.
type pass struct {
	name string // as model.LeftOut has it, or as what cannot be left out
	// run returns the order in which pods can be bound then, and whether the pass was not
	// left out.
	run func(st *State, order []int32) (now []int32, ran bool)
}

// passes are run in this order, once for each solution.
var passes = []pass{
	{model.Replay, (*State).replayed},         // pods are bound one by one, and those that cannot be are taken off
	{model.InsertLeft, (*State).insertLeft},   // pods left over are placed one by one
	{model.EjectOthers, (*State).makeRoom},    // pods make room for those left over
	{model.Search, (*State).search},           // pods are taken off some nodes and placed anew
	{model.SwapPods, (*State).swapPods},       // pods change places for soft constraints
	{model.InsertAgain, (*State).insertAgain}, // pods left over, where others went away
	{model.LettingIn, (*State).letIn},         // pods that waited for all others
	{model.Replay, (*State).replayedLast},     // what new nodes brought along later may be in the way of pods
}

// Run runs the passes, given the order in which pods are to be bound as they were packed,
// and returns the order in which they can be.
func (st *State) Run(order []int32) []int32 {
	for _, p := range passes {
		now, ran := p.run(st, order)
		if order = now; ran {
			st.came(p.name)
		}
	}
	return order
}

// ChooseOptions decides what new nodes are launched as, once it is known who is on them: with
// as many options as limits bear, and on spot only where that is wanted. Where some of these
// options have room for pods left over, they get it. It takes and returns the order of pods.
func (st *State) ChooseOptions(order []int32) []int32 {
	if st.widen() && st.leavesSome() {
		before := len(order)
		if order = st.insert(order); len(order) > before {
			st.widen()
		}
	}
	st.keepOffSpot()
	st.came(model.CapacityType)
	return order
}

func (st *State) replayed(order []int32) ([]int32, bool) { return st.replayOrder(order), true }

// replayedLast replays the plan where constraints between pods take notice of DaemonSets: each
// new node brings pods of these, also those of nodes that came late.
func (st *State) replayedLast(order []int32) ([]int32, bool) {
	if len(st.p.DaemonDuties) == 0 {
		return order, false
	}
	return st.replayAll(order, false), true
}

// insertLeft inserts pods. Where no constraint between pods had a say, the packer has left
// nothing to find.
func (st *State) insertLeft(order []int32) ([]int32, bool) {
	if st.p.Skips(model.InsertLeft) {
		return order, false
	}
	if len(st.p.Rules.Domain)+len(st.p.Rules.Node)+len(st.p.Extras.Attached.Ids) > 0 {
		order = st.insert(order)
	}
	return order, true
}

func (st *State) makeRoom(order []int32) ([]int32, bool) {
	order, st.Closed = st.searchRoom(order)
	return order, true
}

func (st *State) search(order []int32) ([]int32, bool) {
	order, closed := st.searchCheaper(order)
	st.Closed = st.Closed || closed
	return order, true
}

func (st *State) swapPods(order []int32) ([]int32, bool) {
	st.swapped = !st.p.Opts.Quick && st.swapBySoftScore()
	return order, st.swapped || st.Closed
}

// insertAgain inserts pods where the search or changes of places have made room.
func (st *State) insertAgain(order []int32) ([]int32, bool) {
	if !st.Closed && !st.swapped || st.p.Skips(model.InsertAgain) {
		return order, false
	}
	return st.insert(order), true
}

// letIn places pods of the classes that have waited for all others, one by one.
func (st *State) letIn(order []int32) ([]int32, bool) {
	if st.s.Absent == nil && st.s.Aside == nil {
		return order, true
	}
	st.last = true
	if st.s.Absent == nil {
		return st.insert(order), true
	}
	order, closed := st.searchCheaper(st.insert(order))
	if closed {
		st.Closed = true
		order = st.insert(order)
	}
	return order, true
}

// came tells the trace what a pass came to.
func (st *State) came(name string) {
	t := st.p.Opts.Trace
	if t == nil || t.After == nil {
		return
	}
	s := model.Score{}
	for _, placed := range st.Placed {
		if !placed {
			s.Left++
		}
	}
	for _, n := range st.New {
		s.Cost += n.BinType.Price()
	}
	t.After(name, s)
}
