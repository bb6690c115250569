package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Kind is the kind of a difference between two sides. The set is closed within a major version.
type Kind string

// The kinds, in the order in which they are listed. Amounts are in USD per hour where it
// says cost, and numbers otherwise.
const (
	// KindFreshCost: what all pods cost, planned from empty.
	KindFreshCost Kind = "FreshCost"
	// KindFreshNodes: the number of nodes of that plan.
	KindFreshNodes Kind = "FreshNodes"
	// KindFreshPoolCost: the same by pool and capacity type, which are the object.
	KindFreshPoolCost Kind = "FreshPoolCost"
	// KindUnplaced: in the plan from empty a pod has a place on one side only: 1 means without a
	// place. The reason is that of the side without.
	KindUnplaced Kind = "Unplaced"
	// KindAtOnceCost: the cost after the actions that may begin now.
	KindAtOnceCost Kind = "AtOnceCost"
	// KindSettledCost: the cost of the present nodes and their replacements at rest.
	KindSettledCost Kind = "SettledCost"
	// KindSettledNodes: the number of nodes at rest.
	KindSettledNodes Kind = "SettledNodes"
	// KindSettledPoolCost: the cost at rest by pool and capacity type.
	KindSettledPoolCost Kind = "SettledPoolCost"
	// KindPending: at rest a pod has a place on one side only.
	KindPending Kind = "Pending"
	// KindDrift: a node has drifted on one side only, or is replaced at another instant. The
	// amounts are hours from now until it is replaced, or NotDrifted, or Stays.
	KindDrift Kind = "Drift"
	// KindPeak: the largest number of nodes before rest.
	KindPeak Kind = "Peak"
	// KindEvicted: the number of moved pods before rest.
	KindEvicted Kind = "Evicted"
	// KindLaunched: the number of launched nodes before rest.
	KindLaunched Kind = "Launched"
	// KindHours: the hours until rest.
	KindHours Kind = "Hours"
)

// Special amounts of KindDrift.
const (
	NotDrifted = -1.0
	Stays      = -2.0 // it has drifted, and is not replaced within the horizon
)

// kinds is the order.
var kinds = []Kind{KindFreshCost, KindFreshNodes, KindFreshPoolCost, KindUnplaced, KindAtOnceCost, KindSettledCost, KindSettledNodes,
	KindSettledPoolCost, KindPending, KindDrift, KindPeak, KindEvicted, KindLaunched, KindHours}

// Difference is one difference between two sides.
type Difference struct {
	Kind Kind
	// Object is a pool and a capacity type, a pod by namespace and name, or a node; empty for the
	// cluster.
	Object string
	// Old and New are the amounts on both sides, in the unit of the kind.
	Old, New float64
	// Why is why, in one line without a full stop.
	Why string
	// Nodes are the nodes that cause the difference, sorted: for plans from empty those of the
	// plans, otherwise those of the cluster and launched ones.
	Nodes []string
}

// Compare orders differences by kind, as the constants are listed, then by object. No two
// differences of a Comparison are equal.
func (d Difference) Compare(other Difference) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, d.Kind), slices.Index(kinds, other.Kind)), cmp.Compare(d.Object, other.Object))
}

// String returns the difference in one line.
func (d Difference) String() string {
	text := string(d.Kind)
	if d.Object != "" {
		text += " of " + d.Object
	}
	text += fmt.Sprintf(": %s, was %s", d.Words(d.New), d.Words(d.Old))
	if d.Why != "" {
		text += ": " + d.Why
	}
	return text
}

// Words returns an amount, such as Old or New, with the unit of the kind of the difference, or in
// words for special amounts: "0.3840 USD/h", "2", "1.5 h", "pending", "gone at once".
func (d Difference) Words(amount float64) string {
	switch d.Kind {
	case KindFreshCost, KindFreshPoolCost, KindAtOnceCost, KindSettledCost, KindSettledPoolCost:
		return fmt.Sprintf("%.4f USD/h", amount)
	case KindUnplaced, KindPending:
		if amount == 0 {
			return "placed"
		}
		return "pending"
	case KindDrift:
		switch amount {
		case NotDrifted:
			return "not drifted"
		case Stays:
			return "drifted and stays"
		case 0:
			return "gone at once"
		}
		return "gone after " + words.Span(time.Duration(amount*float64(time.Hour)))
	case KindHours:
		return fmt.Sprintf("%.1f h", amount)
	}
	return fmt.Sprintf("%.0f", amount)
}

// tiny is the rounding error of sums: amounts closer than that are equal.
const tiny = 1e-9

// list collects differences.
type list []Difference

func (l *list) add(d Difference) {
	if math.Abs(d.Old-d.New) > tiny*max(1, math.Abs(d.Old)) {
		*l = append(*l, d)
	}
}

// differences returns the differences in order.
func differences(now time.Time, c *Comparison) []Difference {
	var l list
	l.bills(KindFreshCost, KindFreshNodes, KindFreshPoolCost, c.Old.Fresh.Bill, c.New.Fresh.Bill)
	l.objects(KindUnplaced, 0, unplaced(c.Old.Fresh.Plan.Unplaced), unplaced(c.New.Fresh.Plan.Unplaced))
	was, is := c.Old.Settled, c.New.Settled
	l.add(Difference{Kind: KindAtOnceCost, Old: was.AtOnce, New: is.AtOnce, Why: began(was, is)})
	l.bills(KindSettledCost, KindSettledNodes, KindSettledPoolCost, was.Bill, is.Bill)
	l.objects(KindPending, 0, unplaced(was.Unplaced), unplaced(is.Unplaced))
	l.objects(KindDrift, NotDrifted, drifts(now, was.Drifts), drifts(now, is.Drifts))
	rounds := fmt.Sprintf("%s, was %s", layout.Count(len(is.Rounds), "round"), layout.Count(len(was.Rounds), "round"))
	l.add(Difference{Kind: KindPeak, Old: float64(was.Peak), New: float64(is.Peak), Why: peakOf(is)})
	l.add(Difference{Kind: KindEvicted, Old: float64(was.Evicted), New: float64(is.Evicted), Why: rounds})
	l.add(Difference{Kind: KindLaunched, Old: float64(was.Launched), New: float64(is.Launched), Why: rounds})
	l.add(Difference{Kind: KindHours, Old: was.At.Sub(now).Hours(), New: is.At.Sub(now).Hours(), Why: is.Why})
	slices.SortStableFunc(l, Difference.Compare)
	return l
}

// bills compares two bills in total and by pool and capacity type.
func (l *list) bills(cost, nodes, pools Kind, was, is Bill) {
	changed := changes(was, is)
	reason, concerned := text(changed), nodesOf(changed)
	l.add(Difference{Kind: cost, Old: was.Cost, New: is.Cost, Why: reason, Nodes: concerned})
	l.add(Difference{Kind: nodes, Old: float64(was.Nodes), New: float64(is.Nodes), Why: reason, Nodes: concerned})
	a, b := was.byPool(), is.byPool()
	for _, name := range names(a, b) {
		of := slices.DeleteFunc(slices.Clone(changed), func(x change) bool { return x.key[0]+" "+x.key[2] != name })
		l.add(Difference{Kind: pools, Object: name, Old: a[name], New: b[name], Why: text(of), Nodes: nodesOf(of)})
	}
}

// change is the difference of one line of two bills.
type change struct {
	key   [3]string
	more  int // additional nodes, below 0 if fewer
	cost  float64
	nodes []string // that only one side has
}

// changes returns the lines that differ, the largest difference in cost first.
func changes(was, is Bill) (out []change) {
	by := map[[3]string]*change{}
	line := func(m Machines, sign int) {
		x := by[m.key()]
		if x == nil {
			x = &change{key: m.key()}
			by[m.key()] = x
		}
		x.more += sign * len(m.Nodes)
		x.cost += float64(sign) * m.Cost
		for _, node := range m.Nodes {
			if i := slices.Index(x.nodes, node); i >= 0 {
				x.nodes = slices.Delete(x.nodes, i, i+1) // both have it
			} else {
				x.nodes = append(x.nodes, node)
			}
		}
	}
	for _, m := range was.Machines {
		line(m, -1)
	}
	for _, m := range is.Machines {
		line(m, 1)
	}
	for _, x := range by { // sorted below
		if x.more != 0 || math.Abs(x.cost) > tiny {
			slices.Sort(x.nodes)
			out = append(out, *x)
		}
	}
	slices.SortFunc(out, func(a, b change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.cost), math.Abs(a.cost)), slices.Compare(a.key[:], b.key[:]))
	})
	return out
}

// mostChanges is how many lines of a bill a reason names.
const mostChanges = 4

// text returns changes in words.
func text(list []change) string {
	var parts []string
	for _, x := range list[:min(len(list), mostChanges)] {
		what := fmt.Sprintf("%s %s of %s", x.key[1], x.key[2], x.key[0])
		switch {
		case x.more > 0:
			parts = append(parts, fmt.Sprintf("%d more %s", x.more, what))
		case x.more < 0:
			parts = append(parts, fmt.Sprintf("%d fewer %s", -x.more, what))
		default:
			parts = append(parts, "other prices of "+what)
		}
	}
	if hidden := len(list) - mostChanges; hidden > 0 {
		parts = append(parts, fmt.Sprintf("and %d more kinds", hidden))
	}
	return strings.Join(parts, ", ")
}

// nodesOf returns the nodes of changes.
func nodesOf(list []change) (nodes []string) {
	for _, x := range list {
		nodes = append(nodes, x.nodes...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// told is an amount of one side for an object, and why it is so.
type told struct {
	amount float64
	why    string
}

// objects compares the amounts of objects. An object that a side does not have has the amount absent there. The
// reason is that of the new side if it has the object.
func (l *list) objects(kind Kind, absent float64, was, is map[string]told) {
	for _, name := range names(was, is) {
		d := Difference{Kind: kind, Object: name, Old: absent, New: absent}
		if x, found := was[name]; found {
			d.Old, d.Why = x.amount, x.why
		}
		if x, found := is[name]; found {
			d.New, d.Why = x.amount, x.why
		}
		if kind == KindDrift {
			d.Nodes = []string{name}
		}
		l.add(d)
	}
}

// unplaced returns 1 for each pod without a place, and the reason.
func unplaced(list []provisioning.Unplaced) map[string]told {
	out := make(map[string]told, len(list))
	said := map[*provisioning.Explanation]string{} // equal pods share a reason
	for _, u := range list {
		if u.Explanation != nil && said[u.Explanation] == "" {
			said[u.Explanation] = u.Explanation.String()
		}
		out[podName(u.Pod)] = told{1, said[u.Explanation]}
	}
	return out
}

// drifts returns by node the hours until a drifted node is replaced, or Stays, and why it has drifted.
func drifts(now time.Time, list []Drift) map[string]told {
	out := make(map[string]told, len(list))
	for _, d := range list {
		x := told{Stays, d.Reason + ": " + d.Detail}
		if !d.At.IsZero() {
			x.amount = d.At.Sub(now).Hours()
		}
		if d.Held != "" {
			x.why += "; " + d.Held
		}
		out[d.Node] = x
	}
	return out
}

// began returns a text with the number of actions that may begin now on each side.
func began(was, is *Settled) string {
	n := firstActions(is)
	return fmt.Sprintf("%s %s now, was %s", layout.Count(n, "action"), words.Verb(n, "begins", "begin"), layout.Count(firstActions(was), "action"))
}

func firstActions(s *Settled) int {
	for _, r := range s.Rounds {
		if len(r.Actions) > 0 {
			return len(r.Actions)
		}
	}
	return 0
}

// peakOf returns a text about the time of the peak.
func peakOf(s *Settled) string {
	for _, r := range s.Rounds {
		if r.Peak == s.Peak {
			return fmt.Sprintf("at %s, with %s launched", r.At.UTC().Format(time.RFC3339), layout.Count(r.Launched, "node"))
		}
	}
	return "as many as today"
}
