package budgets

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Group is a set of nodes with budgets of its own, whatever pools they belong
// to. Package disruption counts its nodes and holds them to the budgets: see its
// Options.Groups.
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

// ValidateGroups lists every fault of groups, those of their budgets included,
// or returns nil.
func ValidateGroups(list []Group) error {
	var faults field.ErrorList
	for i, one := range list {
		path := field.NewPath("groups").Index(i)
		if one.Name == "" {
			faults = append(faults, field.Required(path.Child("name"), "decisions name the group that blocks"))
		} else if slices.ContainsFunc(list[:i], func(o Group) bool { return o.Name == one.Name }) {
			faults = append(faults, field.Duplicate(path.Child("name"), one.Name))
		}
		faults = append(faults, one.selectionFaults(path)...)
		_, more := compile(one.Budgets, one.Policy)
		for _, f := range more {
			f.Field = path.String() + "." + f.Field
		}
		faults = append(faults, more...)
	}
	return faults.ToAggregate() // which is nil without faults
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
