package command

import (
	"time"
)

// holding reports whether replacements are launched once the nodes are gone, so that the NodeClaims must outlive
// their machines.
func (l *lifecycle) holding() bool {
	return l.c.Mode == TerminateFirst && len(l.c.Replacements) > 0
}

// marked reports whether a node has everything that must be written before it is deleted.
func (l *lifecycle) marked(s *sourceState) bool {
	return s.ours && s.claim.Reason == l.c.Reason && (s.claim.Held || !l.holding()) &&
		(s.node == nil || s.node.Deleting || s.nodeOurs && s.node.Tainted)
}

// recordAll adds the writes that record all nodes that are not being deleted, and reports whether
// all had their record before. Records are written first, so that after a crash every mark on a
// node has a record, and a node without one was undone.
func (l *lifecycle) recordAll() bool {
	for i := range l.sources {
		if s := &l.sources[i]; s.isAlive() && !s.ours {
			l.onClaim(s.claim, Write{Kind: WriteRecord, Record: l.record, Why: "takes part in command " + l.c.ID})
		}
	}
	return len(l.p.Writes) == 0
}

// mark adds the next writes for a recorded node.
func (l *lifecycle) mark(s *sourceState) {
	switch {
	case l.holding() && !s.claim.Held:
		l.onClaim(s.claim, Write{Kind: WriteHold, Why: "until its replacement exists"})
	case s.claim.Reason != l.c.Reason:
		l.onClaim(s.claim, Write{Kind: WriteReason, Reason: l.c.Reason})
	}
	if n := s.node; n != nil && !n.Deleting && (!s.nodeOurs || !n.Tainted) {
		l.onNode(n, Write{Kind: WriteTaint, Record: l.record, Why: "no new pods"})
	}
}

// remove adds the next write of a node that may be deleted. The deadline of its drain is only moved
// to an earlier time.
func (l *lifecycle) remove(s *sourceState) {
	by, why := s.DrainBy, "the drain must have ended by then"
	if s.Drain != nil {
		if end := l.now.Add(*s.Drain).UTC().Truncate(time.Second); by.IsZero() || end.Before(by) {
			by, why = end, "the drain takes at most "+s.Drain.String()
		}
	}
	if !by.IsZero() && (s.claim.DrainBy.IsZero() || s.claim.DrainBy.After(by)) {
		l.onClaim(s.claim, Write{Kind: WriteBound, DrainBy: by, Why: why})
		return
	}
	l.onClaim(s.claim, Write{Kind: WriteDelete, Why: string(l.c.Reason)})
}

// markAll adds the writes that mark all nodes that are not being deleted, and reports whether all
// were marked before.
func (l *lifecycle) markAll() bool {
	if !l.recordAll() {
		l.p.State, l.p.Next = Marking, l.deadline()
		return false
	}
	all := true
	for i := range l.sources {
		if s := &l.sources[i]; s.isAlive() && !l.marked(s) {
			l.mark(s)
			all = false
		}
	}
	if !all {
		l.p.State, l.p.Next = Marking, l.deadline()
	}
	return all
}

// removeAll deletes all marked nodes.
func (l *lifecycle) removeAll() {
	l.p.State, l.p.Next = Deleting, l.deadline()
	for i := range l.sources {
		if s := &l.sources[i]; s.isAlive() && l.marked(s) {
			l.remove(s)
		}
	}
}

// deadline returns the next instant at which the command can time out.
func (l *lifecycle) deadline() time.Time {
	if l.now.Before(l.c.Deadline) {
		return l.c.Deadline
	}
	return l.c.Deadline.Add(deleteSlack)
}

// launch adds the writes that create the missing replacements, and reports whether none was missing.
func (l *lifecycle) launch() bool {
	all := true
	for i, r := range l.c.Replacements {
		if l.claims[i] == nil {
			l.p.Writes = append(l.p.Writes, Write{Kind: WriteCreate, Object: r.Token, NodePool: r.NodePool,
				Record: l.record, Reason: l.c.Reason, Why: "replacement"})
			all = false
		}
	}
	if !all {
		l.p.State, l.p.Next = Launching, l.deadline()
	}
	return all
}

// awaitReplacements lists those that are not initialized.
func (l *lifecycle) awaitReplacements() {
	l.p.State, l.p.Next = Awaiting, l.c.Deadline
	for i, r := range l.claims {
		if l.replacement(i) && !r.Initialized {
			l.p.Waiting = append(l.p.Waiting, r.Name)
		}
	}
}

// replaceFirst adds the next writes of a replace-first command that has not failed.
func (l *lifecycle) replaceFirst() {
	if l.alive() == 0 {
		if l.drained() {
			l.release()
		}
		return
	}
	if len(l.claims) == 0 {
		// The command launches nothing, so no node waits for another.
		all := l.markAll()
		l.removeAll()
		if !all {
			l.p.State = Marking
		}
		return
	}
	if !l.markAll() || !l.launch() {
		return
	}
	if !l.ready() {
		l.awaitReplacements()
		return
	}
	l.removeAll()
}

// terminateFirst adds the next writes of a terminate-first command that has not failed.
func (l *lifecycle) terminateFirst() {
	if l.alive() > 0 {
		if l.markAll() {
			l.removeAll()
		}
		return
	}
	if !l.drained() {
		return
	}
	held, lost := false, l.lost() || !l.now.Before(l.c.Deadline)
	for i := range l.sources {
		held = held || l.sources[i].claim != nil && l.sources[i].claim.Held
	}
	// The nodes are gone, so nothing can be undone: once a replacement is lost, or the deadline has
	// passed, ordinary provisioning launches nodes for the pods.
	if held && !lost && l.cancel == "" && !l.launch() {
		return
	}
	l.p.State = Releasing
	for i := range l.sources {
		if s := &l.sources[i]; s.claim != nil && s.claim.Held {
			l.onClaim(s.claim, Write{Kind: WriteUnhold, Why: "its machine is gone and its replacement on its way"})
		}
	}
	if len(l.p.Writes) > 0 {
		return
	}
	l.awaitReplacements()
	if len(l.p.Waiting) > 0 && l.cancel == "" && l.now.Before(l.c.Deadline) {
		return
	}
	l.p.Waiting, l.p.Next = nil, time.Time{}
	l.release()
}

// drained reports whether all machines are gone. All NodeClaims are being deleted or gone.
func (l *lifecycle) drained() bool {
	for i := range l.sources {
		s := &l.sources[i]
		if s.claim == nil || s.claim.Terminated {
			continue
		}
		l.p.Waiting = append(l.p.Waiting, s.NodeClaim)
	}
	l.p.State = Draining
	return len(l.p.Waiting) == 0
}

// release releases the remaining objects when all nodes are gone.
func (l *lifecycle) release() {
	l.p.State = Releasing
	for i := range l.sources {
		// A Node can outlive its NodeClaim if a client removed the finalizer of that by hand, or if
		// it never registered.
		if s := &l.sources[i]; (s.claim == nil || s.claim.Terminated) && s.nodeOurs && !s.node.Deleting {
			l.onNode(s.node, Write{Kind: WriteUntaint, Why: "its NodeClaim is gone and the Node remains"})
		}
	}
	for i, r := range l.claims {
		if l.replacement(i) {
			l.onClaim(r, Write{Kind: WriteRelease, Why: "it has taken over"})
		}
	}
}
