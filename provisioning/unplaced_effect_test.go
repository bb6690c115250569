package provisioning_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// TestUnplacedPodsChangeLittle: a pod that has no place changes nothing for the others. Without the
// pods that a plan leaves over, all others have a place in 999 of 1,000 plans, and in 74 of 75 they
// cost no less.
func TestUnplacedPodsChangeLittle(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	problems, cheaper, left := 0, 0, 0
	for seed := range testlong.Problems(1500, 150) {
		in, opts := richProblem(seed, everything)
		in.Buffers = nil // they take the room of pods that are gone
		plan := solved(t, in, opts)
		if len(plan.Unplaced) == 0 {
			continue
		}
		problems++
		gone := map[*corev1.Pod]bool{}
		for _, u := range plan.Unplaced {
			gone[u.Pod] = true
		}
		in.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(pod *corev1.Pod) bool { return gone[pod] })
		without := solved(t, in, opts)
		if len(without.Unplaced) > 0 {
			left++
			continue
		}
		if without.Cost < plan.Cost*(1-1e-9) {
			cheaper++
		}
	}
	require.LessOrEqual(t, left*1000, problems)
	require.LessOrEqual(t, cheaper*75, problems)
}
