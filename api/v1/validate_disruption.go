package v1

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (v *validator) disruption(path *field.Path, d *Disruption) {
	v.nillable(path.Child("consolidateAfter"), d.ConsolidateAfter)
	switch d.ConsolidationPolicy {
	case "", ConsolidationPolicyWhenEmpty, ConsolidationPolicyWhenEmptyOrUnderutilized, ConsolidationPolicyBalanced:
	default:
		v.add(field.NotSupported(path.Child("consolidationPolicy"), d.ConsolidationPolicy, []ConsolidationPolicy{
			ConsolidationPolicyBalanced, ConsolidationPolicyWhenEmpty, ConsolidationPolicyWhenEmptyOrUnderutilized,
		}))
	}
	budgets := path.Child("budgets")
	if len(d.Budgets) > maxBudgets {
		v.add(field.TooMany(budgets, len(d.Budgets), maxBudgets))
	}
	for i := range d.Budgets {
		v.faults = append(v.faults, d.Budgets[i].validate(budgets.Index(i))...)
	}
}

// Validate returns every fault of the budget alone, with paths relative to it,
// or nil. NodePool.Validate includes it. A nil budget is one fault.
func (b *Budget) Validate() field.ErrorList {
	return b.validate(nil)
}

func (b *Budget) validate(path *field.Path) field.ErrorList {
	if b == nil {
		return nilObject(path.Child("budget"))
	}
	v := newValidator(nil)
	v.reasons(path.Child("reasons"), b.Reasons)
	if b.Nodes != "" && !isBudgetNodes(b.Nodes) {
		v.add(field.Invalid(path.Child("nodes"), b.Nodes, `want a count such as "5" or a share from "0%" to "100%"`))
	}
	if b.Schedule != nil {
		if msg := checkSchedule(*b.Schedule); msg != "" {
			v.add(field.Invalid(path.Child("schedule"), *b.Schedule, msg))
		}
	}
	if b.Duration != nil && (b.Duration.Duration < 0 || b.Duration.Duration%time.Minute != 0) {
		v.add(field.Invalid(path.Child("duration"), b.Duration.Duration.String(), "want whole hours and minutes, not negative, such as 8h or 1h30m"))
	}
	switch {
	case b.Schedule != nil && b.Duration == nil:
		v.add(field.Required(path.Child("duration"), "a schedule opens a window, say for how long; or remove the schedule for a budget that always applies"))
	case b.Schedule == nil && b.Duration != nil:
		v.add(field.Required(path.Child("schedule"), "a duration needs the time at which it begins; or remove the duration for a budget that always applies"))
	}
	return v.faults
}

func (v *validator) reasons(path *field.Path, reasons []DisruptionReason) {
	if len(reasons) > maxReasonsPerBudget {
		v.add(field.TooMany(path, len(reasons), maxReasonsPerBudget))
	}
	for i, r := range reasons {
		if !slices.Contains(DisruptionReasons(), r) {
			v.add(field.NotSupported(path.Index(i), r, DisruptionReasons()))
		}
		if slices.Contains(reasons[:i], r) {
			v.add(duplicate(path.Index(i), r, "remove it, a reason counts once"))
		}
	}
}

// isBudgetNodes reports whether the text is a count or a percentage. The schema accepts counts of
// any length; a count that overflows an int could not be read later, so it is refused.
func isBudgetNodes(text string) bool {
	digits, percent := strings.CutSuffix(text, "%")
	if !isDigits(digits) {
		return false
	}
	if percent {
		return len(digits) <= 2 || digits == "100"
	}
	_, err := strconv.ParseInt(digits, 10, 64)
	return err == nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// capacity checks limits, weight and replicas, which depend on each other.
func (v *validator) capacity(path *field.Path, s *NodePoolSpec) {
	static := s.Replicas != nil
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		limit, at := s.Limits[name], path.Child("limits").Key(string(name))
		if static && name != ResourceNodes {
			v.add(field.Forbidden(at, "a static pool, with replicas, can only limit nodes; remove it"))
		} else if limit.Sign() < 0 {
			v.add(field.Invalid(at, limit.String(), "want 0 or more; 0 launches nothing"))
		}
	}
	v.weight(path.Child("weight"), s.Weight, maxPoolWeight)
	if static && s.Weight != nil {
		v.add(field.Forbidden(path.Child("weight"), "a static pool, with replicas, has no weight; remove it"))
	}
	if static && (*s.Replicas < 0 || *s.Replicas > math.MaxInt32) {
		v.add(field.Invalid(path.Child("replicas"), *s.Replicas, fmt.Sprintf("want 0 to %d", math.MaxInt32)))
	}
}

func (v *validator) weight(path *field.Path, weight *int32, limit int32) {
	if weight != nil && (*weight < 1 || *weight > limit) {
		v.add(field.Invalid(path, *weight, fmt.Sprintf("want 1 to %d; leave it out for the lowest weight, 0", limit)))
	}
}
