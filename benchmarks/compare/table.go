package main

import (
	"fmt"
	"strings"
)

// row is the format of a line of the table. The heading and the values have the same widths.
const row = "%-9s %8s %8s %8s %8s %5s %9s %7s %7s %5s %7s %7s\n"

// head returns the heading of the table.
func head() string {
	return fmt.Sprintf(row, "", "solve s", "set-up s", "pods/s", "with", "new", "USD/h", "over", "over", "pods", "MB", "1000") +
		fmt.Sprintf(row, "", "", "", "", "set-up", "nodes", "", "bound", "own", "left", "", "allocs")
}

// text returns the lines of the table for one scenario.
func (m *contest) text() string {
	var b strings.Builder
	about := fmt.Sprintf("%d pods, %d types", m.pods, m.types)
	if m.nodes > 0 {
		about += fmt.Sprintf(", %d nodes", m.nodes)
	}
	fmt.Fprintf(&b, "\n%s (%s)\n", m.name, about)
	for _, e := range m.entries {
		b.WriteString(e.text())
	}
	b.WriteString(m.versus())
	return b.String()
}

func (e *entry) text() string {
	if e.fault != nil && e.solve == 0 {
		return fmt.Sprintf("%-9s failed: %v\n", e.short(), e.fault)
	}
	line := fmt.Sprintf(row, e.short(), seconds(e.solve), seconds(e.setup),
		rate(e.pods, e.solve), rate(e.pods, e.solve+e.setup), fmt.Sprint(e.nodes), fmt.Sprintf("%.2f", e.cost),
		percentOver(e.cost, e.bound), percentOver(e.cost, e.ownBound), fmt.Sprint(e.unplaced),
		fmt.Sprintf("%.1f", float64(e.bytes)/1e6), fmt.Sprintf("%.1f", float64(e.allocs)/1e3))
	if e.fault != nil {
		line += fmt.Sprintf("%-9s faulty: %v\n", "", e.fault)
	}
	return line
}

// versus compares each contender with the last one if both placed the same number of pods, and
// otherwise says that the numbers differ.
func (m *contest) versus() string {
	if len(m.entries) < 2 {
		return ""
	}
	var b strings.Builder
	last := &m.entries[len(m.entries)-1]
	for i := range m.entries[:len(m.entries)-1] {
		b.WriteString(m.entries[i].versus(last))
	}
	return b.String()
}

func (e *entry) versus(other *entry) string {
	switch {
	case e.solve == 0 || other.solve == 0:
		return ""
	case e.pods != other.pods:
		return fmt.Sprintf("not comparable: %s placed %d pods, %s %d\n", e.short(), e.pods, other.short(), other.pods)
	}
	cost := "nothing to launch"
	if other.cost > 0 {
		cost = fmt.Sprintf("at %.1f%% of the cost", 100*e.cost/other.cost)
	}
	return fmt.Sprintf("%-9s %s times as fast (%s with set-up), %s\n", e.short(),
		factor(other.solve/e.solve), factor((other.solve+other.setup)/(e.solve+e.setup)), cost)
}

// factor formats f with two significant digits or more.
func factor(f float64) string {
	switch {
	case f >= 10:
		return fmt.Sprintf("%.0f", f)
	case f >= 1:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// seconds formats s with three significant digits or more.
func seconds(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.1f", s)
	case s >= 1:
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.4f", s)
}

func rate(pods int, seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(pods)/seconds)
}

// percentOver returns how far a cost is above a floor, in percent.
func percentOver(cost, floor float64) string {
	if floor <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*(cost/floor-1))
}
