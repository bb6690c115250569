package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/layout"
)

// staticPools prints a row for each NodePool with a fixed number of nodes, and below it what the
// plan does for the pool.
func (t *table) staticPools() {
	pools := t.report.StaticPools
	if len(pools) == 0 {
		return
	}
	g := layout.Grid{Columns: layout.Columns("STATIC POOL", "#WANTED", "#ACTIVE", "#MISSING", "#EXCESS")}
	for _, p := range pools {
		g.Rows = append(g.Rows, []string{layout.Printable(p.NodePool), strconv.FormatInt(p.Replicas, 10),
			strconv.Itoa(p.Active), strconv.Itoa(p.Missing), strconv.Itoa(p.Excess)})
	}
	t.Table(&g, func(i int) {
		p := pools[i]
		if p.Missing > 0 && len(p.Options) > 0 {
			best, pods := p.Options[0], 0
			for _, on := range p.Pods {
				pods += len(on)
			}
			t.note(fmt.Sprintf("launch %d× %s in %s, %s, %s USD/h each", p.Missing, best.InstanceType, best.Zone,
				best.CapacityType, layout.USD(best.USDPerHour, 4)))
			if pods > 0 {
				t.note(layout.Count(pods, "pod") + " of the plan go there")
			}
		}
		if p.HeldBack > 0 {
			t.warn(fmt.Sprintf("%s not launched now: %s", layout.Count(p.HeldBack, "more node"), p.Held))
		}
		if len(p.Remove) > 0 {
			t.list("remove ", p.Remove)
		}
	})
}

// buffers prints a row for each buffer, and below it why some of its pods are unplaced.
func (t *table) buffers() {
	buffers := t.report.Buffers
	if len(buffers) == 0 {
		return
	}
	g := layout.Grid{Columns: layout.Columns("BUFFER", "#FITS", "#NEEDS NEW", "#NO PLACE")}
	for _, b := range buffers {
		g.Rows = append(g.Rows, []string{layout.Printable(b.Namespace + "/" + b.Name),
			strconv.Itoa(b.Existing), strconv.Itoa(b.New), strconv.Itoa(b.Unplaced)})
	}
	t.Table(&g, func(i int) {
		b := buffers[i]
		if b.Reason != nil {
			for _, line := range reasonLines(b.Reason) {
				t.Add(layout.WrapHanging(layout.Printable(line), len(margin))...)
			}
		}
	})
}

// overlays prints a row for each NodeOverlay, and below it the faults of the overlay.
func (t *table) overlays() {
	overlays := t.report.Overlays
	if len(overlays) == 0 {
		return
	}
	g := layout.Grid{Columns: layout.Columns("OVERLAY", "#TYPES", "#OFFERINGS", "#PRICED", "#RESIZED")}
	for _, o := range overlays {
		g.Rows = append(g.Rows, []string{layout.Printable(o.Name), strconv.Itoa(o.InstanceTypes), strconv.Itoa(o.Offerings),
			strconv.Itoa(o.Priced), strconv.Itoa(o.Resized)})
	}
	t.Table(&g, func(i int) {
		o := overlays[i]
		for _, f := range o.Faults {
			t.warn(f)
		}
		switch {
		case len(o.Faults) > 0:
		case o.Offerings == 0:
			t.warn("selects nothing; look whether a requirement is misspelt")
		case len(o.Conflicts) > 0:
			c := o.Conflicts[0]
			t.warn(fmt.Sprintf("gives way to overlay %s of the same weight in %s, such as %s", c.With[0],
				layout.Count(len(o.Conflicts), "place"), strings.TrimSpace(c.Offering+" "+c.Resource)))
		}
	})
}

// note and warn add a paragraph below a row.
func (t *table) note(text string) { t.painted(text, t.Style.Faint) }
func (t *table) warn(text string) { t.painted(text, t.Style.Warning) }

func (t *table) painted(text string, paint func(string) string) {
	for _, line := range layout.WrapHanging(layout.Printable(text), len(margin)) {
		t.Add(paint(line))
	}
}

// list adds names below a row, after the text before.
func (t *table) list(before string, names []string) {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = layout.Printable(name)
	}
	items[0] = before + items[0]
	for _, line := range layout.Enumerate(items, len(margin), 2) {
		t.Add(t.Style.Faint(line))
	}
}

// decimalsFor returns the number of decimals of prices: none if some price is so large that
// fractions would make the column too wide.
func decimalsFor(nodes []newNode) int {
	for i := range nodes {
		if nodes[i].USDPerHour >= 1000 {
			return 2
		}
	}
	return 4
}

// percents formats a utilization.
func percents(u *utilization) (cpu, memory string) {
	if u == nil {
		return "-", "-"
	}
	return layout.Percent(u.CPU), layout.Percent(u.Memory)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return layout.Printable(text)
}

// manyNamespaces says whether the pods come from more than one namespace.
func manyNamespaces(r *Plan) bool {
	seen := map[string]bool{}
	each := func(pods []podRef) {
		for _, p := range pods {
			seen[p.Namespace] = true
		}
	}
	for i := range r.NewNodes {
		each(r.NewNodes[i].Pods)
	}
	for i := range r.Bindings {
		each(r.Bindings[i].Pods)
	}
	for i := range r.Unplaced {
		each([]podRef{r.Unplaced[i].podRef})
	}
	return len(seen) > 1
}
