package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
)

// row is one play.
type row struct {
	trace, contender string
	figures          *life.Figures
}

// table is the figures as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| trace | contender | bill, USD | from empty | over it | bound | over it | evictions | a pod and day | lost | preempted | launches | waits: median | 99% | pending | in the end: USD/h | over from empty |\n")
	b.WriteString("|" + strings.Repeat(" --- |", 17) + "\n")
	for _, r := range rows {
		f := r.figures
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %s | %.2f | %s | %d | %.2f | %d | %d | %d | %s | %s | %d | %.3f | %s |\n",
			r.trace, r.contender, f.Bill, f.FromEmpty, over(f.Bill, f.FromEmpty), f.Bound, over(f.Bill, f.Bound),
			f.Evictions, f.EvictionsPerPodDay(), f.Lost, f.Preemptions, f.Launches,
			f.Median.Round(time.Second), f.P99.Round(time.Second), f.Pending, f.EndRate, over(f.EndRate, f.EndFromEmpty))
	}
	return b.String()
}

// over is how far a sum is above another.
func over(sum, base float64) string {
	if base == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*(sum/base-1))
}
