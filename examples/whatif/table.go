package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const hoursPerMonth = 730

// table draws a report for people: at most pageWidth columns wide.
type table struct {
	report *report
	style  command.Style
	lines  []string

	// namespaces tells whether names of workloads need their namespace.
	namespaces bool
}

// drawTable renders the report.
func drawTable(r *report, s command.Style) string {
	t := &table{report: r, style: s, namespaces: manyNamespaces(r)}
	t.summary()
	t.newNodes()
	t.existingNodes()
	t.pending()
	t.staticPools()
	t.buffers()
	t.overlays()
	t.cost()
	t.footer()
	return strings.Join(t.lines, "\n") + "\n"
}

func (t *table) add(lines ...string) { t.lines = append(t.lines, lines...) }

// heading opens a section.
func (t *table) heading(left, right string) {
	t.add("", t.style.Heading(sides(left, right)))
}

// summary says in a sentence what comes below.
func (t *table) summary() {
	r := t.report
	if r.Input.Pods == 0 {
		text := "No pod is pending, so there is nothing to plan."
		if len(r.StaticPools)+len(r.Buffers) > 0 {
			text = "No pod is pending."
		}
		t.add(wrap(text, 0)...)
		return
	}
	created, bound, spare := 0, 0, 0
	for _, n := range r.NewNodes {
		pods := realPods(n.Pods)
		created += pods
		if pods == 0 {
			spare++ // nodes for nothing but buffers
		}
	}
	for _, b := range r.Bindings {
		bound += realPods(b.Pods)
	}
	parts := []string{}
	if bound > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", fits(bound, "fits", "fit"), count(len(r.Bindings), "existing node")))
	}
	if created > 0 {
		parts = append(parts, fmt.Sprintf("%s %s", fits(created, "needs", "need"), count(len(r.NewNodes)-spare, "new node")))
	}
	if spare > 0 {
		parts = append(parts, "spare room needs "+count(spare, "new node"))
	}
	if n := len(r.Unplaced); n > 0 {
		parts = append(parts, fits(n, "stays pending", "stay pending"))
	}
	t.add(t.style.Heading(shorten("Plan for "+count(r.Input.Pods, "pod"), pageWidth)))
	t.add(wrap(strings.Join(parts, ", ")+".", 0)...)
	if r.Input.NodePools == 0 {
		t.add(wrap("The input has no NodePool, so no node can be launched.", 0)...)
	}
}

// realPods counts pods less those that stand for buffers.
func realPods(pods []podRef) int {
	n := 0
	for _, p := range pods {
		if p.workload.kind != "Buffer" {
			n++
		}
	}
	return n
}

// fits is "3 pods fit", with the verb in the right number.
func fits(n int, one, many string) string {
	if n == 1 {
		return "1 pod " + one
	}
	return count(n, "pod") + " " + many
}

// newNodes draws a row for each group of new nodes that are alike, and below
// it the workloads on one of them.
func (t *table) newNodes() {
	groups := groupNodes(t.report.NewNodes)
	if len(groups) == 0 {
		return
	}
	g := grid{columns: []column{{"NEW", true}, {"POOL", false}, {"TYPE", false}, {"ZONE", false}, {"CAPACITY", false},
		{"ALT", true}, {"PODS", true}, {"CPU", true}, {"MEM", true}, {"USD/H", true}}}
	decimals := decimalsFor(t.report.NewNodes)
	for _, group := range groups {
		n := group.node
		cpu, memory := percents(n.Utilization)
		g.rows = append(g.rows, []string{strconv.Itoa(group.count) + "×",
			printable(n.NodePool), printable(n.InstanceType), printable(n.Zone), printable(n.CapacityType),
			strconv.Itoa(n.OptionCount - 1), strconv.Itoa(len(n.Pods)), cpu, memory, usd(n.USDPerHour, decimals)})
	}
	lines := g.lines()
	t.add("", t.style.Heading(lines[0]))
	for i, group := range groups {
		t.add(lines[i+1])
		t.workloads(group.title(), group.node.Pods)
		for _, m := range group.node.MissedMinValues {
			text := margin + printable(provisioning.MissedMinValues(m).String())
			for _, line := range command.Wrap(text, pageWidth, "  ") {
				t.add(t.style.Warning(line))
			}
		}
	}
}

const margin = "      "

// workloads lists what runs on a node, in faint letters, after its name.
func (t *table) workloads(node string, pods []podRef) {
	items := t.tally(pods)
	if node != "" && len(items) > 0 {
		items[0] = node + ": " + items[0]
	}
	for _, line := range enumerate(items, len(margin), 2) {
		t.add(t.style.Faint(line))
	}
}

// tally counts pods by workload: the most numerous first.
func (t *table) tally(pods []podRef) []string {
	counts := map[string]int{}
	for _, p := range pods {
		name := p.workload.name
		if t.namespaces {
			name = p.workload.namespace + "/" + name
		}
		counts[printable(name)]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, counts[name])
		}
	}
	return names
}

func (t *table) existingNodes() {
	if len(t.report.Bindings) == 0 {
		return
	}
	g := grid{columns: []column{{"EXISTING NODE", false}, {"POOL", false}, {"TYPE", false}, {"ZONE", false},
		{"PODS", true}, {"CPU", true}, {"MEM", true}}}
	for _, b := range t.report.Bindings {
		cpu, memory := percents(b.Utilization)
		g.rows = append(g.rows, []string{printable(b.Node), orDash(b.NodePool), orDash(b.InstanceType), orDash(b.Zone),
			"+" + strconv.Itoa(len(b.Pods)), cpu, memory})
	}
	g.dropEmpty()
	lines := g.lines()
	t.add("", t.style.Heading(lines[0]))
	for i, b := range t.report.Bindings {
		t.add(lines[i+1])
		t.workloads("", b.Pods)
	}
}

// pending lists the pods without a place, those alike together, and why.
func (t *table) pending() {
	groups := groupUnplaced(t.report.Unplaced)
	if len(groups) == 0 {
		return
	}
	t.heading("STILL PENDING", count(len(t.report.Unplaced), "pod"))
	for _, g := range groups {
		t.add(t.style.Warning(shorten(fmt.Sprintf("%4d× %s", g.count, printable(g.title())), pageWidth)))
		for _, line := range t.whyPending(g.reason) {
			t.add(wrapHanging(printable(line), len(margin))...)
		}
	}
	t.add(t.style.Faint(shorten(printable("Ask -explain "+groups[0].pod+" for all that is in its way."), pageWidth)))
}

// whyPending is reasonLines, and what matters more: that nothing can be launched.
func (t *table) whyPending(r *reason) []string {
	switch {
	case t.report.Input.NodePools > 0:
		return reasonLines(r)
	case t.report.Input.Nodes == 0:
		return []string{"there is neither a NodePool nor a node"}
	}
	return append([]string{"there is no NodePool; on the nodes that exist:"}, reasonLines(r)...)
}

func (t *table) cost() {
	if len(t.report.NewNodes) == 0 {
		return
	}
	c := t.report.Cost
	t.heading("COST", fmt.Sprintf("%s USD/h   %s USD/month", usd(c.USDPerHour, 4), usd(c.USDPerHour*hoursPerMonth, 2)))
	if c.Gap == nil {
		t.add("How far that is above the optimum is not known.")
		return
	}
	t.add(sides("No plan can cost less than", usd(c.LowerBound, 4)+" USD/h"))
	t.add(t.style.Good(sides("This plan is above the optimum by at most", gapText(*c.Gap))))
}

func gapText(gap float64) string {
	if gap >= 10 || math.IsNaN(gap) {
		return fmt.Sprintf("%.3g times", gap)
	}
	return fmt.Sprintf("%.2f %%", 100*max(gap, 0))
}

// footer says how much was read and done.
func (t *table) footer() {
	in, s := t.report.Input, t.report.Stats
	text := fmt.Sprintf("Read %s, %s, %s, %s to place and %s.",
		count(in.NodePools, "NodePool"), count(in.InstanceTypes, "instance type"), count(in.Nodes, "node"),
		count(in.Pods, "pod"), count(in.DaemonSets, "DaemonSet"))
	if in.Pods > 0 {
		text += fmt.Sprintf(" Weighed %s of pods against %s to launch a node.",
			count(s.Classes, "kind"), count(s.Options, "way"))
		if t.report.Verified {
			text += " The referee finds no fault with the plan."
		}
	}
	t.add("")
	for _, line := range wrap(text, 0) {
		t.add(t.style.Faint(line))
	}
}
