package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Price is the effect of removing one constraint, or the two of a pair.
type Price struct {
	// Constraints has one, or the two of a pair in order.
	Constraints []Constraint
	// Cost is the cost of the new nodes without the constraints, in USD per hour, and Nodes is
	// their number.
	Cost  float64
	Nodes int
	// Saves is the cost of the input as it is less Cost, in USD per hour. It is below zero
	// where more pods find a place, which costs more.
	Saves float64
	// AtLeast and AtMost are the error bar of Saves, in USD per hour: the difference of the
	// cheapest possible plans with and without the constraints is between them. They are far apart
	// if a plan is far above its provisioning.Plan.LowerBound, and ignore pods that one of the
	// plans leaves out.
	AtLeast, AtMost float64
	// Placed are the pods that find a place without the constraints and have none with them, by
	// namespace and name, sorted.
	Placed []string
}

// Worth returns the saving per core or GiB given up, in USD per hour. It is 0 unless the price is
// of a single constraint of KindRequest.
func (p Price) Worth() float64 {
	if len(p.Constraints) != 1 || p.Constraints[0].Amount <= 0 {
		return 0
	}
	return p.Saves / p.Constraints[0].Amount
}

// pays reports whether removing the constraint saves money or places pods.
func (p Price) pays() bool { return len(p.Placed) > 0 || p.Saves > noise }

// noise is the difference below which two sums in floating point count as equal, in USD per hour.
const noise = 1e-9

// Compare orders prices: first those that place pods, most pods first, then those that save most,
// then by Constraint.Compare. No two prices of one list are equal.
func (p Price) Compare(other Price) int {
	return cmp.Or(cmp.Compare(len(other.Placed), len(p.Placed)), cmp.Compare(other.Saves, p.Saves),
		slices.CompareFunc(p.Constraints, other.Constraints, Constraint.Compare))
}

// String returns the price on one line, such as "NodePool general: requirement kubernetes.io/arch
// In [amd64]: 0.4100 USD/h less without it (0.3800 to 0.4300)".
func (p Price) String() string {
	if len(p.Constraints) == 0 {
		return "no constraint"
	}
	var names []string
	for _, c := range p.Constraints {
		names = append(names, c.String())
	}
	it := "it"
	if len(names) > 1 {
		it = "both"
	}
	text := strings.Join(names, ", and ") + ": "
	if n := len(p.Placed); n > 0 {
		find := "pods find"
		if n == 1 {
			find = "pod finds"
		}
		text += fmt.Sprintf("without %s %d more %s a place", it, n, find)
		if p.Saves < -noise {
			text += fmt.Sprintf(", for %.4f USD/h", -p.Saves)
		} else if p.Saves > noise {
			text += fmt.Sprintf(", for %.4f USD/h less", p.Saves)
		}
		return text
	}
	switch {
	case p.Saves > noise:
		text += fmt.Sprintf("%.4f USD/h less without %s", p.Saves, it)
	case p.Saves < -noise:
		text += fmt.Sprintf("%.4f USD/h more without %s", -p.Saves, it)
	default:
		text += "costs nothing"
	}
	return text + fmt.Sprintf(" (%.4f to %.4f)", p.AtLeast, p.AtMost)
}
