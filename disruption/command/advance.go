package command

import (
	"time"
)

// State is the stage of a command. It is computed from the objects alone.
type State string

// The states, in the order of a command that replaces first. One that
// terminates first is marking, deleting, draining, launching, awaiting and
// releasing.
const (
	// Marking: the nodes are being recorded, given a reason, tainted.
	Marking State = "marking"
	// Launching: all nodes are marked, not all replacements exist.
	Launching State = "launching"
	// Awaiting: all replacements exist, not all are initialized.
	Awaiting State = "awaiting"
	// Deleting: nodes may be deleted, and not all are.
	Deleting State = "deleting"
	// Draining: all nodes are being deleted, and not all are gone.
	Draining State = "draining"
	// Releasing: only the records are left to remove.
	Releasing State = "releasing"
	// RollingBack: it failed and is being undone.
	RollingBack State = "rolling-back"
	// Finished: no object takes part any longer. The caller drops the command.
	Finished State = "finished"
)

// Failure is why a command is undone.
type Failure string

// The failures.
const (
	// TimedOut: the deadline passed before all replacements were
	// initialized, or long after that nodes could still not be deleted.
	TimedOut Failure = "timed-out"
	// ReplacementLost: a replacement vanished or is being deleted.
	ReplacementLost Failure = "replacement-lost"
	// Cancelled: the caller asked for it.
	Cancelled Failure = "cancelled"
	// Withdrawn: the record was removed from a node, from outside, after all nodes had one.
	Withdrawn Failure = "withdrawn"
	// Conflict: a node of this command carries the record of another command.
	Conflict Failure = "conflict"
	// Occupied: the reason is Empty, and pods have been bound to the node since the decision, for
	// example before kube-scheduler saw the taint.
	Occupied Failure = "occupied"
)

// Progress is the result of Advance: the stage of a command and its next writes.
type Progress struct {
	// State is the stage of the command.
	State State
	// Failure is why the command is undone, empty if it is not.
	Failure Failure
	// Writes are the writes to carry out now, at most one for each object, in the order of the
	// command's NodeClaims, their Nodes and the replacements. They may be carried out in any order,
	// in parallel, in part, or not at all.
	Writes []Write
	// Waiting are the names of the NodeClaims that the command waits for while it has no writes, in
	// the order of the command's lists.
	Waiting []string
	// Next is when to call Advance again if no object changes before, zero if time alone changes
	// nothing.
	Next time.Time
}

// Advance returns the next writes of a command that was started. It depends only on its arguments:
// after a crash, Recover finds the command, and Advance continues it. Call it again when the writes
// were carried out, when an object changes, and at Next. It takes time in proportion to the input.
//
// In order:
//
//  1. If no object has the record any more, the command is finished. Objects that are being
//     deleted do not count, unless they are held: the programs that remove their finalizers are
//     responsible for them.
//  2. If a node to remove is not yet being deleted and the command has failed, or a record says
//     that it has, the command is undone. First, every record of a NodeClaim to remove is changed
//     to say so. Then taints, holds and reasons are removed from the nodes that are not being
//     deleted, and replacements are deleted, or released if they run pods or one of the nodes is
//     already gone. The records of the NodeClaims to remove are deleted last.
//  3. Nodes that are not being deleted are marked: first all get the record, then each gets its
//     hold (only in terminate-first mode with replacements), reason and taint.
//  4. In replace-first mode, replacements are created when all nodes are marked, and nodes are
//     deleted when all replacements are initialized. In terminate-first mode, nodes are deleted
//     when all are marked, replacements are created when all machines are gone, and NodeClaims are
//     no longer held when all replacements exist. Without replacements each node is deleted as soon
//     as it is marked.
//  5. When all nodes are gone the replacements are released. In terminate-first mode Advance
//     first waits for the replacements, until the deadline.
//
// A node that disappears meanwhile, or is deleted by another client, counts as removed. A command
// fails with the first of these that holds: it was cancelled; it is in conflict; it was withdrawn;
// for the reason Empty, a node that is not being deleted has more pods than Source.Pods; a
// replacement was lost; it timed out. A time-out counts only if something is still missing, so a
// command that is late but ready is completed.
//
// In every write that deletes a node of a command that replaces first, all its
// replacements are initialized and none is being deleted.
func Advance(now time.Time, c Command, v Input) Progress {
	l := observe(&c, &v, now)
	if !l.live() {
		return Progress{State: Finished}
	}
	if l.alive() > 0 {
		if l.p.Failure = l.failure(); l.p.Failure != "" {
			l.rollBack()
			return l.p
		}
	}
	if l.holding() {
		l.terminateFirst()
	} else {
		l.replaceFirst()
	}
	return l.p
}

// lifecycle is a command with its observed objects.
type lifecycle struct {
	c       *Command
	now     time.Time
	cancel  string
	record  string            // of this command while it is not being undone
	read    map[string]Record // records by their text, as most are the same
	sources []sourceState
	claims  []*Claim // of replacements, nil if missing
	created []bool   // whether the caller knows a replacement to have been created
	p       Progress
}

// sourceState is the observed state of a node to remove.
type sourceState struct {
	*Source
	claim *Claim // nil if gone
	node  *Node  // nil if gone
	// ours and taken tell whether the claim has the record of this or of another command; failure
	// is the one in the record.
	ours, taken bool
	failure     Failure
	nodeOurs    bool
}

// observe finds the objects of a command in an input.
func observe(c *Command, v *Input, now time.Time) *lifecycle {
	l := &lifecycle{c: c, now: now, cancel: v.Cancel, record: Record{Command: *c}.String(),
		read:    map[string]Record{},
		sources: make([]sourceState, len(c.Sources)),
		claims:  make([]*Claim, len(c.Replacements)),
		created: make([]bool, len(c.Replacements))}
	claims := make(map[string]int, len(c.Sources)+len(c.Replacements))
	nodes := make(map[string]int, len(c.Sources))
	for i := range c.Sources {
		s := &c.Sources[i]
		l.sources[i].Source = s
		claims[s.NodeClaim] = i
		if s.Node != "" {
			nodes[s.Node] = i
		}
	}
	for i, r := range c.Replacements {
		claims[r.Token] = len(c.Sources) + i
	}
	for i := range v.Claims {
		if at, ok := claims[v.Claims[i].Name]; !ok {
			continue
		} else if at < len(c.Sources) {
			l.see(&l.sources[at], &v.Claims[i])
		} else if l.carries(v.Claims[i].Record) || v.Claims[i].Record == "" {
			l.claims[at-len(c.Sources)] = &v.Claims[i]
		}
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if at, ok := nodes[n.Name]; ok {
			if s := &l.sources[at]; s.NodeUID == "" || s.NodeUID == n.UID {
				s.node, s.nodeOurs = n, l.carries(n.Record)
			}
		}
	}
	for _, token := range v.Created {
		if at, ok := claims[token]; ok && at >= len(c.Sources) {
			l.created[at-len(c.Sources)] = true
		}
	}
	return l
}

// see stores the claim in the source, unless it is another object of the same name.
func (l *lifecycle) see(s *sourceState, claim *Claim) {
	if s.ClaimUID != "" && s.ClaimUID != claim.UID {
		return
	}
	s.claim = claim
	if r, ok := l.parse(claim.Record); ok {
		s.ours, s.taken, s.failure = r.Command.ID == l.c.ID, r.Command.ID != l.c.ID, r.Failure
	}
}

// parse reads a record. One that cannot be read counts as missing: it is overwritten, or removed by
// Recover.
func (l *lifecycle) parse(text string) (Record, bool) {
	switch text {
	case "":
		return Record{}, false
	case l.record:
		return Record{Command: *l.c}, true
	}
	r, ok := l.read[text]
	if !ok {
		r, _ = ParseRecord(text)
		l.read[text] = r
	}
	return r, r.Command.ID != ""
}

// carries reports whether a record is that of this command.
func (l *lifecycle) carries(record string) bool {
	r, ok := l.parse(record)
	return ok && r.Command.ID == l.c.ID
}

// isAlive reports whether the NodeClaim exists and is not being deleted.
func (s *sourceState) isAlive() bool { return s.claim != nil && !s.claim.Deleting }

// alive counts the nodes to remove that are not being deleted.
func (l *lifecycle) alive() (n int) {
	for i := range l.sources {
		if l.sources[i].isAlive() {
			n++
		}
	}
	return n
}

// live reports whether any object still takes part.
func (l *lifecycle) live() bool {
	for i := range l.sources {
		s := &l.sources[i]
		if s.ours && (!s.claim.Deleting || s.claim.Held) || s.nodeOurs && !s.node.Deleting {
			return true
		}
	}
	for i := range l.claims {
		if l.replacement(i) {
			return true
		}
	}
	return false
}

// replacement reports whether a replacement exists, is not being deleted, and still takes part.
func (l *lifecycle) replacement(i int) bool {
	r := l.claims[i]
	return r != nil && !r.Deleting && r.Record != ""
}

// lost reports whether a replacement vanished, is being deleted, or was released from outside.
func (l *lifecycle) lost() bool {
	for i, r := range l.claims {
		if r == nil && l.created[i] || r != nil && !l.replacement(i) {
			return true
		}
	}
	return false
}

// ready reports whether all replacements are initialized.
func (l *lifecycle) ready() bool {
	for i, r := range l.claims {
		if !l.replacement(i) || !r.Initialized {
			return false
		}
	}
	return true
}
