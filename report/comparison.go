package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// comparisonSchema names the JSON format of a Comparison. Within v1 fields may be added, but none
// is removed or changes its meaning.
const comparisonSchema = "dovetail.whatif.compare/v1"

// Comparison is the result of package compare as data for people and programs. It marshals to the
// JSON that examples/whatif/reference.md describes, and Format renders the same as text.
// NewComparison makes it.
type Comparison struct {
	comparisonData

	found []compare.Difference
}

// comparisonData is the JSON of a Comparison. The text is rendered from it as well, so both agree.
type comparisonData struct {
	Schema      string       `json:"schema"`
	Now         time.Time    `json:"now"`
	File        string       `json:"file"`
	Changes     []string     `json:"changes"`
	Old         outcome      `json:"old"`
	New         outcome      `json:"new"`
	FreshChange freshChange  `json:"fromEmptyChange"`
	Differences []difference `json:"differences"`
}

// outcome has the figures of one side.
type outcome struct {
	FromEmpty  freshBill   `json:"fromEmpty"`
	Today      billSummary `json:"today"`
	AtRest     billSummary `json:"atRest"`
	Unplaced   int         `json:"unplaced"`
	Pending    int         `json:"pending"`
	NoPlace    []noPlace   `json:"pendingPods"`
	Drifted    int         `json:"drifted"`
	Peak       int         `json:"peakNodes"`
	Evicted    int         `json:"evictedPods"`
	Launched   int         `json:"launchedNodes"`
	Rounds     int         `json:"rounds"`
	RestsAt    time.Time   `json:"restsAt"`
	Rested     bool        `json:"rested"`
	RestReason string      `json:"restReason"`
}

// freshChange is the difference of the costs from empty, and the range of that difference if both
// plans were optimal.
type freshChange struct {
	USDPerHour float64 `json:"usdPerHour"`
	AtLeast    float64 `json:"atLeastUSDPerHour"`
	AtMost     float64 `json:"atMostUSDPerHour"`
	WithinGap  bool    `json:"withinGap"`
}

func freshChangeOf(c *compare.Comparison) freshChange {
	atLeast, atMost := c.FreshChange()
	d := c.New.Fresh.Cost - c.Old.Fresh.Cost
	return freshChange{USDPerHour: layout.Rounded(d), AtLeast: layout.Rounded(atLeast), AtMost: layout.Rounded(atMost), WithinGap: layout.Rounded(d) != 0 && atLeast < 0 && atMost > 0}
}

type billSummary struct {
	USDPerHour    float64 `json:"usdPerHour"`
	Nodes         int     `json:"nodes"`
	UnknownPrices int     `json:"unknownPrices,omitempty"`
	Unmanaged     int     `json:"unmanagedNodes,omitempty"`
}

type freshBill struct {
	billSummary
	LowerBound float64   `json:"lowerBoundUSDPerHour"`
	NoPlace    []noPlace `json:"unplacedPods"`
}

// noPlace is an unplaced pod.
type noPlace struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Reason    string `json:"reason"`
}

func noPlaceOf(list []provisioning.Unplaced) []noPlace {
	out := make([]noPlace, 0, len(list))
	for _, u := range list {
		out = append(out, noPlace{Namespace: u.Pod.Namespace, Name: u.Pod.Name, Reason: u.Explanation.String()})
	}
	return out
}

type difference struct {
	Kind   string   `json:"kind"`
	Object string   `json:"object,omitempty"`
	Old    float64  `json:"old"`
	New    float64  `json:"new"`
	Reason string   `json:"reason,omitempty"`
	Nodes  []string `json:"nodes"`
}

func summaryOf(b compare.Bill) billSummary {
	return billSummary{USDPerHour: layout.Rounded(b.Cost), Nodes: b.Nodes, UnknownPrices: b.UnknownPrices}
}

func outcomeOf(o compare.Outcome) outcome {
	return outcome{
		FromEmpty: freshBill{billSummary: summaryOf(o.Fresh.Bill), LowerBound: layout.Rounded(o.Fresh.LowerBound), NoPlace: noPlaceOf(o.Fresh.Plan.Unplaced)},
		Today:     summaryOf(o.Settled.Today), AtRest: summaryOf(o.Settled.Bill),
		Unplaced: len(o.Fresh.Plan.Unplaced), Pending: len(o.Settled.Unplaced), NoPlace: noPlaceOf(o.Settled.Unplaced), Drifted: len(o.Settled.Drifts),
		Peak: o.Settled.Peak, Evicted: o.Settled.Evicted, Launched: o.Settled.Launched, Rounds: len(o.Settled.Rounds),
		RestsAt: o.Settled.At, Rested: o.Settled.Rested, RestReason: o.Settled.Why,
	}
}

// Change names the new side of a comparison.
type Change struct {
	// File is the file of the new policies, for the title.
	File string
	// Lines say how the new policies differ from those of the cluster, one sentence for each
	// difference.
	Lines []string
}

// NewComparison makes a Comparison from the result of package compare, for the instant now. before
// is its old side.
func NewComparison(now time.Time, before compare.Side, c *compare.Comparison, change Change) *Comparison {
	r := &Comparison{found: c.Differences, comparisonData: comparisonData{
		Schema: comparisonSchema, Now: now, File: change.File, Changes: append([]string{}, change.Lines...),
		Old: outcomeOf(c.Old), New: outcomeOf(c.New), FreshChange: freshChangeOf(c), Differences: []difference{}}}
	for _, n := range before.Input.Nodes {
		if n.NodeClaim == nil {
			r.Old.Today.Unmanaged++
			r.New.Today.Unmanaged++
		}
	}
	for _, d := range c.Differences {
		r.Differences = append(r.Differences, difference{Kind: string(d.Kind), Object: d.Object, Old: layout.Rounded(d.Old), New: layout.Rounded(d.New),
			Reason: d.Why, Nodes: append([]string{}, d.Nodes...)})
	}
	return r
}

// mostListed is the largest number of differences of one kind in the table.
const mostListed = 5

// Format renders the comparison as text of at most 80 columns: the answer in one sentence, both
// sides in figures, and the reasons of the differences. Nil options mean the defaults.
func (r *Comparison) Format(opts *Options) string {
	style := opts.page().Style
	lines := []string{style.Heading("What would change with " + layout.Printable(r.File))} // to be typed, so it stays whole
	lines = append(lines, layout.Wrap(r.Verdict(), 0)...)
	for _, c := range r.Changes {
		lines = append(lines, layout.Wrap(layout.Printable("- "+c), 2)...)
	}
	g := layout.Grid{Columns: layout.Columns("", "#TODAY'S", "#NEW", "#CHANGE"), Rows: r.Figures()}
	grid := g.Lines()
	lines = append(lines, "", style.Heading(grid[0]))
	lines = append(lines, grid[1:]...)
	lines = append(lines, "")
	for _, words := range r.Remarks() {
		lines = append(lines, layout.Wrap(layout.Printable(words), 0)...)
	}
	return strings.Join(append(lines, r.reasons(style, opts.hints())...), "\n") + "\n"
}

// sentence describes the nodes that run today.
func (b billSummary) sentence() string {
	text := "No managed node runs today."
	if b.Nodes > 0 {
		text = fmt.Sprintf("%s today for %s USD/h.", layout.Phrase(b.Nodes, "managed node runs", "managed nodes run"), layout.USD(b.USDPerHour, 4))
	}
	if n := b.UnknownPrices; n > 0 {
		text += fmt.Sprintf(" The price of %d of them is not known, as the catalog has no offering like theirs: they count as 0 wherever they run, and nothing is done to save on them.", n)
	}
	if n := b.Unmanaged; n > 0 {
		verb := "are somebody else's and count"
		if n == 1 {
			verb = "is somebody else's and counts"
		}
		text += fmt.Sprintf(" %s without a NodeClaim %s as 0 throughout.", layout.Count(n, "node"), verb)
	}
	return text
}

// Verdict returns the answer in one sentence: the cost of the cluster at rest, and the cost of a
// plan for all pods on an empty cluster.
func (r *Comparison) Verdict() string {
	if len(r.found) == 0 {
		return "Nothing would change."
	}
	a, b := r.Old, r.New
	text := "At rest the new policies cost " + versus(a.AtRest.USDPerHour, b.AtRest.USDPerHour) + ", on " + layout.Count(b.AtRest.Nodes, "node")
	if a.AtRest.Nodes != b.AtRest.Nodes {
		text += fmt.Sprintf(" instead of %d", a.AtRest.Nodes)
	}
	switch more := b.Pending - a.Pending; {
	case more > 0:
		text += fmt.Sprintf(", and %s no place any more", layout.Phrase(more, "pod has", "pods have"))
	case more < 0:
		text += fmt.Sprintf(", and %s a place", layout.Phrase(-more, "more pod has", "more pods have"))
	}
	switch {
	case r.FreshChange.USDPerHour == 0:
	case a.AtRest.USDPerHour == a.FromEmpty.USDPerHour && b.AtRest.USDPerHour == b.FromEmpty.USDPerHour:
		text += fmt.Sprintf("; planned from empty as well, %s of the search", r.significance())
	default:
		text += fmt.Sprintf("; planned from empty they cost %s, %s of the search", versus(a.FromEmpty.USDPerHour, b.FromEmpty.USDPerHour), r.significance())
	}
	return text + "."
}

// versus says how a cost compares with that of today's policies.
func versus(old, fresh float64) string {
	d, side := fresh-old, "more"
	if d < 0 {
		side = "less"
	}
	switch {
	case layout.Rounded(d) == 0:
		return "the same, " + layout.USD(fresh, 4) + " USD/h"
	case old == 0:
		return fmt.Sprintf("%s USD/h %s", layout.USD(math.Abs(d), 4), side)
	}
	return fmt.Sprintf("%.1f%% %s, %s USD/h", 100*math.Abs(d)/old, side, layout.Arrow(old, fresh, 4))
}

// gap returns how far the cost may be above the optimum, in USD per hour.
func (b freshBill) gap() float64 { return max(0, b.USDPerHour-b.LowerBound) }

// certainty says whether the plans from empty are exact enough to tell their costs apart.
func (r *Comparison) certainty() string {
	c := r.FreshChange
	if c.USDPerHour == 0 {
		return ""
	}
	side := func(d float64) string {
		if d < 0 {
			return layout.USD(-d, 4) + " less"
		}
		return layout.USD(d, 4) + " more"
	}
	text := fmt.Sprintf("Planned from empty, both at their best, the new side costs between %s and %s: ", side(c.AtLeast), side(c.AtMost))
	if c.WithinGap {
		return text + "the difference is within the gap of the search, and may come of it alone."
	}
	return text + "the difference is beyond the gap of the search."
}

// unlike says that the two sides do not run the same pods, which matters more than any figure; ""
// if they do.
func (r *Comparison) unlike() string {
	gained := lacking(r.Old.FromEmpty.NoPlace, r.New.FromEmpty.NoPlace)
	lost := lacking(r.New.FromEmpty.NoPlace, r.Old.FromEmpty.NoPlace)
	var sides []string
	for _, side := range []struct {
		pods []noPlace
		name string
	}{{gained, "new"}, {lost, "old"}} {
		if len(side.pods) > 0 {
			first := side.pods[0]
			sides = append(sides, fmt.Sprintf("%s a place on the %s side only, such as %s/%s", layout.Phrase(len(side.pods), "pod has", "pods have"), side.name, first.Namespace, first.Name))
		}
	}
	if len(sides) == 0 {
		return ""
	}
	return "The costs from empty are not of the same pods: " + strings.Join(sides, "; ") + "."
}

// lacking returns the pods of the first list that are not in the second.
func lacking(pods, others []noPlace) []noPlace {
	return slices.DeleteFunc(slices.Clone(pods), func(p noPlace) bool {
		return slices.ContainsFunc(others, func(o noPlace) bool { return o.Namespace == p.Namespace && o.Name == p.Name })
	})
}

// lost names the pods that are unplaced on either side if all pods are planned from empty.
func (r *Comparison) lost() string {
	one := lacking(r.New.FromEmpty.NoPlace, r.Old.FromEmpty.NoPlace)
	neither := lacking(r.New.FromEmpty.NoPlace, one)
	if len(neither) == 0 {
		return ""
	}
	first := neither[0]
	return fmt.Sprintf("Planned from empty %s no place on either side, such as %s/%s: %s.", layout.Phrase(len(neither), "pod has", "pods have"), first.Namespace, first.Name, first.Reason)
}

// Figures returns rows of four cells: the name of the figure, its value on both sides, and the
// difference. A row that begins with two blanks is a detail of a row above it.
func (r *Comparison) Figures() (out [][]string) {
	row := func(what string, old, fresh float64, decimals int) {
		out = append(out, []string{what, layout.USD(old, decimals), layout.USD(fresh, decimals), change(old, fresh, decimals)})
	}
	a, b := r.Old, r.New
	row("planned from empty, USD/h", a.FromEmpty.USDPerHour, b.FromEmpty.USDPerHour, 4)
	out = append(out, []string{"  above the least there is, at most", layout.USD(a.FromEmpty.gap(), 4), layout.USD(b.FromEmpty.gap(), 4), r.significance()})
	row("  nodes", float64(a.FromEmpty.Nodes), float64(b.FromEmpty.Nodes), 0)
	row("  pods without a place", float64(a.Unplaced), float64(b.Unplaced), 0)
	row("what runs, at rest, USD/h", a.AtRest.USDPerHour, b.AtRest.USDPerHour, 4)
	row("  nodes", float64(a.AtRest.Nodes), float64(b.AtRest.Nodes), 0)
	row("  pods without a place", float64(a.Pending), float64(b.Pending), 0)
	row("the way: nodes drifted", float64(a.Drifted), float64(b.Drifted), 0)
	row("  nodes at once", float64(a.Peak), float64(b.Peak), 0)
	row("  nodes launched", float64(a.Launched), float64(b.Launched), 0)
	row("  pods evicted", float64(a.Evicted), float64(b.Evicted), 0)
	row("  hours", a.RestsAt.Sub(r.Now).Hours(), b.RestsAt.Sub(r.Now).Hours(), 1)
	return out
}

// significance says when the difference from empty is within the gaps of the two plans, so that it
// proves nothing.
func (r *Comparison) significance() string {
	switch {
	case r.FreshChange.USDPerHour == 0:
		return "-"
	case r.FreshChange.WithinGap:
		return "within the gap"
	}
	return "beyond the gap"
}

// change describes a difference of two numbers as more or less.
func change(old, fresh float64, decimals int) string {
	d := fresh - old
	if math.Abs(d) < math.Pow(10, -float64(decimals))/2 {
		return "-"
	}
	text := layout.USD(d, decimals)
	if d > 0 {
		text = "+" + text
	}
	if decimals == 4 && old > 0 {
		text += fmt.Sprintf(" (%+.1f%%)", 100*d/old)
	}
	return text
}

// alike is a group of differences of one kind with the same amounts and the same reason.
type alike struct {
	compare.Difference
	objects []string
}

// groups returns the differences in groups of equal ones, each difference once.
func (r *Comparison) groups() (out []*alike) {
	type key struct {
		kind     compare.Kind
		old, new string
		reason   string
	}
	known := map[key]*alike{}
	reasons := map[string]bool{}
	for _, d := range r.found {
		switch d.Kind {
		case compare.KindFreshCost, compare.KindSettledCost:
			reasons[d.Why] = true
		case compare.KindFreshNodes, compare.KindSettledNodes, compare.KindFreshPoolCost, compare.KindSettledPoolCost:
			if reasons[d.Why] {
				continue // for the same reason
			}
		}
		k := key{d.Kind, d.Words(d.Old), d.Words(d.New), d.Why}
		if d.Kind == compare.KindFreshPoolCost || d.Kind == compare.KindSettledPoolCost {
			k.reason += d.Object
		}
		if known[k] == nil {
			known[k] = &alike{Difference: d}
			out = append(out, known[k])
		}
		known[k].objects = append(known[k].objects, d.Object)
	}
	return out
}

// reasons lists the differences.
func (r *Comparison) reasons(style layout.Style, hints Hints) []string {
	if len(r.found) == 0 {
		return nil // the verdict says so
	}
	lines := []string{"", style.Heading("WHY")}
	groups, shown := r.groups(), map[compare.Kind]int{}
	for _, g := range groups {
		if shown[g.Kind]++; shown[g.Kind] == mostListed+1 {
			of := slices.DeleteFunc(slices.Clone(groups), func(other *alike) bool { return other.Kind != g.Kind })
			lines = append(lines, "  ... and "+strconv.Itoa(len(of)-mostListed)+" more like that"+hints.More)
		}
		if shown[g.Kind] <= mostListed {
			lines = append(lines, layout.WrapHanging(layout.Printable(g.sentence()), 2)...)
		}
	}
	return lines
}

// sentence describes the differences of a group.
func (d *alike) sentence() string {
	subject := map[compare.Kind]string{
		compare.KindFreshCost: "Planned from empty", compare.KindFreshNodes: "Nodes planned from empty",
		compare.KindFreshPoolCost: "Planned from empty", compare.KindUnplaced: "Planned from empty", compare.KindAtOnceCost: "After what may begin now",
		compare.KindSettledCost: "At rest", compare.KindSettledNodes: "Nodes at rest", compare.KindSettledPoolCost: "At rest",
		compare.KindPending: "At rest", compare.KindDrift: "Drift", compare.KindPeak: "Nodes at once", compare.KindEvicted: "Pods evicted",
		compare.KindLaunched: "Nodes launched", compare.KindHours: "Until it rests",
	}[d.Kind]
	if d.Object != "" {
		subject += ", " + d.objects[0]
	}
	if n := len(d.objects); n > 1 {
		subject += fmt.Sprintf(" and %d more", n-1)
	}
	text := fmt.Sprintf("%s: %s instead of %s", subject, d.Words(d.New), d.Words(d.Old))
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}

// Remarks returns sentences on the meaning of the figures: what runs today, whether both sides run the
// same pods, and whether the new side comes to rest.
func (r *Comparison) Remarks() []string {
	out := []string{r.Old.Today.sentence(), r.unlike(), r.certainty(), r.lost()}
	if !r.New.Rested {
		out = append(out, "The new side does not come to rest: "+r.New.RestReason+".")
	}
	return slices.DeleteFunc(out, func(words string) bool { return words == "" })
}

// Reasons returns the differences with their reasons, one sentence for each group of equal
// differences.
func (r *Comparison) Reasons() (out []string) {
	for _, g := range r.groups() {
		out = append(out, g.sentence())
	}
	return out
}
