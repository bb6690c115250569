package budgets

import (
	"math"
	"time"
)

// span is a stretch of time in which a clock is not moved.
type span struct {
	from, to int64 // seconds since 1970; to is exclusive
	offset   int64 // seconds that the wall clock is ahead of UTC
	before   int64 // what offset was before from
	settled  int64 // from when the former offset does not matter any more
}

// forever is further away than any instant that matters, and still leaves room
// for arithmetic.
const forever = math.MaxInt64 / 4

// spanAt is the span of a zone that t is in.
func spanAt(loc *time.Location, t int64) span {
	s := span{from: -forever, to: forever, settled: -forever}
	if loc == time.UTC {
		return s
	}
	local := time.Unix(t, 0).In(loc)
	_, offset := local.Zone()
	s.offset, s.before = int64(offset), int64(offset)
	start, end := local.ZoneBounds()
	if !end.IsZero() {
		s.to = end.Unix()
		if s.to <= t {
			// The time package takes all years for 365 days when it has to say
			// when the last span of one ends.
			s.to = (floorDiv(t, secondsPerDay) + 1) * secondsPerDay
		}
	}
	if !start.IsZero() {
		s.from = start.Unix()
		_, before := start.Add(-time.Second).Zone()
		s.before = int64(before)
		s.settled = min(s.to, s.from+max(s.offset-s.before, s.before-s.offset))
	}
	return s
}

// hit reports whether t, which is in s but before it is settled, is a hit. See
// the package comment on daylight saving.
func (c *civil) hit(t int64, s *span) bool {
	byNew := c.matches(t + s.offset)
	byOld := c.matches(t + s.before)
	if s.offset > s.before {
		return byNew || byOld
	}
	return byNew && byOld
}

func (c *civil) matches(local int64) bool {
	next, ok := c.next(local)
	return ok && next == local
}

// far is more than two wall clocks can differ, and a day that is skipped.
const far = 3 * secondsPerDay

// next is the first hit that is not before t.
func (s *Schedule) next(t int64) (int64, bool) {
	for {
		z := spanAt(s.loc, t)
		for t < z.settled {
			h := s.unsettledFrom(t, &z)
			if h < z.settled && s.set.hit(h, &z) {
				return h, true
			}
			t = min(h+1, z.settled)
		}
		local, ok := s.set.next(t + z.offset)
		if !ok || local > forever {
			return 0, false
		}
		h := local - z.offset
		if h < z.to && t < z.to {
			return h, true
		}
		t = max(z.to, h-far)
	}
}

// unsettledFrom is the first instant from t on that either clock calls a hit.
func (s *Schedule) unsettledFrom(t int64, z *span) int64 {
	byNew, ok1 := s.set.next(t + z.offset)
	byOld, ok2 := s.set.next(t + z.before)
	if !ok1 || !ok2 {
		return z.settled
	}
	return min(byNew-z.offset, byOld-z.before)
}

// prev is the last hit that is not after t.
func (s *Schedule) prev(t int64) (int64, bool) {
	for {
		z := spanAt(s.loc, t)
		local, ok := s.set.prev(t + z.offset)
		if !ok || local < -forever {
			return 0, false
		}
		h := local - z.offset
		if t >= z.settled && h >= z.settled {
			return h, true
		}
		for u := min(t, z.settled-1); u >= z.from && z.settled > z.from; u-- {
			if u = s.unsettledTo(u, &z); u >= z.from && s.set.hit(u, &z) {
				return u, true
			}
		}
		t = min(z.from-1, h+far)
	}
}

// unsettledTo is the last instant up to t that either clock calls a hit.
func (s *Schedule) unsettledTo(t int64, z *span) int64 {
	byNew, ok1 := s.set.prev(t + z.offset)
	byOld, ok2 := s.set.prev(t + z.before)
	if !ok1 || !ok2 {
		return z.from - 1
	}
	return max(byNew-z.offset, byOld-z.before)
}

// seconds is t in whole seconds since 1970, rounded down, and kept within a
// range in which sums cannot overflow.
func seconds(t time.Time) int64 {
	const limit = 1 << 50 // 35 million years
	return min(max(t.Unix(), -limit), limit)
}

func instant(sec int64, loc *time.Location) time.Time {
	return time.Unix(sec, 0).In(loc)
}
