package admission

import (
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// share is a bound, or its part with one value of the label that splits it.
type share struct {
	*Bound
	value  string
	counts budgets.Counts
}

func (s *share) String() string {
	if s.each == "" {
		return s.name
	}
	return fmt.Sprintf("%s, %s=%s", s.name, s.each, s.value)
}

// ledger counts for each share how many nodes are on their way out.
type ledger struct {
	cluster *state.Cluster
	bounds  []*Bound
	shares  map[shareKey]*share
	state   map[string]budgets.NodeState // by node name
}

type shareKey struct {
	bound int
	value string
}

func newLedger(f *state.Cluster, bounds []*Bound) *ledger {
	l := &ledger{cluster: f, bounds: bounds, shares: map[shareKey]*share{}, state: map[string]budgets.NodeState{}}
	states := map[shareKey][]budgets.NodeState{}
	for _, m := range f.Nodes {
		state := m.BudgetState(f.In.MarkedForDeletion[m.Name])
		l.state[m.Name] = state
		for i, b := range bounds {
			if key, ok := b.key(i, m); ok {
				states[key] = append(states[key], state)
			}
		}
	}
	for key, of := range states { // the order does not matter
		b := bounds[key.bound]
		l.shares[key] = &share{Bound: b, value: key.value, counts: budgets.Count(of)}
	}
	return l
}

// of lists the shares to which a node belongs.
func (l *ledger) of(m *state.StateNode) []*share {
	var out []*share
	for i, b := range l.bounds {
		if key, ok := b.key(i, m); ok {
			out = append(out, l.shares[key])
		}
	}
	return out
}

// counted reports whether budgets count a node of this state.
func counted(s budgets.NodeState) bool { return budgets.Count([]budgets.NodeState{s}).Nodes == 1 }

// take counts a node as on its way out.
func (l *ledger) take(m *state.StateNode, r budgets.Reason) {
	before := l.state[m.Name]
	after := before
	after.Disrupting, after.Reason = true, r
	l.state[m.Name] = after
	if !counted(before) || before.Disrupting {
		return
	}
	for _, s := range l.of(m) {
		c := &s.counts
		switch {
		case before.Rebooting:
			c.Rebooting--
		case !before.Ready:
			c.NotReady--
		}
		one := budgets.Count([]budgets.NodeState{after})
		c.Disrupting += one.Disrupting
		c.By.Drifted += one.By.Drifted
		c.By.Empty += one.By.Empty
		c.By.Underutilized += one.By.Underutilized
		c.By.Unhealthy += one.By.Unhealthy
		c.By.Expired += one.By.Expired
	}
}

// notReady lists the names of the nodes that count for a share as not ready, sorted.
func (l *ledger) notReady(s *share) []string {
	if s.counts.NotReady == 0 {
		return nil
	}
	var names []string
	for _, m := range l.cluster.Nodes {
		if budgets.Count([]budgets.NodeState{l.state[m.Name]}).NotReady > 0 && slices.Contains(l.of(m), s) {
			names = append(names, m.Name)
		}
	}
	return names
}
