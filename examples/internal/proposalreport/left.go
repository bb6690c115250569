package proposalreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

// leftGroup is nodes that are left alone for the same reason.
type leftGroup struct {
	rule    string
	nodes   []string
	details []string // distinct, in the order of nodes
}

// leftAlone lists the nodes that are left alone by what comes first among the
// reasons, or each with all of its reasons.
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
	t.Fill("  ", "-all lists every node with all that speaks for leaving it; -why NODE says what keeps its pods from other nodes.", t.Style.Faint)
}

// why says what keeps the pods of one of the nodes from the others.
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

func (r Reason) text() string {
	if r.Method == "" {
		return r.Detail
	}
	return r.Detail + " [" + r.Method + "]"
}

// groupLeft groups nodes by their main reason, the largest group first.
func groupLeft(left []NodeLeft) []leftGroup {
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

// main is what keeps consolidation from the node, if anything does, as that is
// what most nodes are left alone by. A node that is merely not empty, not
// drifted or healthy has no reason to be removed.
func (n NodeLeft) main() Reason {
	i := slices.IndexFunc(n.Reasons, func(r Reason) bool { return r.Method == "Consolidation" })
	return n.Reasons[max(i, 0)]
}
