package provisioning

import "slices"

// replayOrder binds the pods of the plan one by one, where some must be on one node
// with others: which of these may be the first of their kind is decided group by
// group, and one group can be in the way of another. A pod whose turn comes too
// early waits for those after it. What nothing makes right is taken off its node.
// It returns the order in which the rest can be bound.
func (a *assembler) replayOrder(order []int32) []int32 {
	if len(a.s.bundler.bundles)+len(a.s.bundler.pinned) == 0 && a.s.raised == nil {
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
	late := make([]bool, len(a.p.pods))
	for _, podID := range refused {
		late[podID] = true
	}
	early := slices.Clone(order)
	slices.SortStableFunc(early, func(x, y int32) int { return -compareBools(late[x], late[y]) })
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
func (a *assembler) bindAll(order []int32, trusting bool) (bound, refused []int32, l *ledger) {
	bins := a.bins()
	at := make([]*bin, len(a.p.pods))
	for _, s := range bins {
		for _, podID := range s.podIDs {
			at[podID] = s
		}
		s.pods = nil
	}
	l = newLedger(a.p, bins)
	l.trusting = trusting
	bind := func(podID int32) {
		c := a.classOf[podID]
		at[podID].add(c)
		l.count(c, 1, at[podID])
		bound = append(bound, podID)
	}
	var headroom []int32
	for waiting, before := order, -1; len(waiting) > 0 && len(bound) > before; waiting = refused {
		before, refused = len(bound), nil
		for _, podID := range waiting {
			switch c := a.classOf[podID]; {
			case a.p.classes[c].headroom:
				headroom = append(headroom, podID)
			case l.domainsAllow(c, at[podID]) && (trusting && a.s.raised == nil || l.hostsAllow(c, at[podID])):
				bind(podID)
			default:
				refused = append(refused, podID)
			}
		}
	}
	for _, podID := range headroom {
		if !trusting && !l.domainsAllow(a.classOf[podID], at[podID]) {
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
		before := len(s.podIDs)
		if s.podIDs = slices.DeleteFunc(s.podIDs, a.waits); len(s.podIDs) < before {
			s.late = true
		}
	}
	a.new = slices.DeleteFunc(a.new, func(s *bin) bool { return len(s.podIDs) == 0 })
}
