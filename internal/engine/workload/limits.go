package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
)

// Limit is a constraint.Limit with its selection numbered.
type Limit struct {
	Kind int // index in the list of package kinds
	Pods int // index of the selection
	Most int
}

// BoundLimits are the limits of running pods, by kind of pod.
type BoundLimits map[int32][]Limit

// Limits returns the distinct bounds that a pod sets to the number of pods on its node. The error
// joins all faults; then no limits are returned.
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
