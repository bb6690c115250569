package budgets

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Group is a set of nodes with budgets of its own, whatever pools they belong
// to.
type Group struct {
	// Name tells the group apart in decisions. Required, unique.
	Name string
	// Pools are the NodePools whose nodes belong to the group. Nil is all.
	Pools []string
	// Labels are those that a node must have to belong to it. Nil asks for
	// none.
	Labels map[string]string
	// Each is a label key, such as topology.kubernetes.io/zone, by whose value
	// the group is split: each part has the budgets to itself. Nodes without
	// the label are one part. Empty does not split.
	Each string
	// Budgets and Policy bound the group as they would a pool. An empty list
	// of budgets is no bound.
	Budgets []v1.Budget
	Policy  *Policy
}

// Node is a node as groups see it.
type Node struct {
	// Name tells nodes apart.
	Name string
	// Pool is its NodePool.
	Pool string
	// Labels are its labels.
	Labels map[string]string
	// NodeState says how it counts.
	NodeState
}

// Groups decides about nodes that belong to several groups. It does not change
// and may be used from many goroutines.
type Groups struct{ groups []group }

type group struct {
	name     string
	pools    []string
	labels   map[string]string
	each     string
	compiled *Compiled
}

// NewGroups reads groups. Nothing given is kept. As with Compile the result can
// always be used, and budgets with a fault block; the error lists all faults. A
// plain NodePool is a group of that one pool.
func NewGroups(list []Group) (*Groups, error) {
	g := &Groups{}
	var faults field.ErrorList
	for i, one := range list {
		path := field.NewPath("groups").Index(i)
		if one.Name == "" {
			faults = append(faults, field.Required(path.Child("name"), "decisions name the group that blocks"))
		} else if slices.ContainsFunc(list[:i], func(o Group) bool { return o.Name == one.Name }) {
			faults = append(faults, field.Duplicate(path.Child("name"), one.Name))
		}
		faults = append(faults, one.selectionFaults(path)...)
		compiled, more := compile(one.Budgets, one.Policy, true)
		for _, f := range more {
			f.Field = path.String() + "." + f.Field
		}
		faults = append(faults, more...)
		made := group{name: one.Name, pools: slices.Clone(one.Pools), each: one.Each, compiled: compiled, labels: map[string]string{}}
		for key, value := range one.Labels {
			made.labels[key] = value
		}
		g.groups = append(g.groups, made)
	}
	if len(faults) > 0 {
		return g, faults.ToAggregate()
	}
	return g, nil
}

// selectionFaults says what of a group can select no node that exists.
func (g *Group) selectionFaults(path *field.Path) (faults field.ErrorList) {
	for i, pool := range g.Pools {
		if pool == "" {
			faults = append(faults, field.Required(path.Child("pools").Index(i), "name a NodePool, or remove the entry"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
		for _, why := range validation.IsQualifiedName(key) {
			faults = append(faults, field.Invalid(path.Child("labels"), key, "not a label key: "+why))
		}
		for _, why := range validation.IsValidLabelValue(g.Labels[key]) {
			faults = append(faults, field.Invalid(path.Child("labels").Key(key), g.Labels[key], "not a label value: "+why))
		}
	}
	if g.Each != "" {
		for _, why := range validation.IsQualifiedName(g.Each) {
			faults = append(faults, field.Invalid(path.Child("each"), g.Each, "not a label key: "+why))
		}
	}
	return faults
}

// Decision is whether one candidate may be disrupted.
type Decision struct {
	// Node is its name.
	Node string
	// Allowed is whether it may be disrupted now, together with the candidates
	// before it that may.
	Allowed bool
	// Group is the name of the first group that says no, with the value of its
	// label, such as zones[eu-west-1a], if it is split. Empty if Allowed, or if
	// there is no such node.
	Group string
	// Allowance is what that group says, with Nodes 0. If Allowed it is zero.
	Allowance Allowance
}

// part is a group, or a part of one that is split.
type part struct {
	group *group
	value string // of the label that splits it
	count Counts
	left  int // how many more nodes
	last  Allowance
}

// Admit decides about candidates, by name and in their order of preference, as
// many as the groups let. A candidate is allowed if every group that it belongs
// to has a node left for it, and then takes one from each. Nodes are all nodes
// there are, candidates included; history is what Rate looks at, for all groups
// alike. A candidate that is not among the nodes, or that is given a second
// time, or that does not count or is disrupted already, is not allowed.
func (g *Groups) Admit(now time.Time, nodes []Node, history []Past, candidates []string, r Reason) []Decision {
	byName := make(map[string]*Node, len(nodes))
	index := make(map[partKey]*part)
	states := make(map[partKey][]NodeState)
	for i := range nodes {
		n := &nodes[i]
		byName[n.Name] = n
		for j := range g.groups {
			if key, ok := g.key(j, n); ok {
				states[key] = append(states[key], n.NodeState)
			}
		}
	}
	for key, of := range states { // the order does not matter
		p := &part{group: &g.groups[key.group], value: key.value, count: Count(of)}
		p.count.History = history
		p.last = p.group.compiled.Allow(now, p.count, r)
		p.left = p.last.Nodes
		index[key] = p
	}
	decisions := make([]Decision, len(candidates))
	for i, name := range candidates {
		decisions[i] = Decision{Node: name}
		if n := byName[name]; n != nil && !n.Disrupting && Count([]NodeState{n.NodeState}).Nodes == 1 {
			g.decide(&decisions[i], n, index)
			delete(byName, name)
		}
	}
	return decisions
}

// partKey names a part.
type partKey struct {
	group int
	value string
}

// key is the part of a group that a node belongs to, if it does.
func (g *Groups) key(i int, n *Node) (partKey, bool) {
	of := &g.groups[i]
	if of.pools != nil && !slices.Contains(of.pools, n.Pool) {
		return partKey{}, false
	}
	for key, value := range of.labels { // the order does not matter
		if have, ok := n.Labels[key]; !ok || have != value {
			return partKey{}, false
		}
	}
	if of.each == "" {
		return partKey{group: i}, true
	}
	return partKey{i, n.Labels[of.each]}, true
}

func (g *Groups) decide(d *Decision, n *Node, index map[partKey]*part) {
	var parts []*part
	for i := range g.groups {
		key, ok := g.key(i, n)
		if !ok {
			continue
		}
		p := index[key]
		if p.left == 0 {
			d.Group, d.Allowance = p.group.name, p.last
			d.Allowance.Nodes = 0
			if p.group.each != "" {
				d.Group = fmt.Sprintf("%s[%s]", p.group.name, p.value)
			}
			return
		}
		parts = append(parts, p)
	}
	d.Allowed = true
	for _, p := range parts {
		p.left--
	}
}
