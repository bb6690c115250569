package comparereport

import (
	"maps"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/examples/internal/plot"
	"github.com/dovetail-sdk/dovetail/examples/internal/webpage"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Page is the answer as a page.
func (r *Report) Page() webpage.Page {
	a, b := r.Old, r.New
	p := webpage.Page{Title: "What would change with " + r.File, Below: "Why",
		Lead: append(slices.Clone(r.Changes), a.Today.sentence()),
		Key: [][2]string{
			{layout.Arrow(a.FromEmpty.USDPerHour, b.FromEmpty.USDPerHour, 4), "USD/h, planned from empty"},
			{layout.Arrow(a.AtRest.USDPerHour, b.AtRest.USDPerHour, 4), "USD/h, what runs, at rest"},
			{layout.Arrow(float64(a.AtRest.Nodes), float64(b.AtRest.Nodes), 0), "nodes at rest"},
			{layout.Arrow(float64(a.Pending), float64(b.Pending), 0), "pods without a place"},
			{layout.Arrow(float64(a.Drifted), float64(b.Drifted), 0), "nodes that drift"},
			{layout.Arrow(float64(a.Evicted), float64(b.Evicted), 0), "pods evicted on the way"},
		}}
	figures := webpage.Table{Title: "In figures", Head: []string{"", "today's", "new", "change"}}
	for _, row := range r.rows() {
		row[0] = strings.ReplaceAll(row[0], "  ", "\u2003") // spaces that HTML keeps
		figures.Rows = append(figures.Rows, row)
	}
	p.Tables = []webpage.Table{figures}
	for _, words := range []string{r.unlike(), r.lost()} {
		if words != "" {
			p.Lead = append(p.Lead, words)
		}
	}
	if words := r.certainty(); words != "" {
		p.Lead = append(p.Lead, words)
	}
	for _, g := range r.groups() {
		p.Log = append(p.Log, webpage.Entry{Text: g.sentence()})
	}
	for _, side := range []struct {
		title string
		nodes []provisioning.Node
	}{{"Nodes that run today", r.today}, {"Nodes at rest, today's policies", r.outcomes.Old.Settled.Input.Nodes},
		{"Nodes at rest, new policies", r.outcomes.New.Settled.Input.Nodes}} {
		nodes := plot.Columns{Title: side.title, About: "what pods ask for of each node, the fullest first", Up: "a", Down: "c", Shares: sharesOf(side.nodes)}
		p.Figures = append(p.Figures, webpage.Figure{Title: nodes.Title, About: nodes.About, Legend: [][2]string{{"a", "CPU, upwards"}, {"c", "memory, downwards"}}, SVG: nodes.SVG()})
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
			bars.Bars = append(bars.Bars, plot.Bar{Label: name, Values: []float64{old[name], fresh[name]}, Text: layout.Arrow(old[name], fresh[name], 2)})
		}
		p.Figures = append(p.Figures, webpage.Figure{Title: bars.Title, About: bars.About, Legend: [][2]string{{"f", "today's"}, {"a", "new"}}, SVG: bars.SVG()})
	}
	return p
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
	for i := range nodes {
		n := &nodes[i]
		if n.NodeClaim == nil {
			continue
		}
		if u := inventory.Use(inventory.Allocatable(n), n.Pods); u != nil {
			out = append(out, [2]float64{u.CPU, u.Memory})
		}
	}
	slices.SortFunc(out, func(a, b [2]float64) int { return slices.Compare(b[:], a[:]) })
	return out
}
