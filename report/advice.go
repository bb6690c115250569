package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
)

// adviceSchema names the JSON format of an Advice. Within v1 fields may be added, but none is
// removed or changes its meaning.
const adviceSchema = "dovetail.whatif.advice/v1"

// Advice is a report of package advice, as data for people and programs. It marshals to the JSON
// that examples/whatif/reference.md describes, and Format renders the same as text. NewAdvice makes
// it.
type Advice struct{ adviceData }

// adviceData is the JSON of an Advice. The text is rendered from it as well, so both agree.
type adviceData struct {
	Schema   string        `json:"schema"`
	Cost     planCost      `json:"cost"`
	Nodes    int           `json:"nodes"`
	Pods     int           `json:"pods"`
	Unplaced int           `json:"unplaced"`
	NoPlace  []unplacedPod `json:"unplacedPods"`
	Prices   []price       `json:"prices"`
	Pairs    []price       `json:"pairs"`
	Requests []price       `json:"requests"`
	Budgets  []heldUp      `json:"budgets"`
	Free     int           `json:"free"`
	Needed   []constraint  `json:"needed"`
	NotAsked []constraint  `json:"notAsked"`
	Steps    int           `json:"steps"`
}

// heldUp is a saving that a disruption budget prevents now.
type heldUp struct {
	NodePool string  `json:"nodePool"`
	Index    int     `json:"index"`
	Saves    float64 `json:"savesUSDPerHour"`
	Actions  int     `json:"actions"`

	line string
}

type constraint struct {
	Kind   string  `json:"kind"`
	Object string  `json:"object"`
	Field  string  `json:"field"`
	Text   string  `json:"text"`
	Pods   int     `json:"pods,omitempty"`
	Amount float64 `json:"amount,omitempty"`

	line string
}

type price struct {
	Constraints []constraint `json:"constraints"`
	USDPerHour  float64      `json:"usdPerHour"`
	Nodes       int          `json:"nodes"`
	Saves       float64      `json:"savesUSDPerHour"`
	AtLeast     float64      `json:"atLeastUSDPerHour"`
	AtMost      float64      `json:"atMostUSDPerHour"`
	Placed      []string     `json:"placed"`
	Worth       float64      `json:"worthUSDPerHour,omitempty"`
}

// NewAdvice makes an Advice from the report of package advice and the savings that budgets prevent
// now.
func NewAdvice(found *advice.Report, budgets []compare.BudgetPrice) *Advice {
	r := &Advice{adviceData{Schema: adviceSchema, Cost: planCost{USDPerHour: layout.Rounded(found.Cost), LowerBound: layout.Rounded(found.LowerBound)},
		Nodes: found.Nodes, Pods: found.Pods, Unplaced: len(found.Unplaced), NoPlace: unplacedPods(found.Unplaced), Free: found.Free, Steps: found.Steps,
		Prices: pricesOf(found.Prices), Pairs: pricesOf(found.Pairs), Requests: pricesOf(found.Requests),
		Budgets: []heldUp{}, Needed: constraintsOf(found.Needed), NotAsked: constraintsOf(found.NotAsked)}}
	if found.LowerBound > 0 {
		gap := layout.Rounded(found.Cost/found.LowerBound - 1)
		r.Cost.Gap = &gap
	}
	for _, b := range budgets {
		r.Budgets = append(r.Budgets, heldUp{NodePool: b.NodePool, Index: b.Index, Saves: layout.Rounded(b.Saves), Actions: b.Actions, line: b.String()})
	}
	return r
}

func constraintsOf(list []advice.Constraint) []constraint {
	out := make([]constraint, 0, len(list))
	for _, c := range list {
		out = append(out, constraint{Kind: string(c.Kind), Object: c.Object, Field: c.Field, Text: c.Text, Pods: c.Pods, Amount: layout.Rounded(c.Amount), line: c.String()})
	}
	return out
}

func pricesOf(list []advice.Price) []price {
	out := make([]price, 0, len(list))
	for _, p := range list {
		out = append(out, price{Constraints: constraintsOf(p.Constraints), USDPerHour: layout.Rounded(p.Cost), Nodes: p.Nodes, Saves: layout.Rounded(p.Saves),
			AtLeast: layout.Rounded(p.AtLeast), AtMost: layout.Rounded(p.AtMost), Placed: append([]string{}, p.Placed...), Worth: layout.Rounded(p.Worth())})
	}
	return out
}

// mostPrices is the largest number of prices in the table.
const mostPrices = 10

// Format renders the advice as text of at most 80 columns: the constraints that cost most or leave
// pods without a place, the cost of requests, and the savings that budgets prevent now. Nil options
// mean the defaults.
func (r *Advice) Format(opts *Options) string {
	style, hints := opts.page().Style, opts.hints()
	lines := []string{style.Heading("What the constraints of " + layout.Count(r.Pods, "pod") + " cost")}
	lines = append(lines, layout.Wrap(r.Lead(), 0)...)
	lines = append(lines, r.noPlace(style, hints)...)
	for _, list := range []struct {
		without string
		prices  []price
	}{{"WITHOUT", r.Prices}, {"WITHOUT BOTH", r.Pairs}} {
		placing := slices.IndexFunc(list.prices, func(p price) bool { return len(p.Placed) == 0 })
		if placing < 0 {
			placing = len(list.prices)
		}
		lines = append(lines, r.section(style, hints, list.without, "PODS THAT FIND A PLACE", list.prices[:placing])...)
		lines = append(lines, r.section(style, hints, list.without, "USD/H LESS", list.prices[placing:])...)
	}
	lines = append(lines, r.requests(style, hints)...)
	if len(r.Budgets) > 0 {
		lines = append(lines, "", style.Heading("HELD UP NOW"))
	}
	for _, b := range r.Budgets {
		lines = append(lines, layout.Wrap(layout.Printable(b.line), 0)...)
	}
	lines = append(lines, "")
	lines = append(lines, layout.Wrap(r.rest(hints), 0)...)
	return strings.Join(lines, "\n") + "\n"
}

// Lead returns the first sentence: the cost of a plan for all pods on an empty cluster.
func (r *Advice) Lead() string {
	text := fmt.Sprintf("Planned from empty they need %s for %s USD/h", layout.Count(r.Nodes, "node"), layout.USD(r.Cost.USDPerHour, 4))
	if r.Cost.Gap != nil {
		text += fmt.Sprintf(", at most %.1f%% above the optimum", 100**r.Cost.Gap)
	}
	if r.Unplaced > 0 {
		text += fmt.Sprintf("; %s no place", layout.Phrase(r.Unplaced, "pod has", "pods have"))
	}
	return text + "."
}

// mostNoPlace is the largest number of groups of unplaced pods in the table.
const mostNoPlace = 5

// noPlace lists the unplaced pods by workload and reason.
func (r *Advice) noPlace(style layout.Style, hints Hints) []string {
	groups := groupUnplaced(r.NoPlace)
	if len(groups) == 0 {
		return nil
	}
	lines := []string{"", style.Heading(layout.Sides("WITHOUT A PLACE", layout.Count(r.Unplaced, "pod")))}
	for i, g := range groups {
		if i == mostNoPlace {
			lines = append(lines, fmt.Sprintf("... and %s more", layout.Count(len(groups)-mostNoPlace, "group"))+hints.More)
			break
		}
		lines = append(lines, layout.WrapTo(fmt.Sprintf("%d× %s", g.count, layout.Printable(g.title())), layout.Width, "   ")...)
		for _, line := range reasonLines(g.reason) {
			lines = append(lines, layout.WrapHanging(layout.Printable(line), 2)...)
		}
	}
	return lines
}

// section lists prices, each with its figure at the right edge.
func (r *Advice) section(style layout.Style, hints Hints, left, right string, prices []price) []string {
	if len(prices) == 0 {
		return nil
	}
	lines := []string{"", style.Heading(layout.Sides(left, right))}
	for i, p := range prices {
		if i == mostPrices {
			lines = append(lines, fmt.Sprintf("... and %d more", len(prices)-mostPrices)+hints.More)
			break
		}
		names := layout.Wrap(layout.Printable(p.names()), 0)
		figure := r.figure(p)
		last := names[len(names)-1]
		if len(last)+len(figure)+2 > layout.Width {
			names = append(names, "")
			last = ""
		}
		names[len(names)-1] = layout.Sides(last, figure)
		lines = append(lines, names...)
		lines = append(lines, layout.Wrap(layout.Printable(p.about()), 2)...)
	}
	return lines
}

// about returns what is added to the figure of a price: how exact it is, or a pod that would be
// placed.
func (p price) about() string {
	switch len(p.Placed) {
	case 0:
		return fmt.Sprintf("between %s and %s at the optimum", layout.USD(p.AtLeast, 4), layout.USD(p.AtMost, 4))
	case 1:
		return "namely " + p.Placed[0]
	}
	return p.Placed[0] + " among them"
}

// names returns the names of the constraints of a price.
func (p price) names() string {
	var names []string
	for _, c := range p.Constraints {
		names = append(names, c.line)
	}
	return strings.Join(names, " and ")
}

// figure returns the effect of removing a constraint: the pods that would be placed with the rise
// of the bill, or the fall of the bill.
func (r *Advice) figure(p price) string {
	if len(p.Placed) > 0 {
		if p.Saves > 0 {
			return fmt.Sprintf("+%d, %s USD/h less", len(p.Placed), layout.USD(p.Saves, 4))
		}
		return fmt.Sprintf("+%d, %s USD/h more", len(p.Placed), layout.USD(-p.Saves, 4))
	}
	text := layout.USD(p.Saves, 4)
	if r.Cost.USDPerHour > 0 {
		text += fmt.Sprintf(" (%.1f%%)", 100*p.Saves/r.Cost.USDPerHour)
	}
	return text
}

// requests lists the price of one core and of one GiB.
func (r *Advice) requests(style layout.Style, hints Hints) []string {
	if len(r.Requests) == 0 {
		return nil
	}
	rows := r.RequestRows()
	g := layout.Grid{Columns: layout.Columns("WITH HALF OF THE REQUEST", "FOR", "#PODS", "#USD/H LESS", "#FOR ONE"), Rows: rows[:min(len(rows), mostPrices)]}
	grid := g.Lines()
	lines := append([]string{"", style.Heading(grid[0])}, grid[1:]...)
	if more := len(rows) - mostPrices; more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", more)+hints.More)
	}
	return lines
}

// RequestRows returns a row of five cells for each request that was halved: the workload, the unit,
// the number of pods, the saving in USD per hour, and the saving for one unit.
func (r *Advice) RequestRows() (rows [][]string) {
	for _, p := range r.Requests {
		c := p.Constraints[0]
		unit := map[string]string{"cpu": "core", "memory": "GiB"}[c.Text]
		rows = append(rows, []string{layout.Printable(c.Object), unit, fmt.Sprint(c.Pods), layout.USD(p.Saves, 4), layout.USD(p.Worth, 4)})
	}
	return rows
}

// rest says what the lists leave out.
func (r *Advice) rest(hints Hints) string {
	var parts []string
	switch none := len(r.Prices) == 0 && len(r.Pairs) == 0; {
	case none && r.Free > 0:
		parts = append(parts, fmt.Sprintf("No constraint costs anything, of %d that %s asked about.", r.Free, layout.Either(r.Free, "was", "were")))
	case none:
		parts = append(parts, "No constraint costs anything.")
	case r.Free > 0:
		parts = append(parts, layout.Phrase(r.Free, "constraint costs nothing.", "constraints cost nothing."))
	}
	if n := len(r.Needed); n > 0 {
		parts = append(parts, fmt.Sprintf("Without %s a pod would lose its place, such as %s.", layout.Count(n, "other"), r.Needed[0].line))
	}
	var requests, others []string
	for _, c := range r.NotAsked {
		if c.Kind == string(advice.KindRequest) {
			requests = append(requests, fmt.Sprintf("%s of %s", c.Text, c.Object))
		} else {
			others = append(others, c.line)
		}
	}
	if n := len(others); n > 0 {
		parts = append(parts, fmt.Sprintf("%s not asked about, as others promised more.", layout.Either(n, "1 constraint was", fmt.Sprintf("%d constraints were", n))))
	}
	if n := len(requests); n > 0 {
		parts = append(parts, fmt.Sprintf("What less of a request is worth was not asked of %s, such as %s.", layout.Either(n, "1 workload", fmt.Sprintf("%d more", n)), requests[0]))
	}
	if len(others)+len(requests) > 0 && hints.NotAsked != "" {
		parts = append(parts, hints.NotAsked)
	}
	return strings.Join(parts, " ")
}

// sentence returns a price as a sentence.
func (p price) sentence() string {
	if n := len(p.Placed); n > 0 {
		text := fmt.Sprintf("%s: without it %s a place, %s among them, ", p.names(), layout.Phrase(n, "pod more finds", "pods more find"), p.Placed[0])
		if p.Saves > 0 {
			return text + layout.USD(p.Saves, 4) + " USD/h less"
		}
		return text + "for " + layout.USD(-p.Saves, 4) + " USD/h more"
	}
	return p.names() + ": " + layout.USD(p.Saves, 4) + " USD/h less without, " + p.about()
}

// Lines returns the whole answer as sentences, for output without tables: unplaced pods, each
// price, what budgets prevent now, and what was not computed. Nil options mean the defaults.
func (r *Advice) Lines(opts *Options) (out []string) {
	for _, g := range groupUnplaced(r.NoPlace) {
		out = append(out, fmt.Sprintf("%s of %s %s no place: %s", layout.Count(g.count, "pod"), g.title(), layout.Either(g.count, "has", "have"), g.reason.Message))
	}
	for _, x := range slices.Concat(r.Prices, r.Pairs) {
		out = append(out, x.sentence())
	}
	for _, b := range r.Budgets {
		out = append(out, b.line)
	}
	return append(out, r.rest(opts.hints()))
}
