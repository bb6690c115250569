package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// replayOrder binds the pods of the plan one by one, where domains were assigned to some or some
// must be on one node with others: which of these may be the first of their kind is decided
// group by group, and one group can be in the way of another. A pod whose turn comes too
// early waits for those after it. What nothing makes right is taken off its node.
// It returns the order in which the rest can be bound.
func (st *State) replayOrder(order []int32) []int32 {
	if len(st.s.Bundler.Bundles)+len(st.s.Bundler.Pinned) > 0 {
		return st.spreadFirst(st.replayAll(order, true))
	}
	if len(st.s.Units) > 0 {
		return st.replayAll(order, true)
	}
	return order
}

// replayAll does so with all pods of the plan. Trusting is that of bindAll.
func (st *State) replayAll(order []int32, trusting bool) []int32 {
	for {
		out, refused, _ := st.bindAll(order, trusting)
		if len(refused) == 0 {
			return out
		}
		st.takeOff(refused)
		order = out
	}
}

// spreadFirst puts pods first that can be in the plan only before others that
// their topology spread counts, as domains were assigned: a group that wants to be
// the first of its kind may have come before them. The order stays as it is where
// that does not help.
func (st *State) spreadFirst(order []int32) []int32 {
	_, refused, _ := st.bindAll(order, false)
	if len(refused) == 0 {
		return order
	}
	late := make([]bool, len(st.p.Pods))
	for _, podID := range refused {
		late[podID] = true
	}
	early := slices.Clone(order)
	slices.SortStableFunc(early, func(x, y int32) int { return -model.CompareBools(late[x], late[y]) })
	other, waiting, _ := st.bindAll(early, true)
	if len(waiting) > 0 {
		return order
	}
	if _, still, _ := st.bindAll(other, false); len(still) < len(refused) {
		return other
	}
	return order
}

// bindAll binds pods in an order, and lists those that were and those that could
// not be, and returns the ledger with those that were. Pods that do not exist come last.
// With trusting it takes it that topology spreads over the name of the node hold; then it looks
// at no node that gets no pod.
func (st *State) bindAll(order []int32, trusting bool) (bound, refused []int32, l *ledger.Ledger) {
	bins := st.binsOf(trusting)
	at := make([]*ledger.Bin, len(st.p.Pods))
	for _, s := range bins {
		for _, podID := range s.PodIDs {
			at[podID] = s
		}
		s.Pods = nil
	}
	l = ledger.New(st.p, bins)
	bind := func(podID int32) {
		c := st.p.ClassOf[podID]
		l.RecordReliance(c, at[podID])
		at[podID].Add(c)
		l.Count(c, 1, at[podID])
		bound = append(bound, podID)
	}
	var headroom []int32
	for waiting, before := order, -1; len(waiting) > 0 && len(bound) > before; waiting = refused {
		before, refused = len(bound), nil
		for _, podID := range waiting {
			switch c := st.p.ClassOf[podID]; {
			case st.p.Classes[c].Headroom:
				headroom = append(headroom, podID)
			case l.DomainsAllow(c, at[podID]) && (trusting || l.HostsAllow(c, at[podID])):
				bind(podID)
			default:
				refused = append(refused, podID)
			}
		}
	}
	for before := -1; len(headroom) > 0 && len(bound) > before; {
		before = len(bound)
		headroom = slices.DeleteFunc(headroom, func(podID int32) bool {
			if !l.DomainsAllow(st.p.ClassOf[podID], at[podID]) {
				return false
			}
			bind(podID)
			return true
		})
	}
	refused = append(refused, headroom...)
	return bound, refused, l
}

// takeOff takes pods off their nodes, and new nodes that are left empty out of
// the plan.
func (st *State) takeOff(podIDs []int32) {
	for _, podID := range podIDs {
		st.Placed[podID] = false
	}
	for i := range st.Bound {
		st.Bound[i] = slices.DeleteFunc(st.Bound[i], st.waits)
	}
	for _, s := range st.New {
		before := len(s.PodIDs)
		if s.PodIDs = slices.DeleteFunc(s.PodIDs, st.waits); len(s.PodIDs) < before {
			s.Late = true
		}
	}
	st.New = slices.DeleteFunc(st.New, func(s *ledger.Bin) bool { return len(s.PodIDs) == 0 })
}
