// Package budgets answers how many nodes may be disrupted now, which budget
// decided that, and until when the answer holds.
//
// # Model
//
// A budget is a bound on how many nodes of a pool may be disrupted at one time. It is a count or a
// percentage of the nodes, rounded up; it is in force always, or in windows [hit, hit+duration)
// that a cron schedule opens; and it applies to the disruption reasons that it names, or to all.
// The smallest bound in force decides, minus the nodes that are already being disrupted:
//
//	Compile    budgets and a Policy into a form for fast answers
//	Allow      how many more nodes, which budget decided, until when
//	Next       when more nodes may go
//	Calendar   the same for a stretch of time, as windows
//	Lint       budgets that do not do what was probably meant
//	Group      budgets over several pools, or per zone or other label
//
// Budgets come as package api/v1 defines them. A Policy adds settings that they cannot express:
// windows outside of which nothing is disrupted, and expiry under budgets.
//
// # Failing closed
//
// A budget that is malformed allows no node, but only for the reasons that it
// applies to. It never blocks a reason that it does not name.
//
// # Daylight saving
//
// A schedule runs in UTC unless it begins with CRON_TZ=<zone> or TZ=<zone>. In
// a zone whose clocks change:
//
//   - a duration is elapsed time: 24h from 9:00 ends at 8:00 wall time after the night in which the
//     clock is put back, and at 10:00 after the one in which it is put forward;
//   - a wall time that is skipped hits at the instant at which the old clock would have shown it:
//     2:30 hits at 3:30 of the new clock;
//   - a wall time that occurs twice hits the first time. It hits the second time too only if the
//     old clock, had it gone on, would show a hit then as well, so that a series such as every hour
//     or every minute has no gap.
//
// In other words, for as long after a change as the clock was moved, an instant is a hit if the old
// clock or the new one says so after a move forward, and if both say so after a move back. No
// window is lost and none is repeated. The rules of zones are those of the time zone database of
// the process; a zone that it does not have is a fault of the budget.
//
// # What is left out
//
// Nothing is counted or watched here: the caller passes the number of nodes and their states.
// Package disruption chooses the nodes.
//
// # Guarantees
//
// Answers are a function of the arguments and the time zone database: no clock, no randomness, no
// log. Arguments are neither modified nor retained. No input causes a panic. A *Compiled may be
// used from many goroutines.
package budgets
