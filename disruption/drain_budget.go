package disruption

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// key names the budget.
func (b *DrainBudget) key() string { return b.Namespace + "/" + b.Name }

// ObserveDrainBudget reads a PodDisruptionBudget. The selector is shared with
// the object. A nil budget gives the zero DrainBudget, which selects nothing.
func ObserveDrainBudget(b *policyv1.PodDisruptionBudget) DrainBudget {
	if b == nil {
		return DrainBudget{}
	}
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return DrainBudget{
		Namespace: b.Namespace, Name: b.Name, Selector: b.Spec.Selector,
		Allowed:     int(b.Status.DisruptionsAllowed),
		AlwaysAllow: policy != nil && *policy == policyv1.AlwaysAllow,
		Healthy:     int(b.Status.CurrentHealthy), Desired: int(b.Status.DesiredHealthy),
	}
}

// drainAllowance is a budget and what is left of it.
type drainAllowance struct {
	*DrainBudget
	selector labels.Selector
	left     int
}

// compile reads the selectors, budgets in order of their names.
func (d *drainer) compile(budgets []DrainBudget) {
	order := make([]*DrainBudget, len(budgets))
	for i := range budgets {
		order[i] = &budgets[i]
	}
	slices.SortFunc(order, func(a, b *DrainBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	d.budgets = map[string][]*drainAllowance{}
	for _, b := range order {
		selector, err := metav1.LabelSelectorAsSelector(b.Selector)
		if err != nil {
			d.plan.Faults = append(d.plan.Faults, fmt.Errorf("budget %s: selector: %w; mend it, for it protects no pod", b.key(), err))
			continue
		}
		d.budgets[b.Namespace] = append(d.budgets[b.Namespace], &drainAllowance{b, selector, b.Allowed})
	}
}

// spend takes an eviction off the budget of a pod, or says why that cannot be.
func (d *drainer) spend(p *DrainPod) (DrainCode, string) {
	if p.Phase == corev1.PodPending {
		return "", ""
	}
	var by *drainAllowance
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
		return DrainBudgetsOverlap, overlap
	case p.Ready != corev1.ConditionTrue && (by.AlwaysAllow || by.Desired > 0 && by.Healthy >= by.Desired):
		return "", "" // it is not one of the healthy ones that the budget keeps
	case by.left <= 0:
		return DrainBudgetSpent, by.key()
	}
	by.left--
	return "", by.key()
}
