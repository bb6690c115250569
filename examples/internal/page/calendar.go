package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// Calendar shows how many nodes the disruption budgets of a NodePool allow to be disrupted, by day
// and hour: as a table and as a page.
type Calendar struct {
	Pool  *v1.NodePool
	Nodes int               // number of nodes of the pool
	From  time.Time         // midnight in the time zone
	Days  int               // 1 or more
	Zone  *time.Location    // time zone of days and hours
	Only  []budgets.Opening // windows outside of which nothing is disrupted; empty for no such rule

	sections []section
}

// Ask evaluates the budgets for every reason. Reasons with the same answer at all times share a
// section.
func (c *Calendar) Ask(reasons []budgets.Reason) error {
	var policy *budgets.Policy
	if len(c.Only) > 0 {
		policy = &budgets.Policy{Only: []budgets.Only{{Openings: c.Only}}}
	}
	compiled, err := budgets.Compile(c.Pool.Spec.Disruption.Budgets, policy)
	if err != nil {
		return fmt.Errorf("NodePool %s: spec.disruption: %w", c.Pool.Name, err)
	}
	for _, reason := range reasons {
		c.add(reason, compiled.Calendar(c.From, c.day(c.Days), budgets.Counts{Nodes: c.Nodes}, reason))
	}
	return nil
}

// section is the calendar of the reasons that share it.
type section struct {
	reasons []budgets.Reason
	windows []budgets.Window
}

func (c *Calendar) add(reason budgets.Reason, windows []budgets.Window) {
	same := func(a, b budgets.Window) bool {
		return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Nodes == b.Nodes && a.Decider == b.Decider
	}
	for i := range c.sections {
		if slices.EqualFunc(c.sections[i].windows, windows, same) {
			c.sections[i].reasons = append(c.sections[i].reasons, reason)
			return
		}
	}
	c.sections = append(c.sections, section{[]budgets.Reason{reason}, windows})
}

func (s *section) title() string { return listed(s.reasons) }

// listed returns reasons with commas between.
func listed(reasons []budgets.Reason) string {
	var names []string
	for _, r := range reasons {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// level is one answer of the budgets, as shown by a cell and its colour: a number of nodes.
type level int

const unlimited level = math.MaxInt

func levelOf(w budgets.Window) level {
	if w.Unlimited {
		return unlimited
	}
	return level(w.Nodes)
}

func (l level) String() string {
	switch l {
	case unlimited:
		return "no limit"
	case 0:
		return "none"
	}
	return command.Count(int(l), "node")
}

// levels returns the answers that occur in sections, the smallest first.
func levels(sections ...section) (all []level) {
	for i := range sections {
		for _, w := range sections[i].windows {
			all = append(all, levelOf(w))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// day returns the midnight of day i, or its first instant if it has no midnight.
func (c *Calendar) day(i int) time.Time { return c.From.AddDate(0, 0, i) }

// least returns the smallest answer in [from, to), and whether other answers occur in that time. ok
// is false if the time is empty.
func (s *section) least(from, to time.Time) (least level, others, ok bool) {
	for _, w := range s.windows {
		if !w.From.Before(to) || !from.Before(w.To) {
			continue
		}
		l := levelOf(w)
		others = others || ok && l != least
		if !ok || l < least {
			least, ok = l, true
		}
	}
	return least, others, ok
}

func (c *Calendar) title() string {
	if c.Nodes == 1 {
		return fmt.Sprintf("NodePool %s: whether its one node may be disrupted", c.Pool.Name)
	}
	return fmt.Sprintf("NodePool %s: how many of its %d nodes may be disrupted at once", c.Pool.Name, c.Nodes)
}

// span describes the days of the calendar.
func (c *Calendar) span() string {
	last := c.day(c.Days - 1)
	text := c.From.Format("Mon 2 Jan 2006")
	if c.Days > 1 {
		text += " to " + last.Format("Mon 2 Jan 2006")
	}
	return fmt.Sprintf("%s, %s", text, c.Zone)
}
