package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/results"
)

// row is the result of one play.
type row struct {
	trace, contender, setting string
	figures                   *life.Figures
}

// table returns the figures as a Markdown table.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| trace | | bill, USD | over from empty | over the bound | evictions | a pod and day | lost | launches | waits: median | 99% | in the end: USD/h | over from empty |\n")
	b.WriteString("|---|---|" + strings.Repeat("--:|", 11) + "\n")
	for _, r := range rows {
		f := r.figures
		waits := fmt.Sprintf("%s | %s", f.Median.Round(time.Second), f.P99.Round(time.Second))
		if f.Pending > 0 {
			waits += fmt.Sprintf(" (%d pending)", f.Pending)
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s | %d | %.2f | %d | %d | %s | %.3f | %s |\n",
			r.trace, strings.TrimSpace(r.contender+" "+r.setting), f.Bill, over(f.Bill, f.FromEmpty), over(f.Bill, f.Bound),
			f.Evictions, f.EvictionsPerPodDay(), f.Lost, f.Launches, waits, f.EndRate, over(f.EndRate, f.EndFromEmpty))
	}
	return b.String()
}

// over returns how far a sum is above another, in percent.
func over(sum, base float64) string {
	if base == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*(sum/base-1))
}

const title = "## The life of a cluster"

// section returns the section of RESULTS.md about these rows. picture is the name of an image file in
// the same directory, or "".
func section(about results.Circumstances, rows []row, picture string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s

Written by %s.

[README.md](README.md#the-life-of-a-cluster) says what is played and how each figure is made.
"From empty" is what plans for the same pods cost at each moment if no node existed, and the
bound the floor that these plans prove. Waits are until a pod is bound.

`, title, "`"+about.Command+"`")
	b.WriteString("```text\n" + about.Text() + "```\n\n" + table(rows))
	if picture != "" {
		fmt.Fprintf(&b, "\n![Bill over from empty, and evictions of a pod in a day, for each setting](%s)\n", picture)
	}
	return b.String()
}
