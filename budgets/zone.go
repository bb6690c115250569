package budgets

import (
	"math"
	"math/bits"
	"time"
)

// span is a period in which a schedule uses one clock, or two: after a change, for as long as the
// clock was moved, also the old one.
type span struct {
	from, to int64 // seconds since 1970; to is exclusive
	offset   int64 // seconds that the wall clock is ahead of UTC
	old      int64 // the same for the old clock; equal to offset if there is one clock
}

// forever is later than all instants in use; sums with it do not overflow.
const forever = math.MaxInt64 / 4

// spanAt returns the span of a zone that contains t.
func spanAt(loc *time.Location, t int64) span {
	s := span{from: -forever, to: forever}
	if loc == time.UTC {
		return s
	}
	local := time.Unix(t, 0).In(loc)
	_, offset := local.Zone()
	s.offset, s.old = int64(offset), int64(offset)
	start, end := local.ZoneBounds()
	if !end.IsZero() {
		s.to = end.Unix()
		if s.to <= t {
			// The time package assumes 365 days for every year when it returns the end of a year's
			// last span.
			s.to = (floorDiv(t, secondsPerDay) + 1) * secondsPerDay
		}
	}
	if start.IsZero() {
		return s
	}
	_, before := start.Add(-time.Second).Zone()
	moved := max(offset-before, before-offset)
	if s.from = start.Unix() + int64(moved); t < s.from {
		s.from, s.to, s.old = start.Unix(), min(s.to, s.from), int64(before)
	}
	return s
}

// hit reports whether t, which is in the span, is a hit. See the package comment on daylight
// saving.
func (z *span) hit(c *civil, t int64) bool {
	byNew, byOld := c.matches(t+z.offset), c.matches(t+z.old)
	if z.offset > z.old {
		return byNew || byOld
	}
	return byNew && byOld
}

func (c *civil) matches(local int64) bool {
	next, ok := c.next(local)
	return ok && next == local
}

// far is more than the largest difference of two wall clocks plus a skipped day, in seconds.
const far = 3 * secondsPerDay

// next returns the first hit that is not before t.
func (s *Schedule) next(t int64) (int64, bool) {
	for {
		z := spanAt(s.loc, t)
		for t < z.to {
			local, ok := s.set.next(t + z.offset)
			if !ok || local > forever {
				return 0, false
			}
			h := local - z.offset
			if z.old != z.offset {
				byOld, _ := s.set.next(t + z.old)
				h = min(h, byOld-z.old)
			}
			switch {
			case h >= z.to:
				t = max(z.to, h-far)
			case z.old == z.offset || z.hit(&s.set, h):
				return h, true
			default:
				t = h + 1
			}
		}
	}
}

// last returns the last hit before end, at or after the given hit. next returns the first hit that
// is not before an instant.
func last(hit, end int64, next func(int64) (int64, bool)) int64 {
	for none := end; none-hit > 1; { // no hit is in [none, end)
		middle := hit + (none-hit)/2
		if h, ok := next(middle); ok && h < end {
			hit = h
		} else {
			none = middle
		}
	}
	return hit
}

// seconds returns t in whole seconds since 1970, rounded down, limited to a range in which sums do
// not overflow.
func seconds(t time.Time) int64 { return min(max(t.Unix(), -farAway), farAway) }

const farAway = 1 << 50 // 35 million years

const (
	minutesPerDay = 24 * 60
	secondsPerDay = 24 * 60 * 60
)

// civil is the set of wall times, in whole minutes, that a schedule names. It has no zone: instants
// are seconds since 1970 of the wall clock, days are days since 1970.
type civil struct {
	minutes uint64    // bit i is minute i
	hours   uint64    // bit i is hour i
	months  uint64    // bit i is month i, from 1
	dom     uint64    // bit i is day i of the month, from 1
	weeks   [7]uint64 // the same for the days of the week, by the weekday of the 1st
	either  bool      // a day needs to be in dom or weeks, not in both
	week    uint64    // if the weekday alone decides: bit i and i+7 are weekday i, else 0
	first   int64     // the first minute of a matching day
	last    int64     // the last minute of a matching day
	never   bool      // the set is empty
}

// maxMonths is longer than the longest time between two days of a schedule:
// 29 February is missing from eight years where a century is not a leap year.
const maxMonths = 9 * 12

// days returns the matching days of a month, bit i for day i.
func (c *civil) days(year, month int64) uint64 {
	if c.months>>month&1 == 0 {
		return 0
	}
	first, end := dayOf(year, month, 1), dayOf(year, month+1, 1)
	week := c.weeks[weekdayOf(first)]
	match := c.dom & week
	if c.either {
		match = c.dom | week
	}
	return match & (1<<(end-first+1) - 2)
}

// weekdayOf returns the weekday of a day, 0 for Sunday. 1970 began on a Thursday.
func weekdayOf(day int64) int64 { return floorMod(day+4, 7) }

// dayFrom returns the first matching day that is not before the given one.
func (c *civil) dayFrom(day int64) (int64, bool) {
	if c.week != 0 {
		return day + int64(bits.TrailingZeros64(c.week>>weekdayOf(day))), true
	}
	year, month, dom := dateOf(day)
	for range maxMonths {
		if match := c.days(year, month) >> dom << dom; match != 0 {
			return dayOf(year, month, int64(bits.TrailingZeros64(match))), true
		}
		dom = 1
		if month++; month > 12 {
			year, month = year+1, 1
		}
	}
	return 0, false
}

// runTo returns the last day of the consecutive matching days that begin with day.
func (c *civil) runTo(day int64) int64 {
	if run := int64(bits.TrailingZeros64(^(c.week >> weekdayOf(day)))); c.week != 0 && run < 7 {
		return day + run - 1
	}
	year, month, dom := dateOf(day)
	for range maxMonths {
		run := int64(bits.TrailingZeros64(^(c.days(year, month) >> dom)))
		end := dom + run - 1
		if day := dayOf(year, month, end); day+1 < dayOf(year, month+1, 1) {
			return day
		}
		dom = 1
		if month++; month > 12 {
			year, month = year+1, 1
		}
	}
	return dayOf(year, month, dom) - 1
}

// minuteFrom returns the first matching minute of the day from m on.
func (c *civil) minuteFrom(m int64) (int64, bool) {
	hour, minute := m/60, m%60
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes >> minute; rest != 0 {
			return m + int64(bits.TrailingZeros64(rest)), true
		}
	}
	rest := c.hours >> (hour + 1)
	if rest == 0 {
		return 0, false
	}
	hour += 1 + int64(bits.TrailingZeros64(rest))
	return hour*60 + c.first%60, true
}

// next returns the first matching time that is not before t.
func (c *civil) next(t int64) (int64, bool) {
	if c.never {
		return 0, false
	}
	m := floorDiv(t+59, 60)
	day := floorDiv(m, minutesPerDay)
	found, ok := c.dayFrom(day)
	if ok && found == day {
		if minute, ok := c.minuteFrom(floorMod(m, minutesPerDay)); ok {
			return day*secondsPerDay + minute*60, true
		}
		found, ok = c.dayFrom(day + 1)
	}
	return found*secondsPerDay + c.first*60, ok
}

// dayOf returns the days from 1 January 1970 to a date. Month 13 is the first of the next year, and
// day 0 the last of the month before.
func dayOf(year, month, day int64) int64 {
	return time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}

// dateOf inverts dayOf.
func dateOf(day int64) (year, month, dom int64) {
	y, m, d := time.Unix(day*secondsPerDay, 0).UTC().Date()
	return int64(y), int64(m), int64(d)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
