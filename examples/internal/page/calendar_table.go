package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// maxWindows is how many windows a section lists; the grid shows them all.
const maxWindows = 40

// Table returns the calendar as text, 80 columns wide unless names are long.
func (c *Calendar) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", c.title(), c.span())
	if t := c.budgetTable(); len(t.Rows) > 0 {
		b.WriteString(t.text())
	} else {
		b.WriteString("The pool has no budgets, so there is no limit.\n")
	}
	marks := c.marks()
	for i := range c.sections {
		s := &c.sections[i]
		fmt.Fprintf(&b, "\n%s\n\n", s.title())
		c.grid(&b, s, marks)
		b.WriteString("\n" + s.table().text())
	}
	for i, remark := range c.remarks() {
		if i == 0 {
			b.WriteString("\nRemarks\n\n")
		}
		for _, line := range command.Wrap(remark, command.PageWidth, "  ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// remarks returns the findings of the linter about the budgets of the pool.
func (c *Calendar) remarks() (lines []string) {
	for _, f := range budgets.Lint(c.Pool.Spec.Disruption.Budgets) {
		lines = append(lines, fmt.Sprintf("budgets[%d]: %s; %s.", f.Budget, f.Why, f.Remedy))
	}
	return lines
}

// budgetTable returns the budgets, and the windows outside of which nothing is disrupted.
func (c *Calendar) budgetTable() Table {
	t := Table{Title: "Budgets", Head: []string{"when", "nodes", "reasons"}}
	for i, b := range c.Pool.Spec.Disruption.Budgets {
		when, reasons := "always", "all"
		if b.Schedule != nil {
			when = fmt.Sprintf("%s for %s", *b.Schedule, command.Span(b.Duration.Duration))
		}
		if b.Reasons != nil {
			reasons = cmp.Or(listed(b.Reasons), "none")
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d: %s", i, when), b.Nodes, reasons})
	}
	for _, o := range c.Only {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("only in %s for %s", o.Schedule, command.Span(o.Duration)), "", "all"})
	}
	return t
}

// table returns the windows of a section, at most maxWindows of them.
func (s *section) table() Table {
	t := Table{Title: s.title(), Head: []string{"from", "length", "nodes", "decided by"}}
	for i, w := range s.windows {
		if i == maxWindows {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("and %d more", len(s.windows)-i), "", "", ""})
			break
		}
		nodes, by := "no limit", "no budget"
		if !w.Unlimited {
			nodes, by = fmt.Sprint(w.Nodes), w.Decider.String()
		}
		t.Rows = append(t.Rows, []string{stamp(w.From), command.Span(w.To.Sub(w.From)), nodes, by})
	}
	return t
}

// marks returns the text of cells for each answer: at most two letters.
func (c *Calendar) marks() map[level]string {
	marks := map[level]string{}
	large := 0
	for _, l := range levels(c.sections...) {
		switch {
		case l == unlimited:
			marks[l] = "*"
		case l == 0:
			marks[l] = "."
		case l <= 99:
			marks[l] = fmt.Sprint(int(l))
		default: // has no room
			marks[l] = string(rune('a' + large%26))
			large++
		}
	}
	return marks
}

// partly follows the mark of an hour in a part of which more nodes may be disrupted.
const partly = "+"

// grid prints a row for each day and a cell for each hour, with the smallest answer in that hour.
// Cells are two letters wide, or three if marks or hours need it.
func (c *Calendar) grid(b *strings.Builder, s *section, marks map[level]string) {
	var cells [24][]string // by hour, then by day
	var shown []level
	wide, mixed := false, false
	for hour := range cells {
		for i := range c.Days {
			least, others, ok := s.least(c.hour(c.day(i), hour))
			if !ok {
				cells[hour] = append(cells[hour], "") // the clock skips this hour
				continue
			}
			text := fmt.Sprintf("%2s", marks[least])
			shown = append(shown, least)
			if others {
				text, mixed = text+partly, true
			}
			cells[hour] = append(cells[hour], text)
			wide = wide || others || len(marks[least]) > 1
		}
	}
	width, gap, date := 2, "  ", "Mon _2 Jan  "
	if wide {
		width, gap, date = 3, "", "Mon _2 "
	}
	rows := []string{strings.Repeat(" ", len(date))}
	for i := range c.Days {
		rows = append(rows, c.day(i).Format(date))
	}
	for hour, column := range cells {
		head := ""
		if hour%3 == 0 {
			head = fmt.Sprintf("%2d", hour)
		}
		for i, text := range append([]string{head}, column...) {
			rows[i] += fmt.Sprintf("%-*s", width, text)
			if hour%6 == 5 {
				rows[i] += gap
			}
		}
	}
	if !wide {
		rows[0] += "24"
	}
	for _, row := range rows {
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	legend(b, marks, shown, mixed)
}

// legend explains the marks that occur and are not numbers.
func legend(b *strings.Builder, marks map[level]string, shown []level, mixed bool) {
	slices.Sort(shown)
	var parts []string
	for _, l := range slices.Compact(shown) {
		if mark := marks[l]; mark != fmt.Sprint(int(l)) {
			parts = append(parts, fmt.Sprintf("%s %s", mark, l))
		}
	}
	if mixed {
		parts = append(parts, partly+" more in a part of the hour")
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "\n%13s%s\n", "", strings.Join(parts, "   "))
	}
}

// hour returns the time during which the clock shows an hour. It is empty if the clock skips the
// hour, and two hours long if the clock shows it twice.
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

func stamp(t time.Time) string { return t.Format("Mon _2 Jan 15:04") }
