package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// replayOrder binds the pods of the plan one by one, where some must be on one node
// with others: which of these may be the first of their kind is decided group by
// group, and one group can be in the way of another. A pod whose turn comes too
// early waits for those after it. What nothing makes right is taken off its node.
// It returns the order in which the rest can be bound.
func (a *assembler) replayOrder(order []int32) []int32 {
	if len(a.s.Bundler.Bundles)+len(a.s.Bundler.Pinned) == 0 && a.s.Raised == nil {
		return order
	}
	for {
		out, refused, _ := a.bindAll(order, true)
		if len(refused) == 0 {
			return a.spreadFirst(out)
		}
		a.takeOff(refused)
		order = out
	}
}

// spreadFirst puts pods first that can be in the plan only before others that
// their topology spread counts, as domains were assigned: a group that wants to be
// the first of its kind may have come before them. The order stays as it is where
// that does not help.
func (a *assembler) spreadFirst(order []int32) []int32 {
	_, refused, _ := a.bindAll(order, false)
	if len(refused) == 0 {
		return order
	}
	late := make([]bool, len(a.p.Pods))
	for _, podID := range refused {
		late[podID] = true
	}
	early := slices.Clone(order)
	slices.SortStableFunc(early, func(x, y int32) int { return -model.CompareBools(late[x], late[y]) })
	other, waiting, _ := a.bindAll(early, true)
	if len(waiting) > 0 {
		return order
	}
	if _, still, _ := a.bindAll(other, false); len(still) < len(refused) {
		return other
	}
	return order
}

// bindAll binds pods in an order, and lists those that were and those that could
// not be. Pods that do not exist come last. trusting is that of the ledger, which
// it returns; it takes it that pods which do not exist are well placed, too.
func (a *assembler) bindAll(order []int32, trusting bool) (bound, refused []int32, l *ledger.Ledger) {
	bins := a.bins()
	at := make([]*ledger.Bin, len(a.p.Pods))
	for _, s := range bins {
		for _, podID := range s.PodIDs {
			at[podID] = s
		}
		s.Pods = nil
	}
	l = ledger.New(a.p, bins)
	l.Trusting = trusting
	bind := func(podID int32) {
		c := a.p.ClassOf[podID]
		at[podID].Add(c)
		l.Count(c, 1, at[podID])
		bound = append(bound, podID)
	}
	var headroom []int32
	for waiting, before := order, -1; len(waiting) > 0 && len(bound) > before; waiting = refused {
		before, refused = len(bound), nil
		for _, podID := range waiting {
			switch c := a.p.ClassOf[podID]; {
			case a.p.Classes[c].Headroom:
				headroom = append(headroom, podID)
			case l.DomainsAllow(c, at[podID]) && (trusting && a.s.Raised == nil || l.HostsAllow(c, at[podID])):
				bind(podID)
			default:
				refused = append(refused, podID)
			}
		}
	}
	for _, podID := range headroom {
		if !trusting && !l.DomainsAllow(a.p.ClassOf[podID], at[podID]) {
			refused = append(refused, podID)
			continue
		}
		bind(podID)
	}
	return bound, refused, l
}

// takeOff takes pods off their nodes, and new nodes that are left empty out of
// the plan.
func (a *assembler) takeOff(podIDs []int32) {
	for _, podID := range podIDs {
		a.placed[podID] = false
	}
	for i := range a.bound {
		a.bound[i] = slices.DeleteFunc(a.bound[i], a.waits)
	}
	for _, s := range a.new {
		before := len(s.PodIDs)
		if s.PodIDs = slices.DeleteFunc(s.PodIDs, a.waits); len(s.PodIDs) < before {
			s.Late = true
		}
	}
	a.new = slices.DeleteFunc(a.new, func(s *ledger.Bin) bool { return len(s.PodIDs) == 0 })
}
