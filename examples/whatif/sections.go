package main

import (
	"fmt"
	"strconv"
	"strings"
)

// staticPools draws a row for each NodePool with a fixed number of nodes, and
// below it what is to be done.
func (t *table) staticPools() {
	pools := t.report.StaticPools
	if len(pools) == 0 {
		return
	}
	g := grid{columns: []column{{"STATIC POOL", false}, {"WANTED", true}, {"ACTIVE", true}, {"MISSING", true}, {"EXCESS", true}}}
	for _, p := range pools {
		g.rows = append(g.rows, []string{printable(p.NodePool), strconv.FormatInt(p.Replicas, 10),
			strconv.Itoa(p.Active), strconv.Itoa(p.Missing), strconv.Itoa(p.Excess)})
	}
	lines := g.lines()
	t.add("", t.style.Heading(lines[0]))
	for i, p := range pools {
		t.add(lines[i+1])
		if p.Missing > 0 && len(p.Options) > 0 {
			best := p.Options[0]
			t.note(fmt.Sprintf("launch %d× %s in %s, %s, %s USD/h each", p.Missing, best.InstanceType, best.Zone,
				best.CapacityType, usd(best.USDPerHour, 4)))
		}
		if p.HeldBack > 0 {
			t.warn(fmt.Sprintf("%s not launched now: %s", count(p.HeldBack, "more node"), p.Held))
		}
		if len(p.Remove) > 0 {
			t.list("remove ", p.Remove)
		}
	}
}

// buffers draws a row for each buffer, and below it why pods of it have no
// place.
func (t *table) buffers() {
	buffers := t.report.Buffers
	if len(buffers) == 0 {
		return
	}
	g := grid{columns: []column{{"BUFFER", false}, {"FITS", true}, {"NEEDS NEW", true}, {"NO PLACE", true}}}
	for _, b := range buffers {
		g.rows = append(g.rows, []string{printable(b.Namespace + "/" + b.Name),
			strconv.Itoa(b.Existing), strconv.Itoa(b.New), strconv.Itoa(b.Unplaced)})
	}
	lines := g.lines()
	t.add("", t.style.Heading(lines[0]))
	for i, b := range buffers {
		t.add(lines[i+1])
		if b.Reason != nil {
			for _, line := range reasonLines(b.Reason) {
				t.add(wrapHanging(printable(line), len(margin))...)
			}
		}
	}
}

// overlays draws a row for each NodeOverlay, and below it what is wrong with
// it.
func (t *table) overlays() {
	overlays := t.report.Overlays
	if len(overlays) == 0 {
		return
	}
	g := grid{columns: []column{{"OVERLAY", false}, {"TYPES", true}, {"OFFERINGS", true}, {"PRICED", true}, {"RESIZED", true}}}
	for _, o := range overlays {
		g.rows = append(g.rows, []string{printable(o.Name), strconv.Itoa(o.InstanceTypes), strconv.Itoa(o.Offerings),
			strconv.Itoa(o.Priced), strconv.Itoa(o.Resized)})
	}
	lines := g.lines()
	t.add("", t.style.Heading(lines[0]))
	for i, o := range overlays {
		t.add(lines[i+1])
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
				count(len(o.Conflicts), "place"), strings.TrimSpace(c.Offering+" "+c.Resource)))
		}
	}
}

// note and warn add a paragraph below a row.
func (t *table) note(text string) { t.painted(text, t.style.Faint) }
func (t *table) warn(text string) { t.painted(text, t.style.Warning) }

func (t *table) painted(text string, paint func(string) string) {
	for _, line := range wrapHanging(printable(text), len(margin)) {
		t.add(paint(line))
	}
}

// list adds names below a row, after a word.
func (t *table) list(before string, names []string) {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = printable(name)
	}
	items[0] = before + items[0]
	for _, line := range enumerate(items, len(margin), 2) {
		t.add(t.style.Faint(line))
	}
}
