package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
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

// against returns a Markdown table that compares Dovetail with each row of Karpenter. At equal
// evictions it takes the cheapest setting of Dovetail with no more evictions per pod and day than
// that row, and at an equal bill the one with the fewest evictions of those that cost no more.
// Without rows of both it is empty.
func against(rows []row) string {
	var b strings.Builder
	for _, k := range rows {
		if k.contender != "karpenter" {
			continue
		}
		bill, evictions, any := math.Inf(1), math.Inf(1), false
		for _, d := range rows {
			if d.contender != "dovetail" || d.trace != k.trace {
				continue
			}
			any = true
			if d.figures.EvictionsPerPodDay() <= k.figures.EvictionsPerPodDay() {
				bill = min(bill, d.figures.Bill)
			}
			if d.figures.Bill <= k.figures.Bill {
				evictions = min(evictions, d.figures.EvictionsPerPodDay())
			}
		}
		if any {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k.trace, strings.TrimSpace(k.contender+" "+k.setting), less(bill, k.figures.Bill), less(evictions, k.figures.EvictionsPerPodDay()))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "| trace | dovetail against | bill at equal evictions | evictions at an equal bill |\n|---|---|--:|--:|\n" + b.String()
}

// less is over, and says so where no setting reaches the base.
func less(sum, base float64) string {
	if math.IsInf(sum, 1) {
		return "no setting"
	}
	return over(sum, base)
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

Contenders: dovetail and karpenter %s.
[README.md](README.md#the-life-of-a-cluster) says what is played and how each figure is made.
"From empty" is what plans for the same pods cost at each moment if no node existed, and the
bound the floor that these plans prove. Waits are until a pod is bound. The second table has two
settings of Dovetail for each setting of Karpenter: of the settings with no more evictions of a pod in a
day the cheapest, and of the settings that cost no more the one with the fewest evictions.

`, title, "`"+about.Command+"`", karpenter.Release())
	b.WriteString("```text\n" + about.Text() + "```\n\n" + table(rows))
	if text := against(rows); text != "" {
		b.WriteString("\n" + text)
	}
	if picture != "" {
		fmt.Fprintf(&b, "\n![Bill over from empty, and evictions of a pod in a day, for each setting](%s)\n", picture)
	}
	return b.String()
}
