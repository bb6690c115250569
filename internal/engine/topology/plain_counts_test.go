package topology_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
)

// A pod that has been placed.
type pod struct{ class, cell int }

// ledger says who is where, and answers each question by looking at everybody.
type ledger struct {
	p    *topology.Problem
	pods []pod
}

// at returns the domain of a pod for a key.
func (l *ledger) at(x pod, key int) int {
	c := &l.p.Classes[x.class]
	if i := slices.Index(c.Keys, key); i >= 0 {
		return c.Cells[x.cell].At[i]
	}
	return topology.None
}

// own is how many owners of a hard rule a pod stands for.
func (l *ledger) own(class, rule int) int {
	for _, o := range l.p.Classes[class].Owns {
		if o.Rule == rule && o.Weight == 0 {
			return o.Count
		}
	}
	return 0
}

func (l *ledger) join(class, rule int) topology.Join {
	for _, j := range l.p.Classes[class].Joins {
		if j.Rule == rule {
			return j
		}
	}
	return topology.Join{}
}

// members counts by domain.
func (l *ledger) members(rule int) []int {
	r := &l.p.Rules[rule]
	out := make([]int, l.p.Domains[r.Key])
	copy(out, r.Members)
	for _, x := range l.pods {
		if d := l.at(x, r.Key); d != topology.None {
			out[d] += l.join(x.class, rule).Count
		}
	}
	return out
}

// allowed says whether the rules let one more pod in.
func (l *ledger) allowed(x pod) bool {
	for rule := range l.p.Rules {
		if !l.allowedBy(x, rule) {
			return false
		}
	}
	return true
}

func (l *ledger) allowedBy(x pod, rule int) bool {
	r := &l.p.Rules[rule]
	d := l.at(x, r.Key)
	members := l.members(rule)
	owns, joins := l.own(x.class, rule), l.join(x.class, rule)
	switch r.Kind {
	case topology.Spread:
		if owns == 0 || d == topology.None {
			return owns == 0
		}
		after, before := members[d]+joins.Count, 0
		if joins.Count > 1 {
			before = joins.Count - 1 // they come one after the other, this is the last
		}
		return after-l.least(rule, members, d, before) <= r.Skew
	case topology.Together:
		return owns == 0 || d != topology.None && (members[d] > 0 || l.first(x.class))
	}
	if d == topology.None {
		return true
	}
	owners := 0
	if r.Owners != nil {
		owners = r.Owners[d]
	}
	for _, y := range l.pods {
		if l.at(y, r.Key) == d {
			owners += l.own(y.class, rule)
		}
	}
	switch {
	case owns > 0 && members[d] > 0, joins.Count > 0 && owners > 0:
		return false
	case owns == 0 || joins.Count == 0:
		return true
	}
	return owns == 1 && joins.Count == 1 && joins.Both == 1 // nobody but itself
}

// least returns the least count of the domains to be filled, with some members more in
// one.
func (l *ledger) least(rule int, members []int, domain, more int) int {
	r := &l.p.Rules[rule]
	there := make([]bool, len(members))
	copy(there, r.Sure)
	members = slices.Clone(members)
	if more > 0 {
		members[domain] += more
		there[domain] = true
	}
	for _, x := range l.pods {
		if d := l.at(x, r.Key); d != topology.None && l.join(x.class, rule).Count > 0 {
			there[d] = true
		}
	}
	sure, least, any := 0, 0, false
	for d := range members {
		if there[d] {
			sure++
		}
		if d < len(r.Counted) && r.Counted[d] && (!any || members[d] < least) {
			least, any = members[d], true
		}
	}
	if sure < r.MinDomains {
		return 0
	}
	return least
}

// first says whether nobody is there that a class wants to be with, and it is
// of that kind itself.
func (l *ledger) first(class int) bool {
	for _, o := range l.p.Classes[class].Owns {
		r := &l.p.Rules[o.Rule]
		if r.Kind != topology.Together || o.Weight > 0 {
			continue
		}
		if r.Elsewhere || l.join(class, o.Rule).Count == 0 || slices.Max(append(l.members(o.Rule), 0)) > 0 {
			return false
		}
	}
	return true
}

// checkResult replays a result pod by pod, and returns who is where afterwards.
func checkResult(t *testing.T, p *topology.Problem, got *topology.Result) *ledger {
	t.Helper()
	l := &ledger{p: p}
	placed := make([][]int, len(p.Classes))
	for c := range placed {
		placed[c] = make([]int, len(p.Classes[c].Cells))
	}
	for i, e := range got.Events {
		require.Positive(t, e.Count, "event %d", i)
		for range e.Count {
			x := pod{e.Class, e.Cell}
			require.True(t, l.allowed(x), "event %d: class %d may not go to cell %d", i, e.Class, e.Cell)
			l.pods = append(l.pods, x)
			placed[e.Class][e.Cell]++
			require.LessOrEqual(t, placed[e.Class][e.Cell], p.Classes[e.Class].Cells[e.Cell].Room, "event %d", i)
		}
	}
	require.Equal(t, placed, got.Placed)
	for c := range p.Classes {
		sum := got.Blocked[c]
		for _, n := range placed[c] {
			sum += n
		}
		require.Equal(t, p.Classes[c].Count, sum, "class %d", c)
	}
	checkBlocked(t, l, got)
	return l
}

// checkBlocked wants every cell closed to those that were left.
func checkBlocked(t *testing.T, l *ledger, got *topology.Result) {
	t.Helper()
	for c, n := range got.Blocked {
		for cell := range l.p.Classes[c].Cells {
			if n > 0 && got.Placed[c][cell] < l.p.Classes[c].Cells[cell].Room {
				require.False(t, l.allowed(pod{c, cell}), "class %d is left out of cell %d", c, cell)
			}
		}
	}
}

// sound says what is wrong with a problem that a test made up.
func sound(p *topology.Problem) error {
	for c := range p.Classes {
		class := &p.Classes[c]
		for i, cell := range class.Cells {
			if len(cell.At) != len(class.Keys) {
				return fmt.Errorf("class %d, cell %d: %d domains for %d keys", c, i, len(cell.At), len(class.Keys))
			}
			for j, d := range cell.At {
				if d != topology.None && (d < 0 || d >= p.Domains[class.Keys[j]]) {
					return fmt.Errorf("class %d, cell %d: domain %d", c, i, d)
				}
			}
		}
		for _, o := range class.Owns {
			if !slices.Contains(class.Keys, p.Rules[o.Rule].Key) {
				return fmt.Errorf("class %d: rule %d is over a key that its cells do not tell", c, o.Rule)
			}
		}
	}
	return nil
}
