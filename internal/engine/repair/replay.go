package repair

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// replayOrder binds the pods of the plan one by one and returns the order in which they can be
// bound. It does so only where domains were assigned, where pods must be on one node with others,
// or where constraints count DaemonSet pods: the packer decides group by group which pod is the
// first of its kind, so groups can exclude each other, and it takes new nodes for empty. A pod that
// cannot be bound yet is tried again after later pods. A pod that can never be bound is taken off
// its node.
func (st *State) replayOrder(order []int32) []int32 {
	trusting := len(st.p.ByDaemon) == 0
	if len(st.s.Bundler.Bundles)+len(st.s.Bundler.Pinned) > 0 {
		return st.spreadFirst(st.replayAll(order, trusting))
	}
	if len(st.s.Units) > 0 || !trusting {
		return st.replayAll(order, trusting)
	}
	return order
}

// replayAll returns the order of replayOrder for all pods of the plan. bindAll explains trusting.
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

// spreadFirst puts a pod earlier if it can be bound only before other pods that its topology spread
// counts. Such pods may come too late because a group with affinity was bound first. The order is
// unchanged if this does not help.
func (st *State) spreadFirst(bound []int32) []int32 {
	_, refused, _ := st.bindAll(bound, false)
	if len(refused) == 0 {
		return bound
	}
	late := make([]bool, len(st.p.Pods))
	for _, podID := range refused {
		late[podID] = true
	}
	early := slices.Clone(bound)
	slices.SortStableFunc(early, func(x, y int32) int { return -order.Bools(late[x], late[y]) })
	other, waiting, _ := st.bindAll(early, true)
	if len(waiting) > 0 {
		return bound
	}
	if _, still, _ := st.bindAll(other, false); len(still) < len(refused) {
		return other
	}
	return bound
}

// bindAll binds pods in an order. It returns the pods bound, the pods refused, and the ledger of
// the pods bound. Headroom pods come last. With trusting it assumes that topology spreads over the
// hostname hold, and leaves out nodes that get no pod.
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
		at[podID].Add(c, 1)
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

// takeOff takes pods off their nodes, and removes new nodes that are then empty.
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
