package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

// compareSchema names the form of the answer to -compare.
const compareSchema = "dovetail.whatif.compare/v1"

// compareReport is the answer to -compare; README.md describes it.
type compareReport struct {
	Schema      string       `json:"schema"`
	Now         time.Time    `json:"now"`
	File        string       `json:"file"`
	Changes     []string     `json:"changes"`
	Old         outcome      `json:"old"`
	New         outcome      `json:"new"`
	Differences []difference `json:"differences"`

	found    []compare.Difference
	outcomes struct{ Old, New compare.Outcome }
}

// outcome is what becomes of one side.
type outcome struct {
	FromEmpty  freshBill   `json:"fromEmpty"`
	Today      billSummary `json:"today"`
	AtRest     billSummary `json:"atRest"`
	Unplaced   int         `json:"unplaced"`
	Pending    int         `json:"pending"`
	Drifted    int         `json:"drifted"`
	Peak       int         `json:"peakNodes"`
	Evicted    int         `json:"evictedPods"`
	Launched   int         `json:"launchedNodes"`
	Rounds     int         `json:"rounds"`
	RestsAt    time.Time   `json:"restsAt"`
	Rested     bool        `json:"rested"`
	RestReason string      `json:"restReason"`
}

type billSummary struct {
	USDPerHour    float64 `json:"usdPerHour"`
	Nodes         int     `json:"nodes"`
	UnknownPrices int     `json:"unknownPrices,omitempty"`
}

type freshBill struct {
	billSummary
	LowerBound float64 `json:"lowerBoundUSDPerHour"`
}

type difference struct {
	Kind   string   `json:"kind"`
	Object string   `json:"object,omitempty"`
	Old    float64  `json:"old"`
	New    float64  `json:"new"`
	Reason string   `json:"reason,omitempty"`
	Nodes  []string `json:"nodes"`
}

func summaryOf(b compare.Bill) billSummary {
	return billSummary{USDPerHour: micro(b.Cost), Nodes: b.Nodes, UnknownPrices: b.UnknownPrices}
}

func outcomeOf(o compare.Outcome) outcome {
	return outcome{
		FromEmpty: freshBill{billSummary: summaryOf(o.Fresh.Bill), LowerBound: micro(o.Fresh.LowerBound)},
		Today:     summaryOf(o.Settled.Today), AtRest: summaryOf(o.Settled.Bill),
		Unplaced: len(o.Fresh.Plan.Unplaced), Pending: len(o.Settled.Unplaced), Drifted: len(o.Settled.Drifts),
		Peak: o.Settled.Peak, Evicted: o.Settled.Evicted, Launched: o.Settled.Launched, Rounds: len(o.Settled.Rounds),
		RestsAt: o.Settled.At, Rested: o.Settled.Rested, RestReason: o.Settled.Why,
	}
}

func newCompareReport(s settings, changes []string, c *compare.Comparison) *compareReport {
	r := &compareReport{Schema: compareSchema, Now: s.compare.now, File: s.compare.file, Changes: append([]string{}, changes...),
		Old: outcomeOf(c.Old), New: outcomeOf(c.New), Differences: []difference{}, found: c.Differences}
	r.outcomes.Old, r.outcomes.New = c.Old, c.New
	for _, d := range c.Differences {
		r.Differences = append(r.Differences, difference{Kind: string(d.Kind), Object: d.Object, Old: micro(d.Old), New: micro(d.New),
			Reason: d.Reason, Nodes: append([]string{}, d.Nodes...)})
	}
	return r
}

// mostListed is how many differences of one kind the table names.
const mostListed = 5

// drawCompare renders the answer for people.
func drawCompare(r *compareReport, style command.Style) string {
	lines := []string{style.Heading(layout.Shorten("What would change with "+r.File, command.PageWidth))}
	for _, c := range r.Changes {
		lines = append(lines, layout.Wrap(layout.Printable("- "+c), 2)...)
	}
	g := layout.Grid{Columns: layout.Columns("", "#TODAY'S", "#NEW", "#CHANGE"), Rows: r.rows()}
	grid := g.Lines()
	lines = append(lines, "", style.Heading(grid[0]))
	lines = append(lines, grid[1:]...)
	a, b := r.Old, r.New
	lines = append(lines, "", layout.Shorten(fmt.Sprintf("%s run today for %s USD/h.", layout.Count(a.Today.Nodes, "node"), usd(a.Today.USDPerHour, 4)), command.PageWidth))
	if !b.Rested {
		lines = append(lines, layout.Wrap("The new side does not come to rest: "+b.RestReason+".", 0)...)
	}
	return strings.Join(append(lines, r.reasons(style)...), "\n") + "\n"
}

// rows are the figures of both sides, and how they differ.
func (r *compareReport) rows() (out [][]string) {
	row := func(what string, old, fresh float64, decimals int) {
		out = append(out, []string{what, usd(old, decimals), usd(fresh, decimals), change(old, fresh, decimals)})
	}
	a, b := r.Old, r.New
	row("planned from empty, USD/h", a.FromEmpty.USDPerHour, b.FromEmpty.USDPerHour, 4)
	row("  nodes", float64(a.FromEmpty.Nodes), float64(b.FromEmpty.Nodes), 0)
	row("  pods without a place", float64(a.Unplaced), float64(b.Unplaced), 0)
	row("what runs, at rest, USD/h", a.AtRest.USDPerHour, b.AtRest.USDPerHour, 4)
	row("  nodes", float64(a.AtRest.Nodes), float64(b.AtRest.Nodes), 0)
	row("  pods without a place", float64(a.Pending), float64(b.Pending), 0)
	row("the way: nodes drifted", float64(a.Drifted), float64(b.Drifted), 0)
	row("  nodes at once", float64(a.Peak), float64(b.Peak), 0)
	row("  nodes launched", float64(a.Launched), float64(b.Launched), 0)
	row("  pods evicted", float64(a.Evicted), float64(b.Evicted), 0)
	row("  hours", a.RestsAt.Sub(r.Now).Hours(), b.RestsAt.Sub(r.Now).Hours(), 1)
	return out
}

// change is how much more or less.
func change(old, fresh float64, decimals int) string {
	d := fresh - old
	if math.Abs(d) < math.Pow(10, -float64(decimals))/2 {
		return "-"
	}
	text := usd(d, decimals)
	if d > 0 {
		text = "+" + text
	}
	if decimals == 4 && old > 0 {
		text += fmt.Sprintf(" (%+.1f%%)", 100*d/old)
	}
	return text
}

// reasons lists the differences.
func (r *compareReport) reasons(style command.Style) []string {
	if len(r.found) == 0 {
		return []string{"", "Nothing would change."}
	}
	lines := []string{"", style.Heading("WHY")}
	shown := map[compare.Kind]int{}
	for _, d := range r.found {
		if d.Kind == compare.KindFreshNodes && shown[compare.KindFreshCost] > 0 || d.Kind == compare.KindSettledNodes && shown[compare.KindSettledCost] > 0 {
			continue // for the same reason
		}
		if shown[d.Kind]++; shown[d.Kind] == mostListed+1 {
			lines = append(lines, "  ... and "+strconv.Itoa(r.count(d.Kind)-mostListed)+" more like that; -o json lists all")
		}
		if shown[d.Kind] <= mostListed {
			lines = append(lines, layout.WrapHanging(layout.Printable(sentence(d)), 2)...)
		}
	}
	return lines
}

func (r *compareReport) count(kind compare.Kind) (n int) {
	for _, d := range r.found {
		if d.Kind == kind {
			n++
		}
	}
	return n
}

// sentence is a difference in words.
func sentence(d compare.Difference) string {
	subject := map[compare.Kind]string{
		compare.KindFreshCost: "Planned from empty", compare.KindFreshNodes: "Nodes planned from empty",
		compare.KindFreshPoolCost: "Planned from empty", compare.KindUnplaced: "Planned from empty", compare.KindAtOnceCost: "After what may begin now",
		compare.KindSettledCost: "At rest", compare.KindSettledNodes: "Nodes at rest", compare.KindSettledPoolCost: "At rest",
		compare.KindPending: "At rest", compare.KindDrift: "Drift", compare.KindPeak: "Nodes at once", compare.KindEvicted: "Pods evicted",
		compare.KindLaunched: "Nodes launched", compare.KindHours: "Until it rests",
	}[d.Kind]
	if d.Object != "" {
		subject += ", " + d.Object
	}
	text := fmt.Sprintf("%s: %s instead of %s", subject, d.Amount(d.New), d.Amount(d.Old))
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}
