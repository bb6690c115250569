package metrics

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// amounts are amounts of resources, as numbers.
type amounts map[corev1.ResourceName]float64

func (a amounts) add(l corev1.ResourceList) {
	for name, q := range l {
		a[name] += q.AsApproximateFloat64()
	}
}

func (a amounts) merge(b amounts) {
	for name, amount := range b {
		a[name] += amount
	}
}

func (a amounts) names() []corev1.ResourceName { return slices.Sorted(maps.Keys(a)) }

// resourceValue is a resource as a value of the label resource_type.
func resourceValue(r corev1.ResourceName) string {
	return strings.ReplaceAll(strings.ToLower(string(r)), "-", "_")
}

// reasonValue is a reason in lower case, as metrics about decisions and budgets have it.
func reasonValue(r string) string { return strings.ToLower(r) }

// snake is a word such as GarbageCollected in snake case.
func snake(word string) string {
	var b strings.Builder
	for i, r := range word {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// allowance is how many nodes a budget admits, or the most that Karpenter writes.
func allowance(a budgets.Allowance) int {
	if a.Unlimited {
		return math.MaxInt32
	}
	return a.Nodes
}
