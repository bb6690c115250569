package disruption

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// quota is how many nodes budgets let go for a reason.
type quota struct {
	g      *gate
	reason Reason
	left   map[*share]int
	said   map[*share]answer
	next   time.Time
}

// answer is what a share said when the search asked first, and what it counted
// then: what the search takes afterwards is not on its way out yet.
type answer struct {
	budgets.Allowance
	counts   budgets.Counts
	notReady []string // by name
}

// newQuota counts what begins already.
func (f *Fleet) newQuota(reason Reason, others []Action) *quota {
	g := f.newGate()
	for _, a := range others {
		if w, members := g.judge(a); w == nil {
			g.pass(a, members)
		}
	}
	return &quota{g: g, reason: reason, left: map[*share]int{}, said: map[*share]answer{}}
}

// take counts a node, unless budgets do not let it go.
func (q *quota) take(m *member) verdict {
	shares := q.g.ledger.of(m)
	for _, s := range shares {
		if _, known := q.said[s]; !known {
			q.said[s] = answer{s.compiled.Allow(q.g.f.now, s.counts, q.reason), s.counts, q.g.ledger.notReady(s)}
			q.left[s] = q.said[s].Nodes
		}
		if q.left[s] <= 0 {
			a := q.said[s]
			q.next = sooner(q.next, a.Until)
			return verdict{rule: RuleBudget, object: s.String(), until: a.Until, detail: fmt.Sprintf("%s of %s lets %s go%s",
				a.Binding, s, plural(a.Limit, "node"), q.usedUp(s))}
		}
	}
	for _, s := range shares {
		q.left[s]--
	}
	return verdict{}
}

// usedUp says what uses up the nodes that a share lets go; nothing if it lets none
// go anyhow.
func (q *quota) usedUp(s *share) string {
	a := q.said[s]
	if a.Limit <= 0 {
		return ""
	}
	var uses []string
	use := func(n int, one, many string) {
		switch {
		case n == 1:
			uses = append(uses, "1 "+one)
		case n > 1:
			uses = append(uses, fmt.Sprintf("%d %s", n, many))
		}
	}
	use(a.counts.Disrupting, "is on its way out", "are on their way out")
	use(a.counts.Rebooting, "is being rebooted", "are being rebooted")
	if names := a.notReady; len(names) > 0 {
		which := ": " + strings.Join(names[:min(len(names), mostNamed)], ", ")
		if len(names) > mostNamed {
			which += fmt.Sprintf(" and %d more", len(names)-mostNamed)
		}
		use(len(names), "is not Ready"+which, "are not Ready"+which)
	}
	use(a.Nodes-q.left[s], "goes that saves more", "go that save more")
	if len(uses) == 0 {
		// A rate remembers nodes that are gone.
		return ", and that many went before"
	}
	return ", but " + strings.Join(uses, "; ")
}

// mostNamed is how many nodes a reason names; more are counted.
const mostNamed = 4

// notReady names the nodes that count for a share as not ready, by name.
func (l *ledger) notReady(s *share) []string {
	if s.counts.NotReady == 0 {
		return nil
	}
	var names []string
	for _, m := range l.f.members {
		if budgets.Count([]budgets.NodeState{l.state[m.name]}).NotReady > 0 && slices.Contains(l.of(m), s) {
			names = append(names, m.name)
		}
	}
	return names
}

// back takes the count of a node back.
func (q *quota) back(m *member) {
	for _, s := range q.g.ledger.of(m) {
		q.left[s]++
	}
}
