package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/layout"
)

// Format renders the proposal as text of at most 80 columns: actions that may begin now, actions
// that wait, nodes left alone with the reasons, and the cost of the cluster before and after. Nil
// options mean the defaults.
func (r *Proposal) Format(opts *Options) string {
	t := &text{Page: opts.page(), hints: opts.hints(), report: r}
	t.summary()
	if r.Before.Total.Nodes == 0 && r.Provisioned == nil {
		return t.String()
	}
	if len(r.Rounds) > 0 {
		t.rounds()
	} else {
		t.actions()
	}
	t.waiting()
	t.leftAlone(opts != nil && opts.All)
	t.why()
	t.without()
	t.states()
	t.footer()
	return t.String()
}

type text struct {
	layout.Page
	hints  Hints
	report *Proposal
}

// summary prints one or two sentences that sum up the sections below.
func (t *text) summary() {
	r := t.report
	t.Add(t.Style.Heading(layout.Sides(fmt.Sprintf("%s at %s USD/h", layout.Count(r.Before.Total.Nodes, "node"), layout.USD(r.Before.Total.USDPerHour, 4)),
		r.Now.Format("2 January 2006 15:04 UTC"))))
	if words := r.begins(); r.Before.Total.Nodes == 0 {
		t.Fill("", "The input has no node, so there is nothing to remove.", layout.Plain)
	} else if words == "" {
		t.Fill("", "Nothing is to be done now.", layout.Plain)
	} else {
		t.Fill("", fmt.Sprintf("%s %s at %s USD/h, %s.", words, left(r.After.Total.Nodes),
			layout.USD(r.After.Total.USDPerHour, 4), r.change()), layout.Plain)
	}
	if n := r.staying(); n > 0 {
		t.Fill("", layout.Phrase(n, "removed node stays", "removed nodes stay")+" until pods have ended that nothing may evict.", layout.Plain)
	}
	if p := r.FollowUp; p != nil {
		t.Fill("", p.afterwards(), layout.Plain)
	}
	if p := r.Provisioned; p != nil {
		t.Fill("", p.words(), layout.Plain)
	}
}

// begins describes the actions that begin now, "" if there are none.
func (r *Proposal) begins() string {
	switch {
	case len(r.Rounds) > 0:
		n := 0
		for _, round := range r.Rounds {
			n += len(round.Actions)
		}
		return fmt.Sprintf("%s in %s, then %s:", layout.Count(n, "action"), layout.Count(len(r.Rounds), "round"), r.Stopped)
	case len(r.Actions) == 0:
		return ""
	}
	removed, launched := 0, 0
	for _, a := range r.Actions {
		removed, launched = removed+len(a.Nodes), launched+len(a.Replacements)
		if a.byTemplate() {
			launched += len(a.Nodes)
		}
	}
	words := fmt.Sprintf("%s may begin now, to remove %s", layout.Count(len(r.Actions), "action"), layout.Count(removed, "node"))
	if launched > 0 {
		words += fmt.Sprintf(" and launch %d", launched)
	}
	return words + ":"
}

// staying counts the nodes that are being removed but stay until pods that nothing may evict have
// ended.
func (r *Proposal) staying() (n int) {
	for _, a := range r.Actions {
		if len(a.Held) > 0 && len(r.Rounds) == 0 {
			n += len(a.Nodes)
		}
	}
	return n
}

// words describes the nodes for pods that are pending before any action.
func (p *provisioned) words() string {
	pods := layout.Phrase(p.Pods, "pod is pending already", "pods are pending already")
	if p.Nodes == 0 {
		return pods + ", for which no node is launched."
	}
	return fmt.Sprintf("%s; %s at %s USD/h for them, due in any case, counted with those that are left.",
		pods, layout.Phrase(p.Nodes, "new node", "new nodes"), layout.USD(p.USDPerHour, 4))
}

// afterwards describes the nodes for pods of nodes that are removed without a replacement.
func (p *provisioned) afterwards() string {
	pods := layout.Phrase(p.Pods, "pod of nodes that go is", "pods of nodes that go are") + " for the next plan"
	if p.Nodes == 0 {
		return pods + ", which launches no node."
	}
	return fmt.Sprintf("%s, which launches %s at %s USD/h, counted with those that are left.",
		pods, layout.Count(p.Nodes, "node"), layout.USD(p.USDPerHour, 4))
}

// change compares the cost with that without the actions.
func (r *Proposal) change() string {
	than := ""
	if r.Provisioned != nil {
		than = " than otherwise"
	}
	if r.without() == 0 && r.Saved() < 0 {
		return "where nothing is paid now"
	}
	part := share(r.Saved(), r.without())
	if part < 0 {
		return layout.Percent(-part) + " more" + than
	}
	return layout.Percent(part) + " less" + than
}

func (t *text) actions() {
	if len(t.report.Actions) == 0 {
		return
	}
	t.Heading("DO NOW", "SAVES USD/H")
	for i, a := range t.report.Actions {
		t.Add(layout.Sides(fmt.Sprintf("%3d  %s", i+1, a.title()), layout.USD(a.Savings, 4)))
		t.detail(a)
	}
}

// byTemplate says whether nodes are replaced by copies from the template of their static NodePool,
// independently of pods.
func (a *action) byTemplate() bool { return a.Step == "Replace" && !a.Simulated }

// title describes an action and its reason.
func (a *action) title() string {
	what := map[string]string{"Replace": "Replace", "Delete": "Remove", "TerminateFirst": "End first and relaunch", "Reboot": "Reboot",
		"Terminate": "Terminate the machine", "DeleteNode": "Delete the Node object of"}[a.Step]
	title := fmt.Sprintf("%s %s", cmp.Or(what, a.Step), layout.Count(len(a.Nodes), "node"))
	if len(a.Replacements) > 0 {
		title += fmt.Sprintf(" by %d", len(a.Replacements))
	}
	title += ": " + a.Reason
	if a.Cause != "" {
		title += ", " + a.Cause
	}
	return title
}

// detail prints the nodes of an action, their replacements, and where the pods go.
func (t *text) detail(a action) {
	for i, n := range a.Nodes {
		label := "     remove  "
		if a.Step == "Reboot" {
			label = "     reboot  "
		}
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		t.Fill(label, n.describe(), layout.Plain)
	}
	for i, n := range a.Replacements {
		label := "     launch  "
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		t.Fill(label, fmt.Sprintf("%s in %s, %s, %s USD/h, of NodePool %s%s", n.InstanceType, n.Zone, n.CapacityType, layout.USD(n.USDPerHour, 4), n.NodePool,
			others(n.OptionCount)), layout.Plain)
	}
	if a.byTemplate() {
		t.Fill("     launch  ", "one more by the template of its NodePool", layout.Plain)
	}
	if len(a.Moves) > 0 {
		t.Fill("     move    ", strings.Join(a.destinations(), "; "), t.Style.Faint)
	}
	if a.Detail != "" {
		t.Fill("     because ", a.Detail, t.Style.Faint)
	}
}

func (n nodeRef) describe() string {
	words := []string{n.Node}
	for _, more := range []string{n.InstanceType, n.CapacityType, n.NodePool} {
		if more != "" {
			words = append(words, more)
		}
	}
	if n.USDPerHour > 0 {
		words = append(words, layout.USD(n.USDPerHour, 4)+" USD/h")
	}
	return strings.Join(words, ", ")
}

func others(options int) string {
	if options <= 1 {
		return ""
	}
	return fmt.Sprintf(" (or %s)", layout.Phrase(options-1, "other way", "other ways"))
}

// destinations describes which workloads go to which node, the node that takes the most pods first.
// Many nodes are summed up.
func (a *action) destinations() []string {
	byNode := map[string]map[string]int{}
	total := map[string]int{}
	for _, m := range a.Moves {
		if byNode[m.To] == nil {
			byNode[m.To] = map[string]int{}
		}
		byNode[m.To][m.workload]++
		total[m.To]++
	}
	names := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), strings.Compare(a, b))
	})
	const most = 6
	var out []string
	for i, name := range names {
		if i == most {
			pods := 0
			for _, rest := range names[i:] {
				pods += total[rest]
			}
			return append(out, fmt.Sprintf("%s to %s", layout.Count(pods, "pod"), layout.Phrase(len(names)-i, "other node", "other nodes")))
		}
		to := name
		if n, ok := strings.CutPrefix(name, "replacement-"); ok {
			to = "the new node"
			if len(a.Replacements) > 1 {
				to = "new node " + increment(n)
			}
		}
		out = append(out, listed(layout.Tally(byNode[name]), 4)+" to "+to)
	}
	return out
}

// increment converts a count from 0 to a count from 1.
func increment(n string) string {
	i := 0
	if _, err := fmt.Sscan(n, &i); err != nil {
		return n
	}
	return fmt.Sprint(i + 1)
}

// left describes how many nodes are left.
func left(n int) string {
	if n == 1 {
		return "1 node is left"
	}
	return fmt.Sprintf("%d nodes are left", n)
}

// rounds prints the rounds until the cluster is at rest.
func (t *text) rounds() {
	for i, round := range t.report.Rounds {
		t.Heading(fmt.Sprintf("ROUND %d  %s", i+1, round.Now.Format("2 Jan 15:04")),
			fmt.Sprintf("%s at %s USD/h", left(round.Nodes), layout.USD(round.USDPerHour, 4)))
		for _, a := range round.Actions {
			names := make([]string, len(a.Nodes))
			for k, n := range a.Nodes {
				names[k] = n.Node
			}
			t.Add(layout.Sides("  "+a.title(), "saves "+layout.USD(a.Savings, 4)))
			line := listed(names, 12)
			for k, n := range a.Replacements {
				if k == 0 {
					line += " → "
				} else {
					line += ", "
				}
				line += n.InstanceType + " in " + n.Zone
			}
			if len(a.Moves) > 0 {
				line += ", " + layout.Phrase(len(a.Moves), "pod moves", "pods move")
			}
			t.Fill("    ", line, t.Style.Faint)
		}
		if round.PodsPlaced > 0 {
			text := "then provisioning finds places for " + layout.Count(round.PodsPlaced, "pod")
			if round.Launched > 0 {
				text += " and launches " + layout.Count(round.Launched, "node")
			}
			t.Fill("  ", text, layout.Plain)
		}
		if round.Waiting > 0 {
			t.Fill("  ", layout.Phrase(round.Waiting, "action waits", "actions wait")+" for budgets", t.Style.Faint)
		}
	}
}

func (t *text) waiting() {
	if len(t.report.Waiting) == 0 || len(t.report.Rounds) > 0 {
		return
	}
	t.Heading("WAITS", "SAVES USD/H")
	for _, g := range groupWaiting(t.report.Waiting) {
		times := "     "
		if g.count > 1 {
			times = fmt.Sprintf("%3d× ", g.count)
		}
		t.Add(layout.Sides(times+g.first.title(), layout.USD(g.savings, 4)))
		t.Fill("     remove  ", listed(g.nodes, 8), layout.Plain)
		why := g.first.Why
		if g.first.Until != nil {
			why += ", until " + g.first.Until.Format("2 Jan 15:04")
		}
		t.Fill("     for     ", why, t.Style.Warning)
	}
}

// waitGroup is a group of equal actions that wait for the same reason.
type waitGroup struct {
	first   waiting
	count   int
	savings float64
	nodes   []string
}

// groupWaiting groups the actions that wait, in the order of the first action of each group.
func groupWaiting(list []waiting) []*waitGroup {
	var groups []*waitGroup
	for _, w := range list {
		same := func(g *waitGroup) bool {
			until := g.first.Until == w.Until || g.first.Until != nil && w.Until != nil && g.first.Until.Equal(*w.Until)
			return g.first.title() == w.title() && g.first.Why == w.Why && until
		}
		i := slices.IndexFunc(groups, same)
		if i < 0 {
			i = len(groups)
			groups = append(groups, &waitGroup{first: w})
		}
		g := groups[i]
		g.count++
		g.savings += w.Savings
		for _, n := range w.Nodes {
			g.nodes = append(g.nodes, n.Node)
		}
	}
	return groups
}

// states prints pools before and after side by side, if there is any node.
func (t *text) states() {
	r := t.report
	if r.Before.Total.Nodes+r.After.Total.Nodes == 0 {
		return
	}
	t.Heading(fmt.Sprintf("%-11s %-6s %5s %10s   %-19s   %s", "POOL", "", "NODES", "USD/H", "CPU", "MEMORY"), "")
	after := map[string]poolState{}
	for _, p := range r.After.Pools {
		after[p.NodePool] = p
	}
	for _, p := range r.Before.Pools {
		t.pair(cmp.Or(p.NodePool, "(no pool)"), p, after[p.NodePool])
	}
	t.pair("all", r.Before.Total, r.After.Total)
	saves, saved := "saves", r.Saved()
	if layout.Rounded(saved) < 0 {
		saves, saved = "costs more:", -saved
	}
	t.Add(t.Style.Good(layout.Sides("", fmt.Sprintf("%s %s USD/h, %.2f USD in a month of 730 hours", saves, layout.USD(saved, 4), 730*saved))))
	if p := r.Provisioned; p != nil && p.Nodes > 0 {
		t.Add(t.Style.Faint(layout.Sides("", fmt.Sprintf("beside %s USD/h for %s pending before",
			layout.USD(p.USDPerHour, 4), layout.Phrase(p.Pods, "pod that was", "pods that were")))))
	}
}

// pair prints two lines for a pool, and more if its name is too long.
func (t *text) pair(name string, before, after poolState) {
	const width = 11
	names := layout.Break(layout.Printable(name), width)
	for i, s := range []poolState{before, after} {
		name, when, paint := names[0], "before", t.Style.Faint
		if i == 1 {
			name, when, paint = "", "after", layout.Plain
			if len(names) > 1 {
				name = names[1]
			}
		}
		cost := layout.USD(s.USDPerHour, 4)
		if len(cost) > 10 { // a catalog can hold absurd prices
			cost = layout.USD(s.USDPerHour, 0)
		}
		t.Add(paint(fmt.Sprintf("%-*s %-6s %5d %10s   %s %4s   %s %4s", width, name, when, s.Nodes, cost,
			bar(s.CPU, 14), layout.Percent(s.CPU), bar(s.Memory, 14), layout.Percent(s.Memory))))
	}
	t.Add(names[min(2, len(names)):]...)
}

// unpriced names the nodes that count as 0 in all amounts, and says what follows from that.
func (r *Proposal) unpriced() (words string) {
	if n := r.Unknown; n > 0 {
		words += fmt.Sprintf(" The price of %s is not known, as the catalog has no offering that is like %s: %s as 0 USD/h in all amounts, and nothing is done to save on %s.",
			layout.Phrase(n, "managed node", "managed nodes"), it(n), layout.Either(n, "it counts", "they count"), it(n))
	}
	if n := r.Unmanaged; n > 0 {
		words += fmt.Sprintf(" %s no NodeClaim: somebody else manages %s, nothing here removes %s, and %s as 0 USD/h.",
			layout.Phrase(n, "node has", "nodes have"), it(n), it(n), layout.Either(n, "it counts", "they count"))
	}
	return words
}

func it(n int) string { return layout.Either(n, "it", "them") }

// footer prints how much work the search took.
func (t *text) footer() {
	r := t.report
	t.Add("")
	words := fmt.Sprintf("The search weighed %s in %s and %s.", layout.Count(r.Search.Candidates, "candidate"),
		layout.Phrase(r.Search.WhatIfs, "what-if", "what-ifs"), layout.Count(r.Search.Simulations, "simulation"))
	if r.Truncated {
		words += " It was ended by its limit of steps, so there may be more to save."
	}
	words += r.unpriced()
	if r.After.Pending > 0 {
		words += fmt.Sprintf(" %s without a place.", layout.Phrase(r.After.Pending, "pod is", "pods are"))
	}
	if r.Next != nil && len(r.Rounds) == 0 {
		words += " The answer can change at " + r.Next.Format("2 January 15:04 UTC") + " at the earliest, by time alone."
	}
	t.Fill("", words, t.Style.Faint)
	for _, w := range r.Warnings {
		t.Fill("warning: ", w, t.Style.Warning)
	}
}

// listed joins at most most items by commas.
func listed(items []string, most int) string {
	if hidden := len(items) - most; hidden > 0 {
		items = append(append([]string{}, items[:most]...), fmt.Sprintf("and %d more", hidden))
	}
	return strings.Join(items, ", ")
}

// bar renders a share from 0 to 1 as a bar of the given width.
func bar(share float64, width int) string {
	n := int(math.Round(share * float64(width)))
	n = min(max(n, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}

// leftGroup is a group of nodes that are left alone for the same reason.
type leftGroup struct {
	rule    string
	nodes   []string
	details []string // distinct, in the order of nodes
}

// leftAlone prints the nodes that are left alone, grouped by their main reason, or each with all
// its reasons.
func (t *text) leftAlone(all bool) {
	left := t.report.LeftAlone
	if len(left) == 0 {
		return
	}
	t.Heading("LEFT ALONE", layout.Count(len(left), "node"))
	if all {
		for _, n := range left {
			t.Fill("  ", n.Node, layout.Plain)
			for _, r := range n.Reasons {
				t.Fill("    "+r.Rule+": ", r.text(), t.Style.Faint)
			}
		}
		return
	}
	for _, g := range groupLeft(left) {
		t.Add(layout.Sides("  "+g.rule, layout.Count(len(g.nodes), "node")))
		const most = 2
		for i, d := range g.details {
			if i == most {
				t.Fill("      ", fmt.Sprintf("and %s like it", layout.Count(len(g.details)-most, "reason")), t.Style.Faint)
				break
			}
			t.Fill("      ", d, t.Style.Faint)
		}
		t.Fill("      ", listed(g.nodes, 10), layout.Plain)
	}
	if t.hints.LeftAlone != "" {
		t.Fill("  ", t.hints.LeftAlone, t.Style.Faint)
	}
}

// why prints why the pods of one node cannot go to the other nodes.
func (t *text) why() {
	w := t.report.Why
	if w == nil {
		return
	}
	t.Heading("WHY "+w.Node+" STAYS", "")
	for line := range strings.Lines(w.text) {
		indented := strings.TrimLeft(line, " ")
		t.Fill(strings.Repeat(" ", 2+len(line)-len(indented)), strings.TrimSpace(line), layout.Plain)
	}
}

func (r leftReason) text() string {
	if r.Method == "" {
		return r.Detail
	}
	return r.Detail + " [" + r.Method + "]"
}

// groupLeft groups nodes by their main reason, the largest group first.
func groupLeft(left []nodeLeft) []leftGroup {
	var groups []leftGroup
	for _, n := range left {
		main := n.main()
		i := slices.IndexFunc(groups, func(g leftGroup) bool { return g.rule == main.Rule })
		if i < 0 {
			i = len(groups)
			groups = append(groups, leftGroup{rule: main.Rule})
		}
		g := &groups[i]
		g.nodes = append(g.nodes, n.Node)
		detail := strings.ReplaceAll(main.Detail, n.Node, "the node")
		if !slices.Contains(g.details, detail) {
			g.details = append(g.details, detail)
		}
	}
	slices.SortStableFunc(groups, func(a, b leftGroup) int {
		return cmp.Or(cmp.Compare(len(b.nodes), len(a.nodes)), strings.Compare(a.rule, b.rule))
	})
	return groups
}

// main returns the main reason: the one that prevents consolidation, if there is any, because that
// is the reason for most nodes. A node that is merely not empty, not drifted or healthy has no
// reason to be removed.
func (n nodeLeft) main() leftReason {
	i := slices.IndexFunc(n.Reasons, func(r leftReason) bool { return r.Method == "Consolidation" })
	return n.Reasons[max(i, 0)]
}
