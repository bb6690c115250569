package disruption

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// quota is how many nodes budgets let the search remove.
type quota struct {
	g    *gate
	left map[*share]int
	said map[*share]budgets.Allowance
	next time.Time
}

// newQuota counts what begins already.
func (f *Fleet) newQuota(others []Action) *quota {
	g := f.newGate()
	for _, a := range others {
		if w, members := g.judge(a); w == nil {
			g.pass(a, members)
		}
	}
	return &quota{g: g, left: map[*share]int{}, said: map[*share]budgets.Allowance{}}
}

// take counts a node, unless budgets do not let it go.
func (q *quota) take(m *member) verdict {
	shares := q.g.ledger.of(m)
	for _, s := range shares {
		if _, known := q.said[s]; !known {
			q.said[s] = s.compiled.Allow(q.g.f.now, s.counts, Underutilized)
			q.left[s] = q.said[s].Nodes
		}
		if q.left[s] <= 0 {
			a := q.said[s]
			q.next = sooner(q.next, a.Until)
			return verdict{rule: RuleBudget, object: s.String(), until: a.Until, detail: fmt.Sprintf(
				"%s of %s lets %s go, and that many are on their way or save more", a.Binding, s, plural(a.Limit, "node"))}
		}
	}
	for _, s := range shares {
		q.left[s]--
	}
	return verdict{}
}

// back takes the count of a node back.
func (q *quota) back(m *member) {
	for _, s := range q.g.ledger.of(m) {
		q.left[s]++
	}
}
