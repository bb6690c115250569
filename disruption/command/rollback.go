package command

import v1 "github.com/dovetail-sdk/dovetail/api/v1"

// failure returns why the command must be undone, empty if it need not be. At least one node to
// remove is not being deleted.
func (l *lifecycle) failure() Failure {
	conflict, stripped, begun, unmarked, occupied := false, false, false, false, false
	for i := range l.sources {
		s := &l.sources[i]
		if s.ours && s.failure != "" {
			return s.failure // decided before
		}
		begun = begun || s.nodeOurs || s.ours && (s.claim.Held || s.claim.Reason == l.c.Reason)
		if s.isAlive() {
			conflict = conflict || s.taken
			stripped = stripped || !s.ours
			unmarked = unmarked || !l.marked(s)
			occupied = occupied || l.c.Reason == v1.DisruptionReasonEmpty && s.claim.Pods > s.Pods
		}
	}
	for i := range l.claims {
		begun = begun || l.replacement(i)
	}
	switch {
	case l.cancel != "":
		return Cancelled
	case conflict:
		return Conflict
	case stripped && begun:
		// All nodes get their record before any other write, so the record was there and was
		// removed: from outside, or by rolling back, after which a delayed request of an earlier
		// write arrived.
		return Withdrawn
	case occupied:
		return Occupied
	case l.lost():
		return ReplacementLost
	case l.now.Before(l.c.Deadline):
		return ""
	case unmarked || l.c.Mode != TerminateFirst && !l.ready():
		return TimedOut
	case !l.now.Before(l.c.Deadline.Add(deleteSlack)):
		return TimedOut
	}
	return ""
}

// rollBack undoes the command.
func (l *lifecycle) rollBack() {
	l.p.State = RollingBack
	// The failure cannot always be observed again after a crash, so it is written to all records
	// before anything is undone.
	record := Record{Command: *l.c, Failure: l.p.Failure}.String()
	for i := range l.sources {
		if s := &l.sources[i]; s.isAlive() && s.ours && s.failure == "" {
			l.onClaim(s.claim, Write{Kind: WriteRecord, Record: record, Why: "to be undone: " + string(l.p.Failure)})
		}
	}
	if len(l.p.Writes) > 0 {
		return
	}
	waiting := false
	for i := range l.sources {
		s := &l.sources[i]
		l.undoClaim(s)
		if s.nodeOurs && !s.node.Deleting {
			if s.claim != nil && s.claim.Deleting {
				// The node is removed anyway, so it keeps its taint until it is deleted.
				l.p.Waiting = append(l.p.Waiting, s.NodeClaim)
				continue
			}
			l.onNode(s.node, Write{Kind: WriteUntaint, Why: "the node stays"})
			waiting = true
		}
	}
	waiting = waiting || len(l.p.Writes) > 0
	for i := range l.claims {
		if l.replacement(i) {
			l.undoReplacement(i)
			waiting = true
		}
	}
	if waiting {
		return
	}
	for i := range l.sources {
		if s := &l.sources[i]; s.isAlive() && s.ours {
			l.onClaim(s.claim, Write{Kind: WriteRelease, Why: "all is undone"})
		}
	}
}

// undoClaim removes everything except the record, even from a NodeClaim whose record was removed
// from outside.
func (l *lifecycle) undoClaim(s *sourceState) {
	switch {
	case s.claim == nil || s.taken:
	case s.claim.Held:
		l.onClaim(s.claim, Write{Kind: WriteUnhold, Why: "nothing is launched for it"})
	case s.claim.Deleting:
	case s.claim.Reason == l.c.Reason:
		l.onClaim(s.claim, Write{Kind: WriteClearReason, Why: "the node stays"})
	}
}

// undoReplacement deletes a replacement that is not needed. One that runs pods, or may get the pods
// of a node that is lost, is released and stays in its pool.
func (l *lifecycle) undoReplacement(i int) {
	r := l.claims[i]
	if r.Pods == 0 && l.alive() == len(l.sources) {
		l.onClaim(r, Write{Kind: WriteDelete, Why: "not needed: no node is removed and it runs no pods"})
		return
	}
	why := "a node is removed all the same and its pods need room"
	if r.Pods > 0 {
		why = "it runs pods"
	}
	l.onClaim(r, Write{Kind: WriteRelease, Why: why})
}

// onClaim adds a write for a NodeClaim.
func (l *lifecycle) onClaim(c *Claim, s Write) {
	s.Object, s.UID, s.ResourceVersion = c.Name, c.UID, c.ResourceVersion
	l.p.Writes = append(l.p.Writes, s)
}

// onNode adds a write for a Node.
func (l *lifecycle) onNode(n *Node, s Write) {
	s.Object, s.UID, s.ResourceVersion = n.Name, n.UID, n.ResourceVersion
	l.p.Writes = append(l.p.Writes, s)
}
