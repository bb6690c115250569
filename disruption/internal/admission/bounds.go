package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// Bound is a set of nodes with disruption budgets: a NodePool or a budgets.Group.
type Bound struct {
	name     string // name for messages
	pools    []string
	labels   map[string]string
	each     string
	compiled *budgets.Compiled
}

// ReadBounds compiles the budgets of all pools, sorted by name, and then those of the groups.
func ReadBounds(f *state.Cluster, policies map[string]*budgets.Policy, groups []budgets.Group, faults *state.Faults) []*Bound {
	var out []*Bound
	for _, name := range f.PoolNames {
		p := f.Pools[name]
		spec := p.Spec.Disruption.Budgets
		if spec == nil {
			spec = []v1.Budget{{Nodes: v1.DefaultBudgetNodes}}
		}
		compiled, err := budgets.Compile(spec, policies[name])
		if err != nil {
			addBudgetFaults(faults, name, err)
		}
		out = append(out, &Bound{name: state.PoolObject(name), pools: []string{name}, compiled: compiled})
	}
	if err := budgets.ValidateGroups(groups); err != nil {
		addGroupFaults(faults, err)
	}
	for _, g := range groups {
		compiled, _ := budgets.Compile(g.Budgets, g.Policy) // ValidateGroups has reported its errors
		out = append(out, &Bound{name: fmt.Sprintf("group %q", g.Name), pools: g.Pools, labels: g.Labels,
			each: g.Each, compiled: compiled})
	}
	return out
}

// LetsGo reports whether a large fleet, none of whose nodes is on its way out, may give up any node
// now for a reason.
func (b *Bound) LetsGo(now time.Time, r budgets.Reason) bool {
	return b.compiled.Allow(now, budgets.Counts{Nodes: 1000}, r).Nodes > 0
}

// key returns the share of the i-th bound that a node belongs to, and false if it belongs to none.
func (b *Bound) key(i int, m *state.StateNode) (shareKey, bool) {
	if b.pools != nil && !slices.Contains(b.pools, m.PoolName) {
		return shareKey{}, false
	}
	for key, value := range b.labels { // the order does not matter
		if have, found := m.Labels[key]; !found || have != value {
			return shareKey{}, false
		}
	}
	if b.each == "" {
		return shareKey{bound: i}, true
	}
	return shareKey{i, m.Labels[b.each]}, true
}

// addBudgetFaults adds the faults of a pool's budgets and of its policy, which is an option.
func addBudgetFaults(l *state.Faults, pool string, err error) {
	for _, e := range state.Joined(err) {
		if fault, ok := e.(*field.Error); ok && strings.HasPrefix(fault.Field, "only[") {
			l.Split("Options", fmt.Sprintf("Policies[%q]", pool), e)
		} else {
			l.Split(state.PoolObject(pool), "spec.disruption", e)
		}
	}
}

// addGroupFaults adds the faults of Options.Groups.
func addGroupFaults(l *state.Faults, err error) {
	for _, e := range state.Joined(err) {
		if fault, ok := e.(*field.Error); ok {
			below := *fault
			below.Field = strings.TrimPrefix(fault.Field, "groups")
			e = &below
		}
		l.Split("Options", "Groups", e)
	}
}
