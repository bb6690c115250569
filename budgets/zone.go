package budgets

import (
	"math"
	"slices"
	"time"
)

// zone tells wall clocks from instants.
type zone struct {
	loc *time.Location
	// table has the spans of the years in which schedules are mostly asked
	// about, in order and without gaps. Other times are looked up, which takes
	// longer because the time package then reads the zone's rule each time.
	table []span
}

// The years of the table.
const (
	tableFrom = 2000
	tableTo   = 2060
)

// span is a stretch of time in which the clock is not moved.
type span struct {
	from, to int64 // seconds since 1970; to is exclusive
	offset   int64 // seconds that the wall clock is ahead of UTC
	before   int64 // what offset was before from
	settled  int64 // from when the former offset does not matter any more
}

// forever is further away than any instant that matters, and still leaves room
// for arithmetic.
const forever = math.MaxInt64 / 4

func (z *zone) utc() bool { return z.loc == time.UTC }

// tabulate fills the table.
func (z *zone) tabulate() {
	if z.utc() {
		return
	}
	t := time.Date(tableFrom, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	end := time.Date(tableTo, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for t < end {
		s := z.lookup(t)
		// The time package ends spans at New Year too, where nothing changes.
		if n := len(z.table); n > 0 && s.offset == s.before {
			z.table[n-1].to = s.to
		} else {
			z.table = append(z.table, s)
		}
		t = s.to
	}
	z.table = slices.Clip(z.table)
}

// at is the span that t is in.
func (z *zone) at(t int64) span {
	if z.utc() {
		return span{from: -forever, to: forever, settled: -forever}
	}
	if n := len(z.table); n > 0 && t >= z.table[0].from && t < z.table[n-1].to {
		low, high := 0, n-1
		for low < high {
			mid := (low + high + 1) / 2
			if z.table[mid].from <= t {
				low = mid
			} else {
				high = mid - 1
			}
		}
		return z.table[low]
	}
	return z.lookup(t)
}

func (z *zone) lookup(t int64) span {
	local := time.Unix(t, 0).In(z.loc)
	_, offset := local.Zone()
	s := span{from: -forever, to: forever, offset: int64(offset), before: int64(offset)}
	start, end := local.ZoneBounds()
	if !end.IsZero() {
		s.to = end.Unix()
		if s.to <= t {
			// The time package takes all years for 365 days when it has to say
			// when the last span of one ends.
			s.to = (floorDiv(t, secondsPerDay) + 1) * secondsPerDay
		}
	}
	s.settled = s.from
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
		z := s.zone.at(t)
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
		z := s.zone.at(t)
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
