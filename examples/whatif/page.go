package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/examples/internal/plot"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

//go:embed page.html
var pageText string

// webPage is an answer as HTML that needs nothing else: no script, no font, no image, no network.
type webPage struct {
	Title   string
	Lead    []string
	Key     [][2]string
	Figures []figure
	Heading string
	Head    []string
	Rows    [][]string
	Below   string // the title of Log
	Log     []string
}

// figure is a picture with its legend: classes of the style sheet and names.
type figure struct {
	Title, About string
	Legend       [][2]string
	SVG          template.HTML
}

// Style is the style sheet.
func (webPage) Style() template.CSS { return plot.Style() }

func (p webPage) html() (string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.String(), err
}

// page is the answer to -compare.
func (r *compareReport) page() webPage {
	a, b := r.Old, r.New
	p := webPage{Title: "What would change with " + r.File, Heading: "In figures", Head: []string{"", "today's", "new", "change"}, Below: "Why",
		Lead: append(slices.Clone(r.Changes), a.Today.sentence()),
		Key: [][2]string{
			{arrow(a.FromEmpty.USDPerHour, b.FromEmpty.USDPerHour, 4), "USD/h, planned from empty"},
			{arrow(a.AtRest.USDPerHour, b.AtRest.USDPerHour, 4), "USD/h, what runs, at rest"},
			{arrow(float64(a.AtRest.Nodes), float64(b.AtRest.Nodes), 0), "nodes at rest"},
			{arrow(float64(a.Pending), float64(b.Pending), 0), "pods without a place"},
			{arrow(float64(a.Drifted), float64(b.Drifted), 0), "nodes that drift"},
			{arrow(float64(a.Evicted), float64(b.Evicted), 0), "pods evicted on the way"},
		}}
	for _, row := range r.rows() {
		row[0] = strings.ReplaceAll(row[0], "  ", "\u2003") // spaces that HTML keeps
		p.Rows = append(p.Rows, row)
	}
	for _, words := range []string{r.unlike(), r.lost()} {
		if words != "" {
			p.Lead = append(p.Lead, words)
		}
	}
	if words := r.certainty(); words != "" {
		p.Lead = append(p.Lead, words)
	}
	for _, g := range r.groups() {
		p.Log = append(p.Log, g.sentence())
	}
	for _, side := range []struct {
		title string
		nodes []provisioning.Node
	}{{"Nodes that run today", r.today}, {"Nodes at rest, today's policies", r.outcomes.Old.Settled.Input.Nodes},
		{"Nodes at rest, new policies", r.outcomes.New.Settled.Input.Nodes}} {
		nodes := plot.Columns{Title: side.title, About: "what pods ask for of each node, the fullest first", Up: "a", Down: "c", Shares: sharesOf(side.nodes)}
		p.Figures = append(p.Figures, figure{Title: nodes.Title, About: nodes.About, Legend: [][2]string{{"a", "CPU, upwards"}, {"c", "memory, downwards"}}, SVG: nodes.SVG()})
	}
	for _, bill := range []struct {
		title      string
		old, fresh compare.Bill
	}{
		{"Planned from empty, by pool", r.outcomes.Old.Fresh.Bill, r.outcomes.New.Fresh.Bill},
		{"At rest, by pool", r.outcomes.Old.Settled.Bill, r.outcomes.New.Settled.Bill},
	} {
		bars := plot.Bars{Title: bill.title, About: "USD per hour of each NodePool and capacity type", Classes: []string{"f", "a"}}
		old, fresh := costs(bill.old), costs(bill.fresh)
		all := maps.Clone(old)
		maps.Copy(all, fresh)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			bars.Bars = append(bars.Bars, plot.Bar{Label: name, Values: []float64{old[name], fresh[name]}, Text: arrow(old[name], fresh[name], 2)})
		}
		p.Figures = append(p.Figures, figure{Title: bars.Title, About: bars.About, Legend: [][2]string{{"f", "today's"}, {"a", "new"}}, SVG: bars.SVG()})
	}
	return p
}

// sentence is a price in words.
func (p price) sentence() string {
	if n := len(p.Placed); n > 0 {
		text := fmt.Sprintf("%s: without it %s a place, %s among them, ", p.names(), fits(n, "more finds", "more find"), p.Placed[0])
		if p.Saves > 0 {
			return text + usd(p.Saves, 4) + " USD/h less"
		}
		return text + "for " + usd(-p.Saves, 4) + " USD/h more"
	}
	return p.names() + ": " + usd(p.Saves, 4) + " USD/h less without, " + p.about()
}

// arrow is an amount and what becomes of it.
func arrow(old, fresh float64, decimals int) string {
	a, b := usd(old, decimals), usd(fresh, decimals)
	if a == b {
		return a
	}
	return a + " → " + b
}

// costs are USD per hour by pool and capacity type.
func costs(b compare.Bill) map[string]float64 {
	out := map[string]float64{}
	for _, m := range b.Machines {
		out[strings.TrimSpace(m.NodePool+" "+m.CapacityType)] += m.Cost
	}
	return out
}

// sharesOf are the shares of CPU and memory that pods ask for of managed nodes, the largest
// first.
func sharesOf(nodes []provisioning.Node) (out [][2]float64) {
	for _, n := range nodes {
		var allocatable corev1.ResourceList
		switch {
		case n.NodeClaim == nil:
			continue
		case n.Node != nil:
			allocatable = n.Node.Status.Allocatable
		default:
			allocatable = n.NodeClaim.Status.Allocatable
		}
		if u := utilizationAfter(allocatable, n.Pods); u != nil {
			out = append(out, [2]float64{u.CPU, u.Memory})
		}
	}
	slices.SortFunc(out, func(a, b [2]float64) int { return slices.Compare(b[:], a[:]) })
	return out
}

// page is the answer to -advise.
func (r *adviceReport) page() webPage {
	p := webPage{Title: "What the constraints of " + layout.Count(r.Pods, "pod") + " cost", Lead: []string{r.lead()}, Below: "In words",
		Key: [][2]string{
			{usd(r.Cost.USDPerHour, 4), "USD/h, planned from empty"},
			{usd(r.Cost.LowerBound, 4), "USD/h that no plan is below"},
			{fmt.Sprint(r.Nodes), "nodes"},
			{fmt.Sprint(r.Unplaced), "pods without a place"},
		},
		Heading: "What is requested", Head: []string{"with half of the request", "for", "pods", "USD/h less", "for one"}}
	for _, list := range []struct {
		title, about string
		prices       []price
	}{
		{"Constraints", "USD per hour less without each, and what it would be between the best plans", r.Prices},
		{"Pairs of constraints", "USD per hour less without both", r.Pairs},
		{"Requests", "USD per hour less with half of the request", r.Requests},
	} {
		bars := plot.Bars{Title: list.title, About: list.about, Classes: []string{"a"}}
		for _, x := range list.prices[:min(len(list.prices), mostPrices)] {
			text := usd(x.Saves, 4)
			if len(x.Placed) > 0 {
				text = fmt.Sprintf("+%s, %s", layout.Count(len(x.Placed), "pod"), text)
			}
			bars.Bars = append(bars.Bars, plot.Bar{Label: x.names(), Values: []float64{max(0, x.Saves)}, Text: text, Low: x.AtLeast, High: x.AtMost})
		}
		if len(bars.Bars) > 0 {
			p.Figures = append(p.Figures, figure{Title: bars.Title, About: bars.About, SVG: bars.SVG()})
		}
	}
	for _, g := range groupUnplaced(r.NoPlace) {
		p.Log = append(p.Log, fmt.Sprintf("%s of %s: %s", fits(g.count, "has no place", "have no place"), g.title(), g.reason.Message))
	}
	for _, x := range slices.Concat(r.Prices, r.Pairs) {
		p.Log = append(p.Log, x.sentence())
	}
	for _, b := range r.Budgets {
		p.Log = append(p.Log, b.line)
	}
	p.Log = append(p.Log, r.rest())
	p.Rows = r.requestRows()
	return p
}
