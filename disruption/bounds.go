package disruption

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
)

// bound is a set of nodes with budgets: a NodePool or a budgets.Group.
type bound struct {
	name     string // as it is shown
	pools    []string
	labels   map[string]string
	each     string
	compiled *budgets.Compiled
	history  []budgets.Past
}

// readBounds compiles the budgets of pools, in the order of their names, and
// then those of groups.
func (f *Fleet) readBounds(faults *faultList) {
	for _, name := range f.poolNames {
		p := f.pools[name]
		spec := p.Spec.Disruption.Budgets
		if spec == nil {
			spec = []v1.Budget{{Nodes: v1.DefaultBudgetNodes}}
		}
		compiled, err := budgets.Compile(spec, f.opts.Policies[name])
		if err != nil {
			faults.budgets(name, err)
		}
		f.bounds = append(f.bounds, &bound{name: poolObject(name), pools: []string{name}, compiled: compiled, history: f.in.History[name]})
	}
	if _, err := budgets.NewGroups(f.opts.Groups); err != nil {
		faults.groups(err)
	}
	var all []budgets.Past
	for _, past := range f.in.History { // only the number within a stretch counts
		all = append(all, past...)
	}
	for _, g := range f.opts.Groups {
		compiled, _ := budgets.Compile(g.Budgets, g.Policy) // NewGroups has told what is wrong
		f.bounds = append(f.bounds, &bound{name: fmt.Sprintf("group %q", g.Name), pools: g.Pools, labels: g.Labels,
			each: g.Each, compiled: compiled, history: all})
	}
}

// budgets adds what is wrong with the budgets of a pool and with its policy, which
// is an option.
func (l *faultList) budgets(pool string, err error) {
	for _, e := range joined(err) {
		if fault, ok := e.(*field.Error); ok && strings.HasPrefix(fault.Field, "rules[") {
			l.split("Options", fmt.Sprintf("Policies[%q]", pool), e)
		} else {
			l.split(poolObject(pool), "spec.disruption", e)
		}
	}
}

// groups adds what is wrong with Options.Groups.
func (l *faultList) groups(err error) {
	for _, e := range joined(err) {
		if fault, ok := e.(*field.Error); ok {
			below := *fault
			below.Field = strings.TrimPrefix(fault.Field, "groups")
			e = &below
		}
		l.split("Options", "Groups", e)
	}
}

// share is a bound, or the part of one that is split by a label.
type share struct {
	*bound
	value  string
	counts budgets.Counts
}

func (s *share) String() string {
	if s.each == "" {
		return s.name
	}
	return fmt.Sprintf("%s, %s=%s", s.name, s.each, s.value)
}

// ledger says how many nodes of each share are on their way out.
type ledger struct {
	f      *Fleet
	shares map[shareKey]*share
	state  map[string]budgets.NodeState // by node
}

type shareKey struct {
	bound int
	value string
}

func (f *Fleet) newLedger() *ledger {
	l := &ledger{f: f, shares: map[shareKey]*share{}, state: map[string]budgets.NodeState{}}
	states := map[shareKey][]budgets.NodeState{}
	for _, m := range f.members {
		state := m.state(f.in.Underway[m.name])
		l.state[m.name] = state
		for i, b := range f.bounds {
			if key, ok := b.key(i, m); ok {
				states[key] = append(states[key], state)
			}
		}
	}
	for key, of := range states { // the order does not matter
		b := f.bounds[key.bound]
		s := &share{bound: b, value: key.value, counts: budgets.Count(of)}
		s.counts.History = slices.Clone(b.history)
		l.shares[key] = s
	}
	return l
}

// key is the share that a node belongs to, if it does.
func (b *bound) key(i int, m *member) (shareKey, bool) {
	if b.pools != nil && !slices.Contains(b.pools, m.poolName) {
		return shareKey{}, false
	}
	for key, value := range b.labels { // the order does not matter
		if have, found := m.labels[key]; !found || have != value {
			return shareKey{}, false
		}
	}
	if b.each == "" {
		return shareKey{bound: i}, true
	}
	return shareKey{i, m.labels[b.each]}, true
}

// of lists the shares that a node belongs to.
func (l *ledger) of(m *member) []*share {
	var out []*share
	for i, b := range l.f.bounds {
		if key, ok := b.key(i, m); ok {
			out = append(out, l.shares[key])
		}
	}
	return out
}

// counted reports whether a node has a part in counts.
func counted(s budgets.NodeState) bool { return budgets.Count([]budgets.NodeState{s}).Nodes == 1 }

// take counts a node as on its way out.
func (l *ledger) take(m *member, r Reason) {
	before := l.state[m.name]
	after := before
	after.Disrupting, after.Reason = true, r
	l.state[m.name] = after
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
		c.History = append(c.History, budgets.Past{At: l.f.now, Reason: r})
	}
}
