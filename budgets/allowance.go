package budgets

import (
	"fmt"
	"time"
)

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
