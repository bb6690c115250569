package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

const hoursPerMonth = 730

// table draws a report for people: at most pageWidth columns wide.
type table struct {
	report *report
	style  style
	lines  []string

	// namespaces tells whether names of workloads need their namespace.
	namespaces bool
}

// drawTable renders the report.
func drawTable(r *report, s style) string {
	t := &table{report: r, style: s, namespaces: manyNamespaces(r)}
	t.summary()
	t.newNodes()
	t.existingNodes()
	t.pending()
	t.cost()
	t.footer()
	return strings.Join(t.lines, "\n") + "\n"
}

func (t *table) add(lines ...string) { t.lines = append(t.lines, lines...) }

// heading opens a section.
func (t *table) heading(left, right string) {
	t.add("", t.style.heading(sides(left, right)))
}

// summary says in a sentence what comes below.
func (t *table) summary() {
	r := t.report
	if r.Input.Pods == 0 {
		t.add(wrap("No pod is pending, so there is nothing to plan.", 0)...)
		return
	}
	created, bound := 0, 0
	for _, n := range r.NewNodes {
		created += len(n.Pods)
	}
	for _, b := range r.Bindings {
		bound += len(b.Pods)
	}
	parts := []string{}
	if bound > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", fits(bound, "fits", "fit"), count(len(r.Bindings), "existing node")))
	}
	if created > 0 {
		parts = append(parts, fmt.Sprintf("%s %s", fits(created, "needs", "need"), count(len(r.NewNodes), "new node")))
	}
	if n := len(r.Unplaced); n > 0 {
		parts = append(parts, fits(n, "stays pending", "stay pending"))
	}
	t.add(t.style.heading(shorten("Plan for "+count(r.Input.Pods, "pod"), pageWidth)))
	t.add(wrap(strings.Join(parts, ", ")+".", 0)...)
	if r.Input.NodePools == 0 {
		t.add(wrap("The input has no NodePool, so no node can be launched.", 0)...)
	}
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
	t.add("", t.style.heading(lines[0]))
	for i, group := range groups {
		t.add(lines[i+1])
		t.workloads(group.node.Pods)
		if group.node.MinValuesRelaxed {
			t.add(t.style.warning(margin + "a minValues of the pool was lowered"))
		}
	}
}

const margin = "      "

// workloads lists what runs on a node, in faint letters.
func (t *table) workloads(pods []podRef) {
	for _, line := range enumerate(t.tally(pods), len(margin), 2) {
		t.add(t.style.faint(line))
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
	t.add("", t.style.heading(lines[0]))
	for i, b := range t.report.Bindings {
		t.add(lines[i+1])
		t.workloads(b.Pods)
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
		t.add(t.style.warning(shorten(fmt.Sprintf("%4d× %s", g.count, printable(g.title())), pageWidth)))
		for _, line := range reasonLines(g.reason) {
			t.add(wrapHanging(printable(line), len(margin))...)
		}
	}
}

func (t *table) cost() {
	if len(t.report.NewNodes) == 0 {
		return
	}
	c := t.report.Cost
	t.heading("COST", fmt.Sprintf("%s USD/h   %s USD/month", usd(c.USDPerHour, 4), usd(c.USDPerHour*hoursPerMonth, 2)))
	t.add(sides("No plan can cost less than", usd(c.LowerBound, 4)+" USD/h"))
	t.add(t.style.good(sides("This plan is above the optimum by at most", gapText(c.Gap))))
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
		t.add(t.style.faint(line))
	}
}

// nodeGroup is a number of new nodes that are alike.
type nodeGroup struct {
	node  *newNode
	count int
}

// groupNodes puts nodes of the same pool, launch and workloads together, in
// the order in which the plan names the first of each.
func groupNodes(nodes []newNode) []*nodeGroup {
	var groups []*nodeGroup
	known := map[string]*nodeGroup{}
	for i := range nodes {
		n := &nodes[i]
		key := nodeKey(n)
		if g := known[key]; g != nil {
			g.count++
			continue
		}
		g := &nodeGroup{node: n, count: 1}
		known[key] = g
		groups = append(groups, g)
	}
	return groups
}

// nodeKey is equal for nodes that one row can stand for.
func nodeKey(n *newNode) string {
	cpu, memory := percents(n.Utilization)
	parts := []string{n.NodePool, n.InstanceType, n.Zone, n.CapacityType, strconv.Itoa(n.OptionCount),
		strconv.FormatFloat(n.USDPerHour, 'g', -1, 64), cpu, memory, strconv.FormatBool(n.MinValuesRelaxed)}
	owners := make([]string, 0, len(n.Pods))
	for _, p := range n.Pods {
		owners = append(owners, p.workload.String())
	}
	slices.Sort(owners)
	return strings.Join(append(parts, owners...), "\x00")
}

// pendingGroup is a number of pods that stay pending for one reason: those of
// one workload, or pods without any.
type pendingGroup struct {
	first  workload
	reason *reason
	count  int
}

func (g *pendingGroup) title() string {
	if g.first.kind == "Pod" && g.count > 1 {
		return fmt.Sprintf("Pod %s/%s and others", g.first.namespace, g.first.name)
	}
	return g.first.String()
}

// reasonLines says why a pod stays pending: a line for each pool, and one for
// the existing nodes.
func reasonLines(r *reason) []string {
	if len(r.NodePools) == 0 {
		return []string{r.Message}
	}
	var lines []string
	for i := range r.NodePools {
		lines = append(lines, r.NodePools[i].Message)
	}
	var nodes []string
	for _, cause := range slices.Sorted(maps.Keys(r.ExistingNodes)) {
		what := strings.ToLower(cause)
		switch provisioning.Cause(cause) {
		case provisioning.CauseRequirements:
			what = "other labels"
		case provisioning.CauseResources:
			what = "too little room"
		}
		nodes = append(nodes, fmt.Sprintf("%s on %d", what, r.ExistingNodes[cause]))
	}
	if len(nodes) > 0 {
		lines = append(lines, "existing nodes: "+strings.Join(nodes, ", "))
	}
	return lines
}

// groupUnplaced sorts the groups by workload and reason.
func groupUnplaced(pods []unplacedPod) []*pendingGroup {
	var groups []*pendingGroup
	known := map[string]*pendingGroup{}
	for i := range pods {
		p := &pods[i]
		key := p.workload.String() + "\x00" + p.Reason.Message
		if p.workload.kind == "Pod" {
			key = "Pod\x00" + p.Reason.Message
		}
		if g := known[key]; g != nil {
			g.count++
			continue
		}
		g := &pendingGroup{first: p.workload, reason: &p.Reason, count: 1}
		known[key] = g
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b *pendingGroup) int {
		return cmp.Or(cmp.Compare(a.first.namespace, b.first.namespace), cmp.Compare(a.first.name, b.first.name),
			cmp.Compare(a.first.kind, b.first.kind), cmp.Compare(a.reason.Message, b.reason.Message))
	})
	return groups
}
