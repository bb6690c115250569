package budgets

import (
	"iter"
	"time"
)

// Window is a period in which the answer of Allow is the same.
type Window struct {
	// From is the first instant, and To the first one after.
	From, To time.Time
	// Allowance is the answer in the whole period. Its Until is To or later; it is zero if time
	// alone never changes the answer after From.
	Allowance
}

// MaxWindows is how many windows Compiled.Calendar returns at most.
const MaxWindows = 1_000_000

// Calendar returns the answers of Allow for all instants in [from, to) with the same counts. The
// windows have no gaps, and consecutive ones differ in more than their Until. There are none if to
// is not after from. If more than MaxWindows are needed the last one ends before to: ask again from
// there, or use Windows. It takes one Allow for each instant at which an applying budget begins or
// ends. The caller owns the slice.
func (c *Compiled) Calendar(from, to time.Time, n Counts, r Reason) []Window {
	var list []Window
	for p := range c.Windows(from, to, n, r) {
		if len(list) == MaxWindows {
			break
		}
		list = append(list, p)
	}
	return list
}

// Windows is Calendar as a sequence, without the limit MaxWindows.
func (c *Compiled) Windows(from, to time.Time, n Counts, r Reason) iter.Seq[Window] {
	return func(yield func(Window) bool) {
		var p Window
		for t := from; t.Before(to); {
			a := c.Allow(t, n, r)
			end := a.Until
			if end.IsZero() || end.After(to) {
				end = to
			}
			switch {
			case p.To.IsZero():
				p = Window{From: t, To: end, Allowance: a}
			case p.sameAs(a):
				p.To, p.Until = end, a.Until
			default:
				if !yield(p) {
					return
				}
				p = Window{From: t, To: end, Allowance: a}
			}
			t = end
		}
		if !p.To.IsZero() {
			yield(p)
		}
	}
}

func (p *Window) sameAs(a Allowance) bool {
	a.Until = p.Until
	return p.Allowance == a
}

// windows are the periods [hit, hit+length) of a schedule. Those that touch or overlap are merged.
type windows struct {
	schedule *Schedule
	length   int64 // seconds; positive

	// The fields below let closes skip hits. They are about wall time, and so are valid between two
	// changes of the clock.

	whole     bool     // windows leave no gap between the hits of one day
	bridged   int64    // days that may lie between two days of hits without a gap
	connected bool     // windows leave no gap at all
	ends      []uint16 // if not whole: by minute of a hit, the minute of the day's last hit before the next gap
}

func newWindows(s *Schedule, length int64) windows {
	w := windows{schedule: s, length: length, whole: true}
	if s.set.never {
		return w
	}
	w.measureDay()
	w.bridged = floorDiv(length+(s.set.last-s.set.first)*60, secondsPerDay)
	w.connected = w.whole && w.bridged >= 1 && w.bridges()
	return w
}

// measureDay sets whole and ends.
func (w *windows) measureDay() {
	set := &w.schedule.set
	var ends [minutesPerDay]uint16
	later := int64(-1)
	for m := set.last; m >= 0; m-- {
		if set.minutes>>(m%60)&1 == 0 || set.hours>>(m/60)&1 == 0 {
			continue
		}
		ends[m] = uint16(m)
		if later >= 0 {
			if (later-m)*60 <= w.length {
				ends[m] = ends[later]
			} else {
				w.whole = false
			}
		}
		later = m
	}
	if !w.whole {
		w.ends = ends[:]
	}
}

// bridges reports whether all days of hits are close enough to leave no gap.
func (w *windows) bridges() bool {
	set := &w.schedule.set
	if set.week == 1<<14-1 {
		return true
	}
	// The calendar repeats after 400 years, a weekly schedule sooner.
	day, _ := set.dayFrom(0)
	end := day + 146097
	if set.week != 0 {
		end = day + 14
	}
	for day < end {
		next, ok := set.dayFrom(day + 1)
		if !ok || next-day > w.bridged {
			return false
		}
		day = next
	}
	return true
}

// open reports whether t is in a window. If it is, hit is the start of the first such window.
func (w *windows) open(t int64) (hit int64, ok bool) {
	hit, ok = w.schedule.next(t - w.length + 1)
	return hit, ok && hit <= t
}

// patience bounds the search for a gap that only a change of the clock can leave, in seconds. Zones
// with such changes have them more often.
const patience = 30 * 366 * secondsPerDay

// closes returns the first instant after a hit that is in no window, and false if there is none.
func (w *windows) closes(hit int64) (int64, bool) {
	return w.closesBy(hit, hit+patience)
}

// always reports whether a window is open at all times, by the time zone database for 2000 to 2060.
func (w *windows) always() bool {
	if !w.connected {
		return false
	}
	start, end := dayOf(2000, 1, 1)*secondsPerDay, dayOf(2060, 1, 1)*secondsPerDay
	first, ok := w.schedule.next(start)
	at, closes := w.closesBy(first, end)
	return ok && (!closes || at >= end)
}

// closesBy is closes with a limit: if windows are connected, it returns false when it reaches the
// limit.
func (w *windows) closesBy(hit, limit int64) (int64, bool) {
	s, h := w.schedule, hit
	for {
		z := spanAt(s.loc, h)
		if z.old == z.offset {
			if w.connected && z.to >= forever {
				return 0, false
			}
			h = max(h, w.runEnd(h, &z))
		}
		next, ok := s.next(h + 1)
		if !ok || next-h > w.length {
			return h + w.length, true
		}
		h = next
		if w.connected && h > limit {
			return 0, false
		}
	}
}

// runEnd returns a hit up to which windows leave no gap from the hit h on, within the span z, which
// contains h.
func (w *windows) runEnd(h int64, z *span) int64 {
	set := &w.schedule.set
	end := z.to
	if !w.connected {
		local := h + z.offset
		day := floorDiv(local, secondsPerDay)
		minute := set.last
		if !w.whole {
			minute = int64(w.ends[floorMod(local, secondsPerDay)/60])
		} else if w.bridged >= 1 {
			day = set.runTo(day)
		}
		end = day*secondsPerDay + minute*60 - z.offset
	}
	if end >= z.to {
		end = last(h+z.offset, z.to+z.offset, set.next) - z.offset
	}
	return end
}

// change returns the first instant after t at which a window opens or closes, and false if there is
// none.
func (w *windows) change(t int64) (int64, bool) {
	if hit, ok := w.open(t); ok {
		if w.length > 7*secondsPerDay { // and so may have many hits from there to t
			hit = last(hit, t+1, w.schedule.next)
		}
		return w.closes(hit)
	}
	return w.schedule.next(t + 1)
}
