package launch

import (
	"context"
	"time"
)

// handover is how long EC2 may take to list what it launched by a call that it
// was carrying out when the turn of the process that had made it was ended.
const handover = time.Minute

// inheritance is how long after a process begins to launch it may be that EC2 carries out
// and lists a call for one launch that a process before it has made: two minutes after it
// was asked, and one until it lists the instance. Until then no launch goes by a call for
// many, as that has another client token, and both could launch.
const inheritance = 3 * time.Minute

// launch notes that this process launches from now on. The first time hydrate
// reads once more: while it only listed, as one that waits for its turn does,
// another process may have launched.
func (b *Book) launch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.launches {
		b.launches, b.hydrated = true, false
		b.doubts++
	}
}

// begin ends the turns of earlier processes, unless that was done or this process
// only lists.
func (b *Book) begin(ctx context.Context) error {
	b.mu.Lock()
	due := b.launches && b.turn == ""
	b.mu.Unlock()
	if !due {
		return nil
	}
	turn, ended, others, err := b.endTurns(ctx, b.now())
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn = turn; ended {
		b.overdue = b.now().Add(handover)
	}
	b.began = b.now()
	b.heir = others
	return nil
}

// Inherits notes whether there is a process before this one that has launched, and reports
// whether EC2 may yet carry out calls for one launch that it has made.
func (b *Book) Inherits(others bool) bool {
	b.mu.Lock()
	b.heir = b.heir || others
	b.mu.Unlock()
	return b.inherits()
}

// inherits reports whether EC2 may yet carry out calls for one launch of processes before
// this one.
func (b *Book) inherits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heir && b.now().Sub(b.began) < inheritance
}

// turnOf returns the turn of this process. It has begun before anything is launched.
func (b *Book) turnOf() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turn
}

// overdueFor returns how long to wait before anything is launched for a token that
// EC2 lists no instance of, because an earlier process may have asked for it in a
// call that EC2 was carrying out when its turn was ended. When the time has come
// what there is is to be read once more.
func (b *Book) overdueFor() (wait time.Duration, read bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.overdue.IsZero() {
		return 0, false
	}
	if wait := b.overdue.Sub(b.now()); wait > 0 {
		return wait, false
	}
	b.overdue, b.hydrated = time.Time{}, false
	b.doubts++
	return 0, true
}
