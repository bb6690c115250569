package drain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// key names the budget.
func (b *Budget) key() string { return b.Namespace + "/" + b.Name }

// ObserveBudget reads a PodDisruptionBudget. The selector is shared with the object. For a nil
// budget it returns the zero Budget, which selects nothing.
func ObserveBudget(b *policyv1.PodDisruptionBudget) Budget {
	if b == nil {
		return Budget{}
	}
	health := podlife.HealthOf(b)
	return Budget{
		Namespace: b.Namespace, Name: b.Name, Selector: b.Spec.Selector,
		Allowed:     int(b.Status.DisruptionsAllowed),
		AlwaysAllow: health.AlwaysAllow, Healthy: health.Healthy, Desired: health.Desired,
		Granted: slices.Sorted(maps.Keys(b.Status.DisruptedPods)),
	}
}

// allowance is a budget and how many more evictions it allows.
type allowance struct {
	*Budget
	selector labels.Selector
	health   podlife.Health
	left     int
}

// compile parses the selectors of the budgets, in the order of their names.
func (d *planner) compile(budgets []Budget) {
	order := make([]*Budget, len(budgets))
	for i := range budgets {
		order[i] = &budgets[i]
	}
	slices.SortFunc(order, func(a, b *Budget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	d.budgets = map[string][]*allowance{}
	var errs []error
	for _, b := range order {
		selector, err := metav1.LabelSelectorAsSelector(b.Selector)
		if err != nil {
			errs = append(errs, fmt.Errorf("budget %s: selector: %w; correct it, because it protects no pod", b.key(), err))
			continue
		}
		d.budgets[b.Namespace] = append(d.budgets[b.Namespace], &allowance{b, selector, podlife.Health{AlwaysAllow: b.AlwaysAllow, Healthy: b.Healthy, Desired: b.Desired}, b.Allowed})
	}
	d.plan.Faults = errors.Join(errs...)
}

// granted means that the budget has already counted the eviction of a pod.
const granted Code = "granted"

// spend counts an eviction against the budget of a pod, or returns why it is not allowed.
func (d *planner) spend(p *Pod) (Code, string) {
	if !podlife.Budgeted(p.Phase) {
		return "", ""
	}
	var by *allowance
	overlap := ""
	for _, b := range d.budgets[p.Namespace] {
		if !b.selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		if by != nil {
			overlap = cmp.Or(overlap, by.key()) + "," + b.key()
		}
		by = b
	}
	switch {
	case by == nil:
		return "", ""
	case overlap != "":
		return BudgetsOverlap, overlap
	case slices.Contains(by.Granted, p.Name):
		return granted, by.key()
	case !by.health.Protects(p.Ready):
		return "", ""
	case by.left <= 0:
		return BudgetSpent, by.key()
	}
	by.left--
	return "", by.key()
}
