package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/disruption/rollout"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

type report struct {
	*settings
	*input
	Missed    []string             // entries of the deny-list that match no image: most are misspelt
	Selection amiselect.Selection  // images that the terms select
	Diff      amiselect.Difference // change from the images of the nodes
	Rollout   rollout.Rollout      // order in which the drifted nodes are replaced
	Lock      []amiselect.Term     // static terms with the same selection
	LockErr   error                // why there are no such terms
}

// String renders the report in 80 columns.
func (r *report) String() string {
	t := &lines{}
	t.wrap("", fmt.Sprintf("EC2NodeClass %s, Kubernetes %s, as of %s", r.Class, r.selecting.Environment.KubernetesVersion, clock(r.now)))
	for _, term := range r.Terms {
		t.wrap("  ", term.String())
	}
	var rules []string
	if r.selecting.MinAge > 0 {
		rules = append(rules, "images must be "+command.Span(r.selecting.MinAge)+" old")
	}
	if len(r.selecting.Deny) > 0 {
		rules = append(rules, "denied are "+strings.Join(r.selecting.Deny, ", "))
	}
	if len(rules) > 0 {
		t.wrap("  ", strings.Join(rules, "; "))
	}
	if len(r.Missed) > 0 {
		t.wrap("  ", "none of the images is "+strings.Join(r.Missed, " or ")+": look for a typing error")
	}
	r.selected(t)
	if passed := r.Selection.PassedOver(); len(passed) > 0 {
		t.Heading("PASSED OVER", command.Count(len(passed), "image"))
		for _, p := range passed {
			t.wrap("  ", p.Explanation.String())
		}
	}
	r.drifted(t)
	r.promote(t)
	r.timetable(t)
	return t.String()
}

// selected lists the images and the machines that each is for.
func (r *report) selected(t *lines) {
	t.Heading("SELECTED", "")
	t.Add("ARCH    VARIANT   IMAGE                  CREATED     RELEASE")
	for _, c := range r.Selection.Choices() {
		variant := string(c.Variant)
		if c.Variant == amiselect.VariantAny {
			variant = "any"
		}
		_, _, release, ok := amiselect.Release(c.Image.Name)
		if !ok {
			release = c.Image.Name
		}
		t.Add(fmt.Sprintf("%-7s %-9s %-22s %s  %s", c.Image.Architecture, variant, c.Image.ID, c.Image.Created.Format(time.DateOnly), release))
	}
}

// drifted groups the drifted nodes by old and new image.
func (r *report) drifted(t *lines) {
	judged := len(r.Rollout.Moves) + len(r.Diff.Kept) + len(r.Diff.NoLongerDrifted)
	t.Heading("DRIFTED", fmt.Sprintf("%d of %s", len(r.Rollout.Moves), command.Count(judged, "node")))
	var reasons []string
	names := map[string][]string{}
	for _, m := range r.Rollout.Moves {
		why := m.Reason
		for _, c := range r.Selection.Choices() { // their names are printed above, with the IDs
			why = strings.ReplaceAll(why, c.Image.ID+" ("+c.Image.Name+")", c.Image.ID)
		}
		if _, seen := names[why]; !seen {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], m.Node)
	}
	for _, why := range reasons {
		slices.Sort(names[why])
		t.wrap("  ", why)
		t.wrap("    ", command.Count(len(names[why]), "node")+": "+strings.Join(names[why], ", "))
	}
	if n := len(r.Diff.Unjudged); n > 0 {
		t.wrap("  ", "Not judged, as the image they booted is not known: "+strings.Join(r.Diff.Unjudged, ", "))
	}
	if r.Others > 0 {
		t.wrap("  ", command.Count(r.Others, "node")+" of other classes left out")
	}
}

// promote prints the static terms as part of a manifest.
func (r *report) promote(t *lines) {
	t.Heading("LOCK TO PROMOTE", "")
	if r.LockErr != nil {
		t.wrap("  ", "None: "+r.LockErr.Error())
		return
	}
	lock := struct {
		Terms []amiselect.Term `json:"amiSelectorTerms"`
	}{r.Lock}
	data, err := yaml.Marshal(lock)
	if err != nil {
		t.wrap("  ", "None: "+err.Error())
		return
	}
	for line := range strings.Lines(string(data)) {
		t.Add("  " + strings.TrimRight(line, "\n"))
	}
}

// timetable lists the nodes that are replaced, by the time at which their replacement begins.
func (r *report) timetable(t *lines) {
	t.Heading("TIMETABLE", "under the budgets for Drifted, "+command.Span(r.replacement)+" a node")
	moves := r.Rollout.Moves
	column := 8 // of the longest name
	for _, m := range moves {
		column = max(column, utf8.RuneCountInString(m.NodePool))
	}
	for len(moves) > 0 {
		n := 1
		for n < len(moves) && moves[n].Start.Equal(moves[0].Start) && moves[n].NodePool == moves[0].NodePool {
			n++
		}
		var names []string
		for _, m := range moves[:n] {
			names = append(names, m.Node)
		}
		when := "not within a year"
		if start := moves[0].Start; !start.IsZero() {
			when = start.Format("Mon 01-02 15:04")
		}
		t.row(when, moves[0].NodePool, column, strings.Join(names, ", "))
		moves = moves[n:]
	}
	switch {
	case len(r.Rollout.Moves) == 0:
		t.wrap("  ", "No node has drifted.")
	case r.Rollout.Complete:
		t.Add("")
		t.wrap("", fmt.Sprintf("All replaced by %s at the earliest, after %s.", clock(r.Rollout.Finish), command.Span(r.Rollout.Finish.Sub(r.now))))
	default:
		t.Add("")
		t.wrap("", "Some nodes are never replaced: the budgets leave them no time.")
	}
}

func clock(t time.Time) string { return t.UTC().Format("Mon 2006-01-02 15:04 MST") }

// lines is the text of the report.
type lines struct{ command.Page }

// wrap writes words, with lines after the first indented by two more blanks.
func (t *lines) wrap(indent, words string) {
	t.hang(indent+strings.Join(strings.Fields(words), " "), 2)
}

// hang writes a line, broken into lines of which those after the first are indented by further
// blanks.
func (t *lines) hang(line string, further int) {
	t.Add(command.Wrap(line, command.PageWidth, strings.Repeat(" ", further))...)
}

// widest is the largest width of the column of pools, so that there is room for nodes.
const widest = 24

// row writes a row of the timetable: the time, the pool, and the nodes. If the name of the pool is
// too long for its column, the nodes follow below it.
func (t *lines) row(when, pool string, column int, nodes string) {
	if column <= widest {
		label := fmt.Sprintf("  %-17s  %-*s ", when, column, pool)
		t.hang(label+nodes, utf8.RuneCountInString(label)-2)
		return
	}
	t.wrap("  ", when+"  "+pool)
	t.hang("      "+nodes, 0)
}
