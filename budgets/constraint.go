package budgets

import (
	"math"
	"slices"
	"time"
)

// form says when a constraint is in force.
type form int

const (
	always  form = iota
	never        // a window of no length
	inside       // in its windows
	outside      // out of its windows
)

// constraint is a budget or an entry of Policy.Only. With only binding and scope set it allows no
// node at any time: that is used for malformed budgets, and for an entry of Only outside of its
// windows.
type constraint struct {
	decider Decider
	scope   scope
	form    form
	value   quantity
	windows []windows
}

// scope is the reasons that a constraint applies to.
type scope struct {
	all     bool
	known   uint8    // bits of the known reasons
	reasons []Reason // all reasons, known or not
}

func newScope(reasons []Reason) scope {
	s := scope{all: reasons == nil, reasons: slices.Clone(reasons)}
	for _, r := range reasons {
		s.known |= bit(r)
	}
	return s
}

// bit returns the bit of a known reason, or 0.
func bit(r Reason) uint8 {
	switch r {
	case Drifted:
		return 1
	case Empty:
		return 2
	case Underutilized:
		return 4
	case Unhealthy:
		return 8
	case Expired:
		return 16
	}
	return 0
}

// has reports whether the scope has a known reason.
func (s *scope) has(r Reason) bool { return s.all || s.known&bit(r) != 0 }

// applies reports whether a constraint bounds disruptions for a reason.
func (c *Compiled) applies(k *constraint, r Reason) bool {
	if r == Expired && k.decider.Source == FromBudgets {
		return c.expiry && (k.scope.has(Expired) || k.scope.has(Drifted))
	}
	return k.scope.has(r)
}

// inForce reports whether a constraint bounds disruption at an instant.
func (k *constraint) inForce(t int64) bool {
	switch k.form {
	case never:
		return false
	case inside:
		_, open := k.windows[0].open(t)
		return open
	case outside:
		for i := range k.windows {
			if _, open := k.windows[i].open(t); open {
				return false
			}
		}
	}
	return true
}

// left returns the value of a constraint, and the value minus the nodes that count against it,
// which may be negative.
func (c *Compiled) left(k *constraint, n *Counts, r Reason) (limit, left int) {
	limit = k.value.of(n.Nodes)
	return limit, limit - c.consuming(k, n, r)
}

func (c *Compiled) consuming(k *constraint, n *Counts, r Reason) int {
	if !c.separate || k.scope.all {
		return n.Consuming(r)
	}
	sum, own := 0, 0
	for _, of := range [...]Reason{Drifted, Empty, Underutilized, Unhealthy, Expired} {
		nodes := *n.By.of(of)
		sum = add(sum, nodes)
		if k.scope.has(of) || of == r {
			own = add(own, nodes)
		}
	}
	unknown := max(0, n.Disrupting-sum)
	rest := Counts{Disrupting: min(add(own, unknown), max(0, n.Disrupting)), Rebooting: n.Rebooting, NotReady: n.NotReady}
	return rest.Consuming(r)
}

// change returns the first instant after t at which a window of a constraint opens or closes, or zero
// if there is none. inForce may be the same before and after it, because windows overlap.
func (k *constraint) change(t int64) time.Time {
	soonest := int64(math.MaxInt64)
	for i := range k.windows {
		if at, ok := k.windows[i].change(t); ok {
			soonest = min(soonest, at)
		}
	}
	if k.form == never || soonest == math.MaxInt64 {
		return time.Time{}
	}
	return time.Unix(soonest, 0)
}
