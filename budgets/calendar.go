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
