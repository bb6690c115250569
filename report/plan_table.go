package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const hoursPerMonth = 730

// table renders a plan as text, at most layout.Width columns wide.
type table struct {
	layout.Page
	hints  Hints
	report *Plan

	// namespaces says whether names of workloads need their namespace.
	namespaces bool
}

// Format renders the plan as text of at most 80 columns: pods on existing nodes, new nodes, pods
// that stay pending with the reason, and the cost. The names of pending pods are never cut, even if
// they are longer, so that they can be copied. Nil options mean the defaults.
func (r *Plan) Format(opts *Options) string {
	t := &table{Page: opts.page(), hints: opts.hints(), report: r, namespaces: manyNamespaces(r)}
	t.summary()
	t.types()
	t.newNodes()
	t.existingNodes()
	t.pending()
	t.staticPools()
	t.buffers()
	t.overlays()
	t.cost()
	t.footer()
	return t.String()
}

// summary prints a sentence that sums up the sections below.
func (t *table) summary() {
	r := t.report
	if r.Input.Pods == 0 {
		text := "No pod is pending, so there is nothing to plan."
		if len(r.StaticPools)+len(r.Buffers) > 0 {
			text = "No pod is pending."
		}
		t.Add(layout.Wrap(text, 0)...)
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
		parts = append(parts, fmt.Sprintf("%s on %s", layout.Phrase(bound, "pod fits", "pods fit"), layout.Count(len(r.Bindings), "existing node")))
	}
	if created > 0 {
		parts = append(parts, fmt.Sprintf("%s %s", layout.Phrase(created, "pod needs", "pods need"), layout.Count(len(r.NewNodes)-spare, "new node")))
	}
	if spare > 0 {
		parts = append(parts, "spare room needs "+layout.Count(spare, "new node"))
	}
	if n := len(r.Unplaced); n > 0 {
		parts = append(parts, layout.Phrase(n, "pod stays pending", "pods stay pending"))
	}
	t.Add(t.Style.Heading("Plan for " + layout.Count(r.Input.Pods, "pod")))
	t.Add(layout.Wrap(strings.Join(parts, ", ")+".", 0)...)
	if r.Input.NodePools == 0 {
		t.Add(layout.Wrap("The input has no NodePool, so no node can be launched.", 0)...)
	}
}

// manyRows is the number of rows in the table of new nodes from which a summary by type precedes
// the table.
const manyRows = 40

// types sums up the new nodes of a large plan by instance type and capacity type, the most
// expensive first.
func (t *table) types() {
	if len(groupNodes(t.report.NewNodes)) < manyRows {
		return
	}
	type kind struct{ instanceType, capacityType string }
	type sum struct {
		kind
		nodes, pods int
		cost        float64
	}
	byKind := map[kind]*sum{}
	for _, n := range t.report.NewNodes {
		k := kind{n.InstanceType, n.CapacityType}
		if byKind[k] == nil {
			byKind[k] = &sum{kind: k}
		}
		s := byKind[k]
		s.nodes, s.pods, s.cost = s.nodes+1, s.pods+len(n.Pods), s.cost+n.USDPerHour
	}
	sums := slices.SortedFunc(maps.Values(byKind), func(a, b *sum) int {
		return cmp.Or(cmp.Compare(b.cost, a.cost), strings.Compare(a.instanceType, b.instanceType), strings.Compare(a.capacityType, b.capacityType))
	})
	g := layout.Grid{Columns: layout.Columns("#NODES", "IN ALL OF TYPE", "CAPACITY", "#PODS", "#USD/H")}
	for _, s := range sums {
		g.Rows = append(g.Rows, []string{strconv.Itoa(s.nodes), layout.Printable(s.instanceType), layout.Printable(s.capacityType), strconv.Itoa(s.pods), layout.USD(s.cost, 4)})
	}
	t.Table(&g, func(int) {})
}

// realPods counts the pods that do not stand for buffers.
func realPods(pods []podRef) int {
	n := 0
	for _, p := range pods {
		if p.workload.Kind != "Buffer" {
			n++
		}
	}
	return n
}

// newNodes prints a row for each group of equal new nodes, and below it the workloads on one of
// them.
func (t *table) newNodes() {
	groups := groupNodes(t.report.NewNodes)
	if len(groups) == 0 {
		return
	}
	g := layout.Grid{Columns: layout.Columns("#NEW", "POOL", "TYPE", "ZONE", "CAPACITY", "#ALT", "#PODS", "#CPU", "#MEM", "#USD/H")}
	decimals := decimalsFor(t.report.NewNodes)
	for _, group := range groups {
		n := group.node
		cpu, memory := percents(n.Utilization)
		g.Rows = append(g.Rows, []string{strconv.Itoa(group.count) + "×",
			layout.Printable(n.NodePool), layout.Printable(n.InstanceType), layout.Printable(n.Zone), layout.Printable(n.CapacityType),
			strconv.Itoa(n.OptionCount - 1), strconv.Itoa(len(n.Pods)), cpu, memory, layout.USD(n.USDPerHour, decimals)})
	}
	t.Table(&g, func(i int) {
		t.workloads(groups[i].title(), groups[i].node.Pods)
		for _, m := range groups[i].node.MissedMinValues {
			text := margin + layout.Printable(provisioning.MissedMinValues(m).String())
			for _, line := range layout.WrapTo(text, layout.Width, "  ") {
				t.Add(t.Style.Warning(line))
			}
		}
	})
}

const margin = "      "

// workloads prints the workloads on a node in faint letters, after the name of the node.
func (t *table) workloads(node string, pods []podRef) {
	items := t.tally(pods)
	if node != "" && len(items) > 0 {
		items[0] = node + ": " + items[0]
	}
	for _, line := range layout.Enumerate(items, len(margin), 2) {
		t.Add(t.Style.Faint(line))
	}
}

// tally counts pods by workload, the most numerous first.
func (t *table) tally(pods []podRef) []string {
	counts := map[string]int{}
	for _, p := range pods {
		name := p.workload.Name
		if t.namespaces {
			name = p.workload.Namespace + "/" + name
		}
		counts[layout.Printable(name)]++
	}
	return layout.Tally(counts)
}

func (t *table) existingNodes() {
	if len(t.report.Bindings) == 0 {
		return
	}
	g := layout.Grid{Columns: layout.Columns("EXISTING NODE", "POOL", "TYPE", "ZONE", "#PODS", "#CPU", "#MEM")}
	for _, b := range t.report.Bindings {
		cpu, memory := percents(b.Utilization)
		g.Rows = append(g.Rows, []string{layout.Printable(b.Node), orDash(b.NodePool), orDash(b.InstanceType), orDash(b.Zone),
			"+" + strconv.Itoa(len(b.Pods)), cpu, memory})
	}
	g.DropEmpty()
	t.Table(&g, func(i int) { t.workloads("", t.report.Bindings[i].Pods) })
}

// pending prints the unplaced pods in groups, with their reasons.
func (t *table) pending() {
	groups := groupUnplaced(t.report.Unplaced)
	if len(groups) == 0 {
		return
	}
	t.Heading("STILL PENDING", layout.Count(len(t.report.Unplaced), "pod"))
	for _, g := range groups {
		t.whole(fmt.Sprintf("%4d× %s", g.count, g.title()), t.Style.Warning)
		for _, line := range t.whyPending(g.reason) {
			t.Add(layout.WrapHanging(layout.Printable(line), len(margin))...)
		}
	}
	if t.hints.Explain != "" {
		t.whole(fmt.Sprintf(t.hints.Explain, t.askFor(groups[0])), t.Style.Faint)
	}
}

// whole adds a text whose names are never cut, so that they can be copied, even if a name is wider
// than the page.
func (t *table) whole(text string, paint func(string) string) {
	for _, line := range layout.WrapTo(layout.Printable(text), layout.Width, margin) {
		t.Add(paint(line))
	}
}

// askFor returns the name by which ExplainPod finds the first pod of a group: that of the workload,
// because people know it, if ExplainPod resolves it to this pod; see podOf.
func (t *table) askFor(g *pendingGroup) string {
	name := g.first.Namespace + "/" + g.first.Name
	for i := range t.report.Unplaced {
		p := &t.report.Unplaced[i]
		if p.workload.Namespace+"/"+p.workload.Name != name {
			continue
		}
		if p.Namespace+"/"+p.Name == g.pod {
			return name
		}
		break
	}
	return g.pod
}

// whyPending returns the lines of reasonLines, preceded by a line if nothing can be launched at
// all.
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
	t.Heading("COST", fmt.Sprintf("%s USD/h   %s USD/month", layout.USD(c.USDPerHour, 4), layout.USD(c.USDPerHour*hoursPerMonth, 2)))
	if c.NodeCost != 0 {
		t.Add(layout.Sides("Of that not for instances, but for volumes and the like", layout.USD(c.NodeCost, 4)+" USD/h"))
	}
	if c.Gap == nil {
		t.Add("How far that is above the optimum is not known.")
		return
	}
	t.Add(layout.Sides("No plan can cost less than", layout.USD(c.LowerBound, 4)+" USD/h"))
	t.Add(t.Style.Good(layout.Sides("This plan is above the optimum by at most", gapText(*c.Gap))))
}

func gapText(gap float64) string {
	if gap >= 10 || math.IsNaN(gap) {
		return fmt.Sprintf("%.3g times", gap)
	}
	return fmt.Sprintf("%.2f %%", 100*max(gap, 0))
}

// footer prints how much was read and how much work the plan took.
func (t *table) footer() {
	in, s := t.report.Input, t.report.Stats
	pools := layout.Count(in.NodePools, "NodePool")
	if n := len(t.report.Overlays); n > 0 {
		pools += ", " + layout.Count(n, "NodeOverlay")
	}
	text := fmt.Sprintf("Read %s, %s, %s, %s to place and %s.", pools, layout.Count(in.InstanceTypes, "instance type"), layout.Count(in.Nodes, "node"),
		layout.Count(in.Pods, "pod"), layout.Count(in.DaemonSets, "DaemonSet"))
	if in.Pods > 0 {
		text += fmt.Sprintf(" Weighed %s of pods against %s to launch a node.",
			layout.Count(s.Classes, "kind"), layout.Count(s.Options, "way"))
		if t.report.Verified {
			text += " The referee finds no fault with the plan."
		}
		if versions := t.report.Kubernetes; len(versions) == 1 {
			text += " It is for kube-scheduler of Kubernetes " + versions[0] + "."
		}
	}
	t.Add("")
	for _, line := range layout.Wrap(text, 0) {
		t.Add(t.Style.Faint(line))
	}
}
