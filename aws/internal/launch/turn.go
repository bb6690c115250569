package launch

import (
	"context"
	"time"
)

// handover is how long EC2 may take to list the instances of a call that it was carrying out when
// the turn of its process was ended.
const handover = time.Minute

// singleCalls is the time for which calls of earlier processes may still take effect, counted from
// the first launch of this process: EC2 carries out a single launch within two minutes, and lists
// the instance within one more. Until then launches do not share calls: a shared call has a
// different client token, so both calls could launch.
const singleCalls = 3 * time.Minute

// launch notes that this process launches from now on. The first time it makes Hydrate read again,
// because another process may have launched while this one only listed.
func (b *Book) launch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.launches {
		b.launches, b.hydrated = true, false
		b.doubts++
	}
}

// begin ends the turns of earlier processes, unless this was done or this process only lists.
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
	b.preceded = others
	return nil
}

// EarlierCallsPossible notes whether an earlier process has launched, and reports whether EC2 may
// still carry out its single launches.
func (b *Book) EarlierCallsPossible(others bool) bool {
	b.mu.Lock()
	b.preceded = b.preceded || others
	b.mu.Unlock()
	return b.earlierCallsPossible()
}

// earlierCallsPossible reports whether EC2 may still carry out single launches of earlier
// processes.
func (b *Book) earlierCallsPossible() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.preceded && b.now().Sub(b.began) < singleCalls
}

// turnOf returns the turn of this process, which begins before anything is launched.
func (b *Book) turnOf() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turn
}

// overdueFor returns how long to wait before anything is launched for a token without a listed
// instance, because EC2 may have been carrying out a call of an earlier process when its turn was
// ended. read says that the time is over and the instances have to be read again.
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
