package repair

import "github.com/dovetail-sdk/dovetail/internal/engine/model"

// pass changes a State. Afterwards the pods with a place can be bound in the order that it returns.
type pass struct {
	name string // a name of package model's trace
	// run returns the order in which pods can be bound afterwards. ran is false if the pass was
	// left out.
	run func(st *State, order []int32) (now []int32, ran bool)
}

// passes run in this order, once for each solution.
var passes = []pass{
	{model.Replay, (*State).replayed},         // pods are bound one by one, and pods that cannot be bound are taken off
	{model.InsertLeft, (*State).insertLeft},   // unplaced pods are placed one by one
	{model.EjectOthers, (*State).makeRoom},    // pods are moved to make room for unplaced pods
	{model.Search, (*State).search},           // pods are taken off some nodes and placed anew
	{model.SwapPods, (*State).swapPods},       // pods are exchanged for soft constraints
	{model.InsertAgain, (*State).insertAgain}, // unplaced pods are placed one by one, after other pods moved
	{model.LettingIn, (*State).placeDeferred}, // deferred pods are placed
}

// Run runs the passes. It takes the order in which the packer wants pods bound, and returns the
// order in which they can be bound.
func (st *State) Run(order []int32) []int32 {
	for _, p := range passes {
		now, ran := p.run(st, order)
		if order = now; ran {
			st.traceResult(p.name)
		}
	}
	return order
}

// ChooseOptions decides the options of new nodes, once their pods are known: as many as limits
// allow, and spot only where Options allow it. Unplaced pods that fit on the added options are
// placed. It takes and returns the order in which pods can be bound.
func (st *State) ChooseOptions(order []int32) []int32 {
	if st.widen() && st.leavesSome() {
		before := len(order)
		if order = st.insert(order); len(order) > before {
			st.widen()
		}
	}
	st.keepOffSpot()
	st.traceResult(model.CapacityType)
	return order
}

func (st *State) replayed(order []int32) ([]int32, bool) { return st.replayOrder(order), true }

// insertLeft inserts unplaced pods. Without constraints between pods it does nothing, because the
// packer has tried every place.
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

// insertAgain inserts unplaced pods if the search or exchanges have changed the plan.
func (st *State) insertAgain(order []int32) ([]int32, bool) {
	if !st.Closed && !st.swapped || st.p.Skips(model.InsertAgain) {
		return order, false
	}
	return st.insert(order), true
}

// placeDeferred places the pods of deferred classes, one by one.
func (st *State) placeDeferred(order []int32) ([]int32, bool) {
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

// traceResult tells the trace the score after a pass.
func (st *State) traceResult(name string) {
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
