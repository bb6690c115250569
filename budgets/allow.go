package budgets

import (
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// Allow is Compile without a policy, and Compiled.Allow. The error lists the faults of the budgets,
// and the reason if it is unknown; the Allowance is valid in any case. For many calls use Compile
// once.
func Allow(now time.Time, bs []v1.Budget, c Counts, r Reason) (Allowance, error) {
	compiled, faults := compile(bs, nil)
	if bit(r) == 0 {
		faults = append(faults, unknownReason(field.NewPath("reason"), r))
	}
	return compiled.Allow(now, c, r), faults.ToAggregate() // which is nil without faults
}

// Allow returns how many more nodes may be disrupted at an instant for a reason.
//
// Each budget and each entry of Policy.Only that applies to the reason and is in force allows its
// value minus the nodes that count against it (Counts.Consuming). The one that allows the fewest
// decides; of several the first. If none is in force the answer is unlimited. For a reason other
// than the five constants of this package no node is allowed, and the source of the binding is
// UnknownReason.
func (c *Compiled) Allow(now time.Time, n Counts, r Reason) Allowance {
	if bit(r) == 0 {
		return Allowance{Decider: Decider{Source: UnknownReason}}
	}
	t := seconds(now)
	best, fewest, limit := -1, math.MaxInt, math.MaxInt
	for i := range c.constraints {
		k := &c.constraints[i]
		if !c.applies(k, r) {
			continue
		}
		// The allowed number is cheaper to compute than whether the constraint is in force.
		value, left := c.left(k, &n, r)
		if (best < 0 || left < fewest) && k.inForce(t) {
			best, fewest, limit = i, left, value
		}
	}
	a := Allowance{Nodes: math.MaxInt, Unlimited: true, Limit: math.MaxInt}
	if best >= 0 {
		a = Allowance{Nodes: max(0, fewest), Limit: limit, Decider: c.constraints[best].decider}
	}
	a.Until = c.until(now, t, &n, r, best, fewest)
	return a
}

// until returns when the answer can change: when the deciding constraint goes out of force, or when
// one comes into force that would decide instead. A constraint that allows more than the answer
// cannot change it before that.
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
			first = order.Sooner(first, at)
		}
	}
	if first.IsZero() {
		return first
	}
	return first.In(now.Location())
}

// maxNext is how far Compiled.Next looks ahead, in seconds: ten years, which always include a 29
// February.
const maxNext = 10 * 366 * secondsPerDay

// Next returns the first instant after now at which Allow returns more Nodes than now for the same
// counts, in the location of now. It returns the zero time if there is no such instant within ten
// years, or none before MaxWindows beginnings and ends of windows.
func (c *Compiled) Next(now time.Time, n Counts, r Reason) time.Time {
	a := c.Allow(now, n, r)
	if a.Unlimited || a.Decider.Source == UnknownReason {
		return time.Time{}
	}
	// More nodes are allowed once no constraint is in force that allows as few.
	var strict []*constraint
	for i := range c.constraints {
		k := &c.constraints[i]
		if _, left := c.left(k, &n, r); c.applies(k, r) && left <= a.Nodes {
			strict = append(strict, k)
		}
	}
	t, ok := firstFree(strict, seconds(now), seconds(now)+maxNext)
	if !ok {
		return time.Time{}
	}
	return time.Unix(t, 0).In(now.Location())
}

// firstFree returns the first instant in [t, end) at which none of the constraints is in force. ok
// is false if there is none, or if more than MaxWindows windows end before it.
func firstFree(list []*constraint, t, end int64) (at int64, ok bool) {
	for clear, i := 0, 0; clear < len(list) && t < end; i++ {
		k := list[i%len(list)]
		clear++
		if !k.inForce(t) {
			continue
		}
		closes := k.change(t)
		if closes.IsZero() || i >= MaxWindows {
			return 0, false
		}
		t, clear = closes.Unix(), 0
	}
	return t, t < end
}

// Allowance says how many more nodes may be disrupted, and why.
type Allowance struct {
	// Nodes is how many more nodes may be disrupted, never negative. It is
	// math.MaxInt if Unlimited.
	Nodes int
	// Unlimited says that no budget is in force for the reason.
	Unlimited bool
	// Limit is the deciding bound, without subtracting the nodes that count against it. It is
	// math.MaxInt if Unlimited.
	Limit int
	// Decider is the deciding budget or entry of Policy.Only.
	Decider Decider
	// Until is the first later instant at which the answer can change by time alone: until then the
	// same counts get the same answer. It is zero if time alone never changes it.
	Until time.Time
}

// Source is the list that a Decider refers to.
type Source string

// The sources.
const (
	// None is the source of an unlimited answer.
	None Source = ""
	// FromBudgets are the budgets of the NodePool or Group.
	FromBudgets Source = "budgets"
	// FromOnly is Policy.Only.
	FromOnly Source = "only"
	// UnknownReason is the source of an answer about a reason that does not exist.
	UnknownReason Source = "unknown reason"
)

// Decider names the deciding budget or entry of Policy.Only: the one that allows the fewest nodes,
// and of several the first, budgets before the policy. The zero value means none.
type Decider struct {
	Source Source
	// Index is the index in the list of Source, and 0 if Source is none.
	Index int
	// Malformed says that it allows no node because it could not be read. The error of Compile says
	// why.
	Malformed bool
}

// String returns the field that the binding names, such as budgets[2], or none, or unknown reason.
func (b Decider) String() string {
	switch {
	case b.Source == None:
		return "none"
	case b.Source == UnknownReason:
		return string(b.Source)
	case b.Malformed:
		return fmt.Sprintf("%s[%d] (malformed)", b.Source, b.Index)
	}
	return fmt.Sprintf("%s[%d]", b.Source, b.Index)
}
