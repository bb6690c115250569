package budgets

import (
	"fmt"
	"math"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Allow is Compile without a policy, and Compiled.Allow. A program that asks
// often compiles once instead.
func Allow(now time.Time, bs []v1.Budget, c Counts, r Reason) Allowance {
	compiled, _ := compile(bs, nil) // malformed budgets block, and say so
	return compiled.Allow(now, c, r)
}

// Allow says how many more nodes may be disrupted at an instant for a reason.
//
// Of the budgets and the entries of Policy.Only that apply to the reason and are in force, each
// leaves its value less the nodes that count against it (Counts.Consuming).
// The one that leaves the fewest decides, of several the first. If none is in
// force the answer is unlimited. A reason that is not known is bound by what
// applies to all.
func (c *Compiled) Allow(now time.Time, n Counts, r Reason) Allowance {
	t := seconds(now)
	best, fewest, limit := -1, math.MaxInt, math.MaxInt
	for i := range c.constraints {
		k := &c.constraints[i]
		if !c.applies(k, r) {
			continue
		}
		// Whether it is in force takes longer to find out than what it leaves.
		value, left := c.left(k, &n, r)
		if (best < 0 || left < fewest) && k.inForce(t) {
			best, fewest, limit = i, left, value
		}
	}
	a := Allowance{Nodes: math.MaxInt, Unlimited: true, Limit: math.MaxInt}
	if best >= 0 {
		a = Allowance{Nodes: max(0, fewest), Limit: limit, Binding: c.constraints[best].binding}
	}
	a.Until = c.until(now, t, &n, r, best, fewest)
	return a
}

// until is when the answer can change: when what decided ceases to, or when
// something comes into force that would decide instead. What would leave more
// than the answer cannot change it before either.
func (c *Compiled) until(now time.Time, t int64, n *Counts, r Reason, best, fewest int) time.Time {
	var first time.Time
	for i := range c.constraints {
		k := &c.constraints[i]
		if !c.applies(k, r) {
			continue
		}
		if best >= 0 && i != best {
			if _, left := c.left(k, n, r); left > fewest || left == fewest && i > best {
				continue
			}
		}
		if at := k.change(t); at.After(now) {
			first = earlier(first, at)
		}
	}
	if first.IsZero() {
		return first
	}
	return first.In(now.Location())
}

// Allowance is the answer to how many nodes may be disrupted.
type Allowance struct {
	// Nodes is how many more nodes may be disrupted, never negative. It is
	// math.MaxInt if Unlimited.
	Nodes int
	// Unlimited is whether no budget is in force for the reason.
	Unlimited bool
	// Limit is the bound that decided, before the nodes that count against it
	// were taken off. It is math.MaxInt if Unlimited.
	Limit int
	// Binding is what decided.
	Binding Binding
	// Until is the first instant after the one asked about at which the answer
	// can change by time alone: up to then the same counts get the same answer.
	// It is zero if time alone never changes it.
	Until time.Time
}

// Source is the list that a Binding points into.
type Source string

// The sources.
const (
	// None is the source of an unlimited answer.
	None Source = ""
	// FromBudgets are the budgets of the NodePool or Group.
	FromBudgets Source = "budgets"
	// FromOnly is Policy.Only.
	FromOnly Source = "only"
)

// Binding names the budget, or entry of Policy.Only, that decided: the one that
// leaves the fewest nodes, and of several the first, budgets before the policy. The zero value
// is none.
type Binding struct {
	Source Source
	// Index is the place in the list that Source names.
	Index int
	// Malformed is whether it blocks because it could not be read. The error of
	// Compile says why.
	Malformed bool
}

// String is the field that the binding points at, such as budgets[2], or none.
func (b Binding) String() string {
	switch {
	case b.Source == None:
		return "none"
	case b.Malformed:
		return fmt.Sprintf("%s[%d] (malformed)", b.Source, b.Index)
	}
	return fmt.Sprintf("%s[%d]", b.Source, b.Index)
}
