package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/page"
)

// classes are the colours of the style sheet, one for each of reasons.
var classes = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

func (r *report) page() (string, error) {
	var story []page.Entry
	for _, e := range r.story {
		story = append(story, page.Entry{At: r.from.Add(e.After).Format("Mon 15:04"), Text: e.Text})
	}
	return page.Page{
		Title: fmt.Sprintf("%d hours of an autoscaler", r.length()),
		Lead:  []string{fmt.Sprintf("%s to %s, virtual time, seed %d", r.from.Format("Mon 2 Jan 2006 15:04"), r.to.Format("Mon 2 Jan 15:04"), r.seed)},
		Key: [][2]string{
			{fmt.Sprintf("%.2f USD", r.cost), "for all machines"},
			{fmt.Sprintf("%.0f%%", r.above()), "above what is proven to be the least"},
			{fmt.Sprint(r.Launched), "machines launched"},
			{fmt.Sprint(len(r.cluster.Waits)), "pods started, counting those in the place of evicted ones"},
			{r.cluster.Quantile(50).String(), "half of the pods waited at most"},
			{r.cluster.Quantile(99).String(), "99% of the pods waited at most"},
		},
		Story: story, Figures: r.figures(),
		Tables: []page.Table{
			{Title: "Disrupted nodes", Head: []string{"reason", "nodes"}, Rows: r.reasonRows()},
			{Title: "Every three hours", Head: []string{"", "pods", "nodes", "spot", "USD/h", "at least", "CPU"}, Rows: r.tableRows()},
		},
		Below: "What went wrong", Log: r.troubles(),
	}.HTML()
}

func (r *report) length() int { return int(r.to.Sub(r.from).Hours()) }

// column returns a curve with one value from each sample.
func (r *report) column(name, class string, value func(sample) float64) page.Curve {
	c := page.Curve{Name: name, Class: class}
	for _, v := range r.history.samples {
		c.Values = append(c.Values, value(v))
	}
	return c
}

func (r *report) figures() []page.Figure {
	onDemand := r.column("on-demand", "b", func(v sample) float64 { return float64(v.onDemand) })
	spot := r.column("spot", "a", func(v sample) float64 { return float64(v.spot) })
	cost := r.column("what the machines cost", "a", func(v sample) float64 { return v.cost })
	least := r.column("proven to be the least", "e", func(v sample) float64 { return v.bound })
	pods := r.column("pods", "c", func(v sample) float64 { return float64(v.pods) })
	pending := r.column("pending", "d", func(v sample) float64 { return float64(v.pending) })
	used := r.column("CPU requested", "c", sample.cpu)
	plots := []page.Plot{
		{Caption: page.Caption{Title: "Nodes", About: "machines by capacity type, also those that start or go"}, Unit: "nodes", Stack: []page.Curve{onDemand, spot}},
		{Caption: page.Caption{Title: "Cost", About: "what runs, and what the engine proves no plan for the same pods could undercut"}, Unit: "USD/h",
			Stack: []page.Curve{cost}, Lines: []page.Curve{least}},
		{Caption: page.Caption{Title: "Pods", About: "how many there are"}, Unit: "pods", Stack: []page.Curve{pods}},
		{Caption: page.Caption{Title: "Pending pods", About: "the most that waited for a place at one time, every ten minutes"}, Unit: "pods", Stack: []page.Curve{pending}},
		{Caption: page.Caption{Title: "Disruptions", About: "nodes that the autoscaler began to remove, by reason, each hour"}, Unit: "nodes", Bars: r.reasonBars()},
		{Caption: page.Caption{Title: "Utilisation", About: "CPU requested of what nodes can allocate"}, Unit: "%", Lines: []page.Curve{used}, Most: 100},
	}
	var marks []time.Duration
	for _, e := range r.story {
		marks = append(marks, e.After)
	}
	var out []page.Figure
	for i := range plots {
		plots[i].From, plots[i].To, plots[i].Marks = r.from, r.to, marks
		out = append(out, &plots[i])
	}
	return out
}

// reasonBars returns the number of nodes disrupted in each hour, by reason.
func (r *report) reasonBars() (bars []page.Curve) {
	for _, of := range reasons {
		if r.total(of.Reason) == 0 {
			continue
		}
		c := page.Curve{Name: string(of.Reason), Class: classes[len(bars)]}
		for _, n := range r.spread(of.Reason, r.length()) {
			c.Values = append(c.Values, float64(n))
		}
		bars = append(bars, c)
	}
	return bars
}

// reasonRows returns a row for each reason: the number of nodes disrupted, and an explanation.
func (r *report) reasonRows() (rows [][]string) {
	for _, of := range reasons {
		if n := r.total(of.Reason); n > 0 {
			rows = append(rows, []string{fmt.Sprintf("%s: %s", of.Reason, of.about), fmt.Sprint(n)})
		}
	}
	return rows
}

// tableRows returns the figures of the plots as a table, for readers who do not see the plots.
func (r *report) tableRows() (rows [][]string) {
	for _, v := range r.history.samples {
		if v.at.Sub(r.from)%(3*time.Hour) != 0 {
			continue
		}
		rows = append(rows, []string{v.at.Format("Mon 15:04"), fmt.Sprint(v.pods), fmt.Sprint(v.spot + v.onDemand), fmt.Sprint(v.spot),
			fmt.Sprintf("%.2f", v.cost), fmt.Sprintf("%.2f", v.bound), fmt.Sprintf("%.0f%%", v.cpu())})
	}
	return rows
}

// troubles returns the first entries about something that went wrong.
func (r *report) troubles() (list []page.Entry) {
	const most = 40
	for _, e := range r.journal.entries {
		if e.kind != trouble {
			continue
		}
		if len(list) == most {
			return append(list, page.Entry{Text: "and more"})
		}
		text := e.text
		if len(text) > 160 {
			text = strings.ToValidUTF8(text[:160], "") + "…"
		}
		list = append(list, page.Entry{At: e.at.Format("Mon 15:04"), Text: text})
	}
	return list
}
