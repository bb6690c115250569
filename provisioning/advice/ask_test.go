package advice_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

func ask(t *testing.T, in provisioning.Input, opts *advice.Options) *advice.Report {
	r, err := advice.Ask(t.Context(), in, opts)
	require.NoError(t, err)
	return r
}

// TestALimitLeavesPodsPending: what finds pods a place comes before what saves money.
func TestALimitLeavesPodsPending(t *testing.T) {
	in := shop(t)
	in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: quantity("8")}
	r := ask(t, in, nil)
	require.Equal(t, 7, r.Pods)
	require.NotEmpty(t, r.Unplaced)
	require.Contains(t, r.Unplaced[0].Explanation.String(), "limit")
	first := r.Prices[0]
	require.Equal(t, advice.KindLimit, first.Constraints[0].Kind)
	require.Len(t, first.Placed, len(r.Unplaced))
	require.Negative(t, first.Saves)
	require.Contains(t, first.String(), "NodePool general: limit cpu=8: without it ")
	require.Contains(t, first.String(), " a place, for ")
}

// TestQuestionsAreShared: constraints that find pods a place leave room for those that save
// money.
func TestQuestionsAreShared(t *testing.T) {
	in := shop(t)
	for i := range 6 {
		p := pod(fmt.Sprintf("app%d", i), 0)
		p.Spec.NodeSelector = map[string]string{"no": "such"}
		in.Pods = append(in.Pods, p)
	}
	r := ask(t, in, &advice.Options{Questions: 4})
	require.Len(t, r.Unplaced, 6)
	require.Len(t, r.Prices, 4)
	for i, p := range r.Prices {
		require.Len(t, p.Placed, []int{1, 1, 0, 0}[i], "%s", p)
	}
	require.Contains(t, r.Prices[2].String(), "capacity-type")
	require.Contains(t, r.Prices[3].String(), "arch")
}

// TestRequestsThatMatter: what a pod requests is asked about first where less of it alone would
// find it a place, and not for the sake of a place where that needs something else.
func TestRequestsThatMatter(t *testing.T) {
	in := shop(t)
	large, both := pod("large", 0), pod("both", 0)
	large.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = quantity("9")
	both.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = quantity("9")
	both.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = quantity("900Gi")
	in.Pods = append(in.Pods, large, both)
	r := ask(t, in, &advice.Options{Questions: 6, MaxSteps: 4000}) // too few for further requests
	require.Len(t, r.Unplaced, 2)
	require.Equal(t, "Deployment shop/large: half of the request for cpu (1 pod)", r.Requests[0].Constraints[0].String())
	require.Equal(t, []string{"shop/large-6f7d-0"}, r.Requests[0].Placed)
	for _, p := range r.Requests[1:] {
		require.Equal(t, "Deployment shop/web", p.Constraints[0].Object)
	}
	require.Contains(t, strings.Join(texts(r.NotAsked), "\n"), "Deployment shop/both: half of the request for memory")
	// Where there are steps to spare each workload has an answer.
	r = ask(t, in, &advice.Options{Questions: 2})
	require.Len(t, r.Requests, 6)
	for _, c := range r.NotAsked {
		require.NotEqual(t, advice.KindRequest, c.Kind)
	}
}

// TestPairsPayTogether: a selector and a requirement on the same label cost nothing one by
// one, as each holds without the other.
func TestPairsPayTogether(t *testing.T) {
	in := shop(t)
	for _, p := range in.Pods {
		p.Spec.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	}
	r := ask(t, in, nil)
	for _, p := range r.Prices {
		require.NotContains(t, p.String(), v1.CapacityTypeLabelKey)
	}
	require.Len(t, r.Pairs, 1)
	require.Equal(t, []string{"NodePool general: requirement karpenter.sh/capacity-type In [on-demand]",
		"Deployment shop/web: nodeSelector karpenter.sh/capacity-type=on-demand (7 pods)"}, texts(r.Pairs[0].Constraints))
	require.Positive(t, r.Pairs[0].Saves)
	require.Contains(t, r.Pairs[0].String(), " less without both (")
}

// TestNeededConstraints: a taint of a pool may be all that keeps pods where they can be; a
// label that only a requirement gives to nodes is needed by the pods that select it.
func TestNeededConstraints(t *testing.T) {
	in := shop(t)
	spec := &in.NodePools[0].Spec.Template.Spec
	spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: "team", Operator: corev1.NodeSelectorOpIn, Values: []string{"shop"}})
	for _, p := range in.Pods {
		p.Spec.NodeSelector = map[string]string{"team": "shop"}
	}
	r := ask(t, in, nil)
	require.Equal(t, []string{"NodePool general: requirement team In [shop]"}, texts(r.Needed))
}

// TestWorkIsBounded: nothing but the input as it is is solved without steps, and what was
// not asked is said.
func TestWorkIsBounded(t *testing.T) {
	in := shop(t)
	r := ask(t, in, &advice.Options{MaxSteps: 1})
	require.Positive(t, r.Cost)
	require.Empty(t, r.Prices)
	require.Len(t, r.NotAsked, len(advice.Constraints(in)))
	full := ask(t, in, nil)
	require.Empty(t, full.NotAsked)
	require.Greater(t, full.Steps, r.Steps)
	few := ask(t, in, &advice.Options{Questions: 1})
	require.Len(t, few.Prices, 1)
	require.Equal(t, full.Prices[0], few.Prices[0])
	require.NotEmpty(t, few.NotAsked)
}

// TestOptionsAndInputsAtFault: all faults at once, and no report.
func TestOptionsAndInputsAtFault(t *testing.T) {
	_, err := advice.Ask(t.Context(), shop(t), &advice.Options{Questions: -1, MaxSteps: -2, Parallel: -3, Provisioning: &provisioning.Options{NodeFee: -1}})
	require.ErrorContains(t, err, "Options.Questions: -1 is below zero; zero means the default")
	require.ErrorContains(t, err, "Options.MaxSteps: -2 is below zero; zero means the default")
	require.ErrorContains(t, err, "Options.Parallel: -3 is below zero; zero means the default")
	require.ErrorContains(t, err, "NodeFee")

	in := shop(t)
	in.NodePools = append(in.NodePools, in.NodePools[0])
	_, err = advice.Ask(t.Context(), in, nil)
	require.ErrorContains(t, err, "general")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = advice.Ask(ctx, shop(t), nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = advice.Ask(t.Context(), provisioning.Input{}, nil)
	require.NoError(t, err)
}

// seeds is how many a law looks at by default, in the long run, and at all; under the race
// detector a fifth of those by default, as it is there for what is asked at once.
func seeds(few, many, all int) int {
	switch {
	case testlong.UnderRace:
		return max(1, few/5)
	case testlong.All():
		return all
	}
	return testlong.Seeds(few, many)
}

// TestLawTheReportIsOne: the report is the same for any order of the input, and however many
// questions are asked at once, wherever steps end; and the input is not written to.
func TestLawTheReportIsOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(2, 13, 40)) {
		in := randproblem.Draw(seed, randproblem.Config{})
		full := ask(t, in, &advice.Options{Questions: 4})
		require.Equal(t, full, ask(t, shuffled(in, seed), &advice.Options{Questions: 4}), "seed %d", seed)
		for _, steps := range []int{0, full.Steps / 3, full.Steps * 2 / 3} {
			one := full
			if steps > 0 {
				one = ask(t, in, &advice.Options{Questions: 4, MaxSteps: steps})
			}
			require.Equal(t, one, ask(t, in, &advice.Options{Questions: 4, MaxSteps: steps, Parallel: 3}), "seed %d, %d steps", seed, steps)
		}
		require.Equal(t, randproblem.Draw(seed, randproblem.Config{}), in, "seed %d", seed)
	}
}

// Whoever waits is told of the questions, up to the steps that the report has, and not of the
// plans that answer them.
func TestAskTellsHowFarItIs(t *testing.T) {
	var last progress.Event
	ctx := progress.With(context.Background(), func(e progress.Event) {
		assert.Equal(t, "advice.Ask", e.Work)
		assert.GreaterOrEqual(t, e.Done, last.Done)
		last = e
	})
	report, err := advice.Ask(ctx, shop(nil), nil)
	require.NoError(t, err)
	assert.Positive(t, last.Done)
	assert.LessOrEqual(t, last.Done, report.Steps)
}
