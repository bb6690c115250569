package pricing

import (
	"fmt"
	"time"
)

// Status is how a source is.
type Status struct {
	// Source is the source.
	Source Source
	// Prices is the number of prices that are known from it, and Stale how many of
	// them are out of date.
	Prices, Stale int
	// Success is when it last gave prices; of a file, the instant that it says.
	// Zero if it never did.
	Success time.Time
	// Failures is how often it failed since, Failure when it last did, and Err why.
	// Zero and nil if it did not.
	Failures int
	Failure  time.Time
	Err      error
	// Next is when to ask again: after an answer, once the time to refresh is over;
	// after a failure, a minute, then two, then four, up to that time. It may be in
	// the past. Zero for sources that are not asked.
	Next time.Time
}

// String returns one line, as in
// "price list: 1361 prices of 2026-01-02T15:04:05Z, failed 2 times: timeout".
func (s Status) String() string {
	text := fmt.Sprintf("%s: %d prices", s.Source, s.Prices)
	if !s.Success.IsZero() {
		text += " of " + s.Success.UTC().Format(time.RFC3339)
	}
	if s.Stale > 0 {
		text += fmt.Sprintf(", %d out of date", s.Stale)
	}
	if s.Failures > 0 {
		times := "times"
		if s.Failures == 1 {
			times = "time"
		}
		text += fmt.Sprintf(", failed %d %s: %v", s.Failures, times, s.Err)
	}
	return text
}

// Status returns how each source is at the instant now, in the order in which they
// are asked. SourceOnDemand is asked only where ProductQueries has questions.
func (p *Prices) Status(now time.Time) []Status {
	var out []Status
	for _, l := range []struct {
		source          Source
		maxAge, refresh time.Duration
	}{
		{SourceSpot, p.opts.SpotMaxAge, p.opts.SpotRefresh},
		{SourceFile, p.opts.FileMaxAge, 0},
		{SourceOnDemand, p.opts.OnDemandMaxAge, p.opts.OnDemandRefresh},
		{SourceAssumed, 1, 0},
		{SourceBuiltin, 1, 0},
	} {
		state := p.states[l.source]
		s := Status{
			Source: l.source, Prices: len(p.entries[l.source]), Success: state.success,
			Failures: state.failures, Failure: state.failure, Err: state.err,
		}
		for _, e := range p.entries[l.source] {
			if now.Sub(e.At) > l.maxAge {
				s.Stale++
			}
		}
		if l.refresh > 0 && (l.source != SourceOnDemand || ProductQueries(p.opts.Region) != nil) {
			s.Next = state.next(now, l.refresh)
		}
		out = append(out, s)
	}
	return out
}

// next returns when to ask again: at once if the source was never asked.
func (s state) next(now time.Time, refresh time.Duration) time.Time {
	switch {
	case s.failures > 0:
		wait := firstRetry
		for i := 1; i < s.failures && wait < refresh; i++ {
			wait *= 2
		}
		return s.failure.Add(min(wait, refresh))
	case s.success.IsZero():
		return now
	}
	return s.success.Add(refresh)
}
