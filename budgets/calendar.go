package budgets

import (
	"iter"
	"time"
)

// Window is a stretch of time in which the answer of Allow is the same.
type Window struct {
	// From is the first instant, and To the first one after.
	From, To time.Time
	// Allowance holds throughout. Its Until is To or later; it is zero if time
	// alone never changes it after From.
	Allowance
}

// MaxWindows is how many windows Compiled.Calendar returns at most.
const MaxWindows = 1_000_000

// Calendar is the answer of Allow at every instant from from until before to,
// if the counts stay as they are. The windows follow each other without gaps,
// and two in a row differ in more than their Until. There are none if to is not
// after from. If more than MaxWindows are needed the last one ends before to:
// ask again from there, or use Windows. It takes one Allow for each instant at which a
// budget that applies begins or ends. The slice is the caller's.
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

// Windows is Calendar one by one, and without its limit.
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

// windows are the stretches of time [hit, hit+length) of a schedule, those that
// touch or overlap taken together.
type windows struct {
	schedule *Schedule
	length   int64 // seconds; positive

	// What follows lets closes leap over hits instead of visiting each. It is
	// about wall time, and so holds between two changes of the clock.

	whole     bool     // windows leave no hole between the hits of one day
	bridged   int64    // days that may lie between two days of hits without a hole
	connected bool     // windows leave no hole at all
	ends      []uint16 // if not whole: from minute to minute of the day's last hit before a hole
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

// bridges reports whether the days of hits are everywhere close enough.
func (w *windows) bridges() bool {
	set := &w.schedule.set
	if set.week == 1<<14-1 {
		return true
	}
	// The calendar repeats after 400 years, a weekly one sooner.
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

// patience bounds the search for a hole that only a change of the clock could
// leave. Zones that change it at all do so more often.
const patience = 30 * 366 * secondsPerDay

// closes is the first instant after a hit that is in no window, or false if
// there is none.
func (w *windows) closes(hit int64) (int64, bool) {
	return w.closesBy(hit, hit+patience)
}

// always reports whether windows are open at all times, as far as the time zone
// database tells from 2000 to 2060.
func (w *windows) always() bool {
	if !w.connected {
		return false
	}
	start, end := dayOf(2000, 1, 1)*secondsPerDay, dayOf(2060, 1, 1)*secondsPerDay
	first, ok := w.schedule.next(start)
	at, closes := w.closesBy(first, end)
	return ok && (!closes || at >= end)
}

// closesBy is closes, but if windows are connected it gives up, and says that
// none closes, at a limit.
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

// runEnd is a hit up to which windows leave no hole from the hit h on, within
// the span z of one clock, which h is in.
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

// change is the first instant after t at which a window opens or closes, or
// false if there is none.
func (w *windows) change(t int64) (int64, bool) {
	if hit, ok := w.open(t); ok {
		if w.length > 7*secondsPerDay { // and so may have many hits from there to t
			hit = last(hit, t+1, w.schedule.next)
		}
		return w.closes(hit)
	}
	return w.schedule.next(t + 1)
}
