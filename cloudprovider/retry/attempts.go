package retry

import "time"

// Attempts remembers calls that failed, by token, and when to repeat each: for a loop
// that comes by again and again and must not ask in every turn. The zero Attempts is ready
// for use. It must not be used by two goroutines at a time. It remembers a token until
// Forget, so forget the tokens of objects that are gone. What it remembers may be lost:
// then a call is repeated too soon, once.
type Attempts struct {
	// Rest is for how long a call is left alone that Next gives up, as somebody may
	// have mended what was wrong. Zero is until it is forgotten.
	Rest time.Duration

	failed map[string]attempt
}

// attempt is what there is to remember of a call.
type attempt struct {
	count int
	next  time.Time // zero for never
}

// Failed notes that a call failed, and returns when to repeat it: after the delay of
// Next, or after Rest. The zero time is never.
func (a *Attempts) Failed(token string, err error, now time.Time) time.Time {
	was := a.failed[token]
	was.count++
	delay, giveUp := Next(was.count, err, token)
	if giveUp {
		delay = a.Rest
	}
	if was.next = now.Add(delay); giveUp && a.Rest <= 0 {
		was.next = time.Time{}
	}
	if a.failed == nil {
		a.failed = map[string]attempt{}
	}
	a.failed[token] = was
	return was.next
}

// Waits reports whether it is too early to repeat a call. A call that has not failed
// does not wait.
func (a *Attempts) Waits(token string, now time.Time) bool {
	was, failed := a.failed[token]
	return failed && (was.next.IsZero() || now.Before(was.next))
}

// Forget forgets a call that has worked, or that nobody wants any more.
func (a *Attempts) Forget(token string) { delete(a.failed, token) }
