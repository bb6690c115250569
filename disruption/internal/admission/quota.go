package admission

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// Quota counts how many further nodes budgets allow to be removed for one reason.
type Quota struct {
	Admission *Admission
	reason    budgets.Reason
	said      map[*share]*answer
	Next      time.Time
}

// answer is the allowance of a share when the search first asked, and the counts at that time.
// Nodes that the search takes later are not in the counts.
type answer struct {
	budgets.Allowance
	counts   budgets.Counts
	notReady []string // by name
	left     int      // how many nodes may go in addition to those taken
}

// NewQuota returns a quota that remains after what the Admission has let pass.
func NewQuota(g *Admission, reason budgets.Reason) *Quota {
	return &Quota{Admission: g, reason: reason, said: map[*share]*answer{}}
}

// Take counts a node if budgets allow its removal, and otherwise returns the refusal.
func (q *Quota) Take(m *state.StateNode) rule.Outcome { return q.refusal(q.take(m)) }

// Refusal says why budgets do not allow the removal of some nodes together, or returns the zero
// value if they do. It counts none of them.
func (q *Quota) Refusal(nodes []*state.StateNode) rule.Outcome {
	var full *share
	taken := 0
	for ; taken < len(nodes); taken++ {
		if full = q.take(nodes[taken]); full != nil {
			break
		}
	}
	for _, m := range nodes[:taken] {
		q.Back(m)
	}
	return q.refusal(full)
}

// MayLet reports whether Refusal would allow the removal of some nodes, as far as is known without a
// new look at a budget. It changes nothing.
func (q *Quota) MayLet(nodes []*state.StateNode) bool {
	taken := map[*share]int{}
	for _, m := range nodes {
		for _, s := range q.Admission.ledger.of(m) {
			taken[s]++
			if a := q.said[s]; a != nil && taken[s] > a.left {
				return false
			}
		}
	}
	return true
}

// take counts a node and returns nil, or returns the share that does not allow its removal.
func (q *Quota) take(m *state.StateNode) *share {
	shares := q.Admission.ledger.of(m)
	for _, s := range shares {
		if q.said[s] == nil {
			a := s.compiled.Allow(q.Admission.cluster.Now, s.counts, q.reason)
			q.said[s] = &answer{a, s.counts, q.Admission.ledger.notReady(s), a.Nodes}
		}
		if q.said[s].left <= 0 {
			q.Next = order.Sooner(q.Next, q.said[s].Until)
			return s
		}
	}
	for _, s := range shares {
		q.said[s].left--
	}
	return nil
}

// refusal returns the outcome of a share that allows no further removal; the zero value if s is
// nil.
func (q *Quota) refusal(s *share) rule.Outcome {
	if s == nil {
		return rule.Outcome{}
	}
	a := q.said[s]
	return rule.Outcome{Rule: rule.Budget, Object: s.String(), Until: a.Until, Detail: fmt.Sprintf("%s of %s lets %s go%s",
		a.Decider, s, words.Plural(a.Limit, "node"), q.usedUp(s))}
}

// usedUp says which nodes use up the allowance of a share. It is empty if the allowance is zero or
// nothing is used.
func (q *Quota) usedUp(s *share) string {
	a := q.said[s]
	if a.Limit <= 0 {
		return ""
	}
	var uses []string
	use := func(n int, one, many string) {
		if n > 0 {
			uses = append(uses, fmt.Sprintf("%d %s", n, words.Verb(n, one, many)))
		}
	}
	use(a.counts.Disrupting, "is on its way out", "are on their way out")
	use(a.counts.Rebooting, "is being rebooted", "are being rebooted")
	which := ": " + words.Names(a.notReady)
	use(len(a.notReady), "is not Ready"+which, "are not Ready"+which)
	use(a.Nodes-a.left, "goes that saves more", "go that save more")
	if len(uses) == 0 {
		return ""
	}
	return ", but " + strings.Join(uses, "; ")
}

// Back takes back the count of a node.
func (q *Quota) Back(m *state.StateNode) {
	for _, s := range q.Admission.ledger.of(m) {
		q.said[s].left++
	}
}
