package drain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// allowance is a budget and how many more evictions it allows.
type allowance struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	health   podlife.Health
	left     int32
}

// key names the budget.
func key(b *policyv1.PodDisruptionBudget) string { return b.Namespace + "/" + b.Name }

// compile parses the selectors of the budgets, in the order of their names.
func (d *planner) compile(budgets []*policyv1.PodDisruptionBudget) {
	order := slices.Clone(budgets)
	slices.SortFunc(order, func(a, b *policyv1.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	d.budgets = map[string][]*allowance{}
	var errs []error
	for _, b := range order {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector) // nil selects none, an empty one all
		if err != nil {
			errs = append(errs, fmt.Errorf("budget %s: selector: %w; correct it, because it protects no pod", key(b), err))
			continue
		}
		d.budgets[b.Namespace] = append(d.budgets[b.Namespace], &allowance{b, selector, podlife.HealthOf(b), b.Status.DisruptionsAllowed})
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
			overlap = cmp.Or(overlap, key(by.PodDisruptionBudget)) + "," + key(b.PodDisruptionBudget)
		}
		by = b
	}
	switch {
	case by == nil:
		return "", ""
	case overlap != "":
		return BudgetsOverlap, overlap
	}
	_, counted := by.Status.DisruptedPods[p.Name]
	switch {
	case counted:
		return granted, key(by.PodDisruptionBudget)
	case !by.health.Protects(p.Ready):
		return "", ""
	case by.left <= 0:
		return BudgetSpent, key(by.PodDisruptionBudget)
	}
	by.left--
	return "", key(by.PodDisruptionBudget)
}
