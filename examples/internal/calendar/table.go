package calendar

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// maxWindows is how many windows a section lists; the grid shows them all.
const maxWindows = 40

// Table is the calendar as text, 80 columns wide unless names are long.
func (c *Calendar) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", c.title(), c.span())
	list := c.Pool.Spec.Disruption.Budgets
	c.budgets(&b)
	marks := c.marks()
	for i := range c.sections {
		s := &c.sections[i]
		fmt.Fprintf(&b, "\n%s\n\n", s.title())
		c.grid(&b, s, marks)
		b.WriteString("\n")
		c.list(&b, s)
	}
	for i, f := range budgets.Lint(list) {
		if i == 0 {
			b.WriteString("\nRemarks\n\n")
		}
		for _, line := range command.Wrap(fmt.Sprintf("budgets[%d]: %s; %s.", f.Budget, f.Why, f.Remedy), command.PageWidth, "  ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// budgets lists the budgets of the pool, and the windows outside of which nothing is
// disrupted.
func (c *Calendar) budgets(b *strings.Builder) {
	list := c.Pool.Spec.Disruption.Budgets
	for i, o := range c.Only {
		lead := "Only in"
		if i > 0 {
			lead = "     or"
		}
		fmt.Fprintf(b, "%s %s for %s\n", lead, o.Schedule, short(o.Duration))
	}
	if len(c.Only) > 0 {
		b.WriteString("\n")
	}
	if len(list) == 0 {
		b.WriteString("The pool has no budgets, so there is no limit.\n")
		return
	}
	width := len("WHEN")
	for _, budget := range list {
		_, when, _ := rule(budget)
		width = max(width, len(when))
	}
	fmt.Fprintf(b, "BUDGET  NODES  %-*s  REASONS\n", width, "WHEN")
	for i, budget := range list {
		nodes, when, reasons := rule(budget)
		fmt.Fprintf(b, "%6d  %5s  %-*s  %s\n", i, nodes, width, when, reasons)
	}
}

// marks are what the cells show for each answer, two columns wide.
func (c *Calendar) marks() map[level]string {
	marks := map[level]string{}
	large := 0
	for _, l := range c.levels() {
		switch {
		case l.unlimited:
			marks[l] = " *"
		case l.nodes == 0:
			marks[l] = " ."
		case l.nodes <= 99:
			marks[l] = fmt.Sprintf("%2d", l.nodes)
		default: // has no room
			marks[l] = " " + string(rune('a'+large%26))
			large++
		}
	}
	return marks
}

// grid has a row for each day and a cell for each hour, with the least that is
// allowed in that hour.
func (c *Calendar) grid(b *strings.Builder, s *section, marks map[level]string) {
	head := strings.Repeat(" ", 12)
	for hour := range 24 {
		cell := "  "
		if hour%3 == 0 {
			cell = fmt.Sprintf("%2d", hour)
		}
		head += cell
		if hour%6 == 5 {
			head += "  "
		}
	}
	b.WriteString(head + "24\n")
	for i := range c.Days {
		day := c.day(i)
		row := fmt.Sprintf("%-12s", day.Format("Mon _2 Jan"))
		for hour := range 24 {
			from, to := c.hour(day, hour)
			if least, ok := s.least(from, to); ok {
				row += marks[least]
			} else {
				row += "  " // the clock skips this hour
			}
			if hour%6 == 5 {
				row += "  "
			}
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	var legend []string
	for _, l := range c.levels() {
		if mark := strings.TrimSpace(marks[l]); mark != fmt.Sprint(l.nodes) {
			legend = append(legend, fmt.Sprintf("%s %s", mark, l))
		}
	}
	if len(legend) > 0 {
		fmt.Fprintf(b, "\n%13s%s\n", "", strings.Join(legend, "   "))
	}
}

// hour is the stretch in which the clock shows an hour. It is empty if the
// clock skips it, and two hours long if it shows it twice.
func (c *Calendar) hour(day time.Time, hour int) (from, to time.Time) {
	end := day.AddDate(0, 0, 1)
	for t := day; t.Before(end); t = t.Add(15 * time.Minute) {
		if t.Hour() == hour {
			if from.IsZero() {
				from = t
			}
			to = t.Add(15 * time.Minute)
		}
	}
	return from, to
}

func (c *Calendar) list(b *strings.Builder, s *section) {
	fmt.Fprintf(b, "%-18s%-18s%9s  %8s  %s\n", "FROM", "TO", "LENGTH", "NODES", "DECIDED BY")
	for i, w := range s.windows {
		if i == maxWindows {
			fmt.Fprintf(b, "and %d more\n", len(s.windows)-i)
			break
		}
		nodes := fmt.Sprint(w.Nodes)
		by := "no budget"
		if !w.Unlimited {
			by = w.Binding.String()
		} else {
			nodes = "no limit"
		}
		fmt.Fprintf(b, "%-18s%-18s%9s  %8s  %s\n", stamp(w.From), stamp(w.To), short(w.To.Sub(w.From)), nodes, by)
	}
}

func stamp(t time.Time) string { return t.Format("Mon _2 Jan 15:04") }
