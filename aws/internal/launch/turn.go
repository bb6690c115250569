package launch

import (
	"context"
	"time"
)

// handover is how long EC2 may take to list what it launched by a call that it
// was carrying out when the turn of the process that had made it was ended.
const handover = time.Minute

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
	turn, found, err := b.endTurns(ctx, b.now())
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn = turn; found {
		b.overdue = b.now().Add(handover)
	}
	return nil
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
