package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// Comparison returns the page of a comparison with the policies of a file. before is its old side.
func Comparison(file string, r *report.Comparison, before compare.Side, c *compare.Comparison) Page {
	p := Page{Title: "What would change with " + file, Below: "Why", Verdict: r.Verdict(), Lead: slices.Concat(r.Changes, r.Remarks())}
	figures := Table{Title: "In figures", Head: []string{"", "today's", "new", "change"}}
	for _, row := range r.Figures() {
		row[0] = strings.ReplaceAll(row[0], "  ", "\u2003") // spaces that HTML keeps
		figures.Rows = append(figures.Rows, row)
	}
	p.Tables = []Table{figures}
	old, fresh := c.Old, c.New
	for _, key := range []struct {
		name       string
		old, fresh float64
		decimals   int
	}{
		{"USD/h, planned from empty", old.Fresh.Cost, fresh.Fresh.Cost, 4},
		{"USD/h, what runs, at rest", old.Settled.Bill.Cost, fresh.Settled.Bill.Cost, 4},
		{"nodes at rest", float64(old.Settled.Bill.Nodes), float64(fresh.Settled.Bill.Nodes), 0},
		{"pods without a place", float64(len(old.Settled.Unplaced)), float64(len(fresh.Settled.Unplaced)), 0},
		{"nodes that drift", float64(len(old.Settled.Drifts)), float64(len(fresh.Settled.Drifts)), 0},
		{"pods evicted on the way", float64(old.Settled.Evicted), float64(fresh.Settled.Evicted), 0},
	} {
		p.Key = append(p.Key, [2]string{layout.Arrow(key.old, key.fresh, key.decimals), key.name})
	}
	for _, text := range r.Reasons() {
		p.Log = append(p.Log, Entry{Text: text})
	}
	p.nodes("Nodes that run today", before.Input.Nodes)
	p.nodes("Nodes at rest, today's policies", old.Settled.Input.Nodes)
	p.nodes("Nodes at rest, new policies", fresh.Settled.Input.Nodes)
	p.bills("Planned from empty, by pool", old.Fresh.Bill, fresh.Fresh.Bill)
	p.bills("At rest, by pool", old.Settled.Bill, fresh.Settled.Bill)
	return p
}

// nodes adds a picture of managed nodes, if there are any.
func (p *Page) nodes(title string, nodes []provisioning.Node) {
	var shares [][2]float64
	for i := range nodes {
		if cpu, memory, known := report.Utilization(&nodes[i]); known && nodes[i].NodeClaim != nil {
			shares = append(shares, [2]float64{cpu, memory})
		}
	}
	if len(shares) == 0 {
		return
	}
	slices.SortFunc(shares, func(a, b [2]float64) int { return slices.Compare(b[:], a[:]) })
	p.Figures = append(p.Figures, &Columns{Caption: Caption{title, "what pods ask for of each node, the fullest first"},
		Up: [2]string{"a", "CPU, upwards"}, Down: [2]string{"c", "memory, downwards"}, Shares: shares})
}

// bills adds a picture of the cost of each pool on both sides, if there is a pool.
func (p *Page) bills(title string, before, after compare.Bill) {
	old, fresh := costs(before), costs(after)
	all := maps.Clone(old)
	maps.Copy(all, fresh)
	if len(all) == 0 {
		return
	}
	bars := &Bars{Caption: Caption{title, "USD per hour of each NodePool and capacity type"}, Series: [][2]string{{"f", "today's"}, {"a", "new"}}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		bars.Bars = append(bars.Bars, Bar{Label: name, Values: []float64{old[name], fresh[name]}, Text: layout.Arrow(old[name], fresh[name], 2)})
	}
	p.Figures = append(p.Figures, bars)
}

// costs returns USD per hour by pool and capacity type.
func costs(b compare.Bill) map[string]float64 {
	out := map[string]float64{}
	for _, m := range b.Machines {
		out[strings.TrimSpace(m.NodePool+" "+m.CapacityType)] += m.Cost
	}
	return out
}
