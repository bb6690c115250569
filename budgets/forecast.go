package budgets

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Work is nodes to be replaced.
type Work struct {
	// Nodes is how many of Counts.Nodes are to be replaced.
	Nodes int
	// Each is how long one replacement takes, from the instant at which the
	// node is marked until it is gone and another stands in its place. At least
	// a minute.
	Each time.Duration
	// Counts is the state at the beginning. Nodes that are disrupted or
	// rebooting then are taken to be done after Each, and nodes that are not
	// ready to stay so.
	Counts Counts
	// Reason is why they are replaced.
	Reason Reason
	// Horizon is how far to look ahead. Zero is DefaultHorizon; at most
	// MaxHorizon.
	Horizon time.Duration
}

// The horizons of Forecast: that of a Work which names none, and the longest one.
const (
	DefaultHorizon = 366 * 24 * time.Hour
	MaxHorizon     = 5 * DefaultHorizon
)

// Timetable is the answer of Forecast.
type Timetable struct {
	// Done is the earliest instant at which all nodes can have been replaced.
	// It is zero if that is not so within the horizon.
	Done time.Time
	// Never is whether no horizon would be long enough: nothing is under way,
	// nothing may begin, and time alone does not change that.
	Never bool
	// Replaced is how many nodes are replaced at Done, or at the end of the
	// horizon.
	Replaced int
	// Blocked is what decided at the last instant looked at, if some nodes have
	// not even begun within the horizon.
	Blocked Binding
	// Batches are the nodes that begin at the same instant, in order of time.
	Batches []Batch
}

// Batch is some nodes that are replaced together.
type Batch struct {
	Start, End time.Time // when their replacement begins, and when it is done
	Nodes      int       // how many they are
}

// Forecast is Compile without a policy, and Compiled.Forecast.
func Forecast(from time.Time, bs []v1.Budget, w Work) (Timetable, error) {
	compiled, _ := compile(bs, nil, true) // malformed budgets block, and say so
	return compiled.Forecast(from, w)
}

// Forecast says when the nodes can have been replaced, at the earliest, if work
// begins at from. It plays the events through: at each instant as many nodes
// begin as Allow lets, counting those under way; the next instant is when a
// batch ends or when Allow says that its answer can change. A replacement that
// has begun is finished, even if a window closes meanwhile, as with Karpenter;
// End may lie after the horizon, but not Done.
//
// The error lists what is wrong with the work.
func (c *Compiled) Forecast(from time.Time, w Work) (Timetable, error) {
	if faults := w.validate(); len(faults) > 0 {
		return Timetable{}, faults.ToAggregate()
	}
	if w.Horizon == 0 {
		w.Horizon = DefaultHorizon
	}
	s := simulation{c: c, w: w, now: from, end: from.Add(w.Horizon), todo: w.Nodes}
	s.before = Counts{Disrupting: w.Counts.Disrupting, Rebooting: w.Counts.Rebooting, By: w.Counts.By}
	s.history = append(s.history, w.Counts.History...)
	s.first = from.Add(w.Each)
	return s.run(), nil
}

func (w *Work) validate() (faults field.ErrorList) {
	if w.Nodes < 0 || w.Nodes > max(0, w.Counts.Nodes) {
		faults = append(faults, field.Invalid(field.NewPath("nodes"), w.Nodes, "want a number from 0 to that of counts.nodes"))
	}
	if w.Each < time.Minute || w.Each > MaxHorizon {
		faults = append(faults, field.Invalid(field.NewPath("each"), w.Each.String(), "want a minute or more, and no more than five years"))
	}
	if w.Horizon < 0 || w.Horizon > MaxHorizon {
		faults = append(faults, field.Invalid(field.NewPath("horizon"), w.Horizon.String(), "want five years at the most, or 0 for one year"))
	}
	return faults
}

// simulation is the state of a forecast at an instant.
type simulation struct {
	c        *Compiled
	w        Work
	now, end time.Time
	todo     int // nodes that have not begun
	under    int // nodes under way
	oldest   int // index of the first batch that is under way
	before   Counts
	first    time.Time // when what was under way before is done
	history  []Past
	table    Timetable
}

func (s *simulation) run() Timetable {
	for {
		s.finish()
		if s.todo == 0 && s.under == 0 {
			s.table.Done = s.now
			return s.table
		}
		a := s.c.Allow(s.now, s.counts(), s.w.Reason)
		if s.todo > 0 && a.Nodes > 0 {
			s.begin(min(a.Nodes, s.todo))
			a = s.c.Allow(s.now, s.counts(), s.w.Reason)
		}
		next := s.next(a)
		if next.IsZero() || next.After(s.end) {
			s.table.Never = next.IsZero()
			if s.todo > 0 {
				s.table.Blocked = a.Binding
			}
			return s.table
		}
		s.now = next
	}
}

// finish takes off what is done.
func (s *simulation) finish() {
	if !s.now.Before(s.first) {
		s.before = Counts{}
	}
	batches := s.table.Batches
	for s.oldest < len(batches) && !s.now.Before(batches[s.oldest].End) {
		s.under -= batches[s.oldest].Nodes
		s.table.Replaced += batches[s.oldest].Nodes
		s.oldest++
	}
}

func (s *simulation) begin(n int) {
	s.table.Batches = append(s.table.Batches, Batch{s.now, s.now.Add(s.w.Each), n})
	s.under += n
	s.todo -= n
	s.remember(n)
}

// remember adds to the history, which only rates look at. Of a large batch it
// keeps no more entries than make every rate say no.
func (s *simulation) remember(n int) {
	most, rated := 0, false
	longest := time.Duration(0)
	for i := range s.c.constraints {
		if k := &s.c.constraints[i]; k.form == rate {
			rated, longest = true, max(longest, k.per)
			most = max(most, k.value.of(s.w.Counts.Nodes))
		}
	}
	if !rated {
		return
	}
	kept := s.history[:0]
	for _, p := range s.history {
		if s.now.Sub(p.At) < longest {
			kept = append(kept, p)
		}
	}
	s.history = kept
	for range min(n, add(most, 1), maxRemembered) {
		s.history = append(s.history, Past{s.now, s.w.Reason})
	}
}

// maxRemembered bounds the memory that one batch takes. No cluster has so many
// nodes.
const maxRemembered = 100_000

func (s *simulation) counts() Counts {
	c := s.w.Counts
	c.Disrupting = add(s.before.Disrupting, s.under)
	c.Rebooting = s.before.Rebooting
	c.By = s.before.By
	c.By.count(s.w.Reason, s.under)
	c.History = s.history
	return c
}

// next is the next instant at which anything happens.
func (s *simulation) next(a Allowance) time.Time {
	var next time.Time
	if s.oldest < len(s.table.Batches) {
		next = s.table.Batches[s.oldest].End
	}
	if s.todo == 0 {
		return next
	}
	if add(s.before.Disrupting, s.before.Rebooting) > 0 {
		next = earlier(next, s.first)
	}
	return earlier(next, a.Until)
}
