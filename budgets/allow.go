package budgets

import (
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
