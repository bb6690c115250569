package provisioning_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// exceptions is how many of a hundred problems may break one of the laws about pods
// that are left over: domains are assigned class by class, and which domains count
// depends on all that was tried.
const exceptions = 1

// TestLawLeftOver is about problems in which pods are left over. Taking the pods of
// lower priority away places no more of the others. Without preferences, and with
// Quick, no more are placed. And without a pod that has no place even by itself, no
// more of the others have one.
func TestLawLeftOver(t *testing.T) {
	t.Parallel()
	seeds := lawSeeds(400, 60)
	var broken []string
	compared := 0
	for seed := range seeds {
		in, opts := richProblem(seed, everything)
		plan := solved(t, in, opts)
		if len(plan.Unplaced) == 0 {
			continue
		}
		expect := func(law string, least int32, other provisioning.Input, with *provisioning.Options) {
			listed := map[*corev1.Pod]bool{}
			for _, pod := range other.Pods {
				listed[pod] = true
			}
			compared++
			got, want := leftOver(plan, least, listed), leftOver(solved(t, other, with), least, listed)
			if slices.Compare(got, want) > 0 {
				broken = append(broken, fmt.Sprintf("seed %d: %s: priorities left are %v, could be %v", seed, law, got, want))
			}
		}
		for _, least := range prioritiesOf(in.Pods) {
			expect("without lower priorities", least, without(in, func(p *corev1.Pod) bool { return priority(p) < least }), opts)
		}
		plain, quick := *opts, *opts
		plain.Preferences, quick.Quick = provisioning.Ignore, true
		expect("without preferences", math.MinInt32, in, &plain)
		expect("quick", math.MinInt32, in, &quick)
		if u := plan.Unplaced[int(seed)%len(plan.Unplaced)].Pod; len(solved(t, without(in, func(p *corev1.Pod) bool { return p != u }), opts).Unplaced) > 0 {
			expect("without "+u.Name, math.MinInt32, without(in, func(p *corev1.Pod) bool { return p == u }), opts)
		}
	}
	require.Greater(t, compared, int(seeds))
	require.LessOrEqual(t, len(broken), exceptions*int(seeds)/100, "%v", broken)
}

// without returns an input without some of its pods.
func without(in provisioning.Input, gone func(*corev1.Pod) bool) provisioning.Input {
	in.Pods = slices.DeleteFunc(slices.Clone(in.Pods), gone)
	return in
}

// leftOver lists the priorities of those pods that a plan leaves over, highest first,
// down to the least.
func leftOver(plan *provisioning.Plan, least int32, of map[*corev1.Pod]bool) []int32 {
	var out []int32
	for _, u := range plan.Unplaced {
		if of[u.Pod] && priority(u.Pod) >= least {
			out = append(out, priority(u.Pod))
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// prioritiesOf lists the priorities of pods, but for the lowest.
func prioritiesOf(pods []*corev1.Pod) []int32 {
	var out []int32
	for _, pod := range pods {
		out = append(out, priority(pod))
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return nil
	}
	return out[1:]
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// TestLooksForRoomAreShared: pods for which no others can make room do not spend all the
// looks, and those that come after them in the order get theirs.
func TestLooksForRoomAreShared(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	for seed, left := range map[uint64]int{449: 49, 1011: 43, 3168: 28} { // one to three more each before
		in, opts := richProblem(seed, everything)
		opts.Kubernetes = "1.37"
		require.LessOrEqual(t, len(solved(t, in, opts).Unplaced), left, "seed %d", seed)
	}
}

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

// TestFiltersAgree: the options that explanations read for a pod alone are those that the packer gets,
// and existing nodes that admit a pod with the pods that run there admit it without them.
func TestFiltersAgree(t *testing.T) {
	t.Parallel()
	seeds, compared, excluded := 0, 0, 0
	for seed := range testlong.Problems(4000, 100) {
		seeds++
		in, opts := richProblem(seed, everything)
		p := problemOf(t, in, opts, "seed %d", seed)
		p.CompareFilters(func(class, pool int, explained, packed []int) {
			require.Equal(t, packed, explained, "seed %d: class %d, pool %d", seed, class, pool)
			compared += len(packed)
		}, func(class int, node, cause string, admits bool) {
			require.True(t, admits || cause != "", "seed %d: class %d, node %s", seed, class, node)
			if !admits {
				excluded++
			}
		})
	}
	require.Greater(t, compared, 10*seeds)
	require.Greater(t, excluded, seeds)
}
