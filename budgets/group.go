package budgets

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Group is a set of nodes of any pools with its own budgets. Package disruption counts its nodes
// and applies the budgets: see its Options.Groups.
type Group struct {
	// Name identifies the group in decisions. Required, unique.
	Name string
	// Pools are the NodePools whose nodes belong to the group. Nil is all.
	Pools []string
	// Labels are the labels that a node of the group must have. Nil requires none.
	Labels map[string]string
	// Each is a label key, such as topology.kubernetes.io/zone, by whose value the group is split:
	// the budgets apply to each part separately. Nodes without the label are one part. Empty does
	// not split.
	Each string
	// Budgets and Policy bound the group like a pool. An empty list of budgets means no bound.
	Budgets []v1.Budget
	Policy  *Policy
}

// ValidateGroups returns an error with every fault of groups and their budgets, or nil.
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

// selectionFaults returns the faults of a group's selectors that can match no node.
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
