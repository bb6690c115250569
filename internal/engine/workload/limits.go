package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
)

// Limit is a bound that a pod sets to the pods of its node: a constraint.Limit.
type Limit struct {
	Kind int // in the list of package kinds
	Pods int // index of the selection
	Most int
}

// BoundLimits are the limits of pods that run, by kind of pod.
type BoundLimits map[int32][]Limit

// Limits returns the bounds that a pod sets to the pods of its node, each once. The error
// says what is wrong with them, and then there are none.
func (r *TermReader) Limits(pod *corev1.Pod) ([]Limit, error) {
	list, err := kinds.Limits(pod)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := make([]Limit, len(list))
	for i, l := range list {
		out[i] = Limit{Kind: l.Kind, Pods: r.selection(l.Pods), Most: l.Most}
	}
	slices.SortFunc(out, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Pods, b.Pods), cmp.Compare(a.Most, b.Most))
	})
	return slices.Compact(out), nil
}
