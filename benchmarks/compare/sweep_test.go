package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
)

func TestSweepsHaveNodesPodsAndWishes(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(12) {
		s, err := family.Generate(sweepSpec(seed))
		require.NoError(t, err)
		require.NoError(t, s.Validate())
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		before := s.NodePools[0].DeepCopy()
		for _, w := range wishes() {
			without := *s
			without.NodePools, without.Pods = append(without.NodePools[:0:0], s.NodePools...), append(without.Pods[:0:0], s.Pods...)
			w.leaveOut(&without)
			require.NoError(t, without.Validate(), w.name)
		}
		require.Equal(t, before, s.NodePools[0], "the scenario stays as it was")
	}
	require.True(t, seen["constrained-30-aws-seed1"])
	require.True(t, seen["constrained-120-4nodes-aws-seed6"])
}

func TestSweepTellsOfWhatIsWorse(t *testing.T) {
	as := func(valid int, cost float64) verdict { return verdict{valid: valid, cost: cost} }
	var sum tally
	for _, c := range []struct {
		ours, them verdict
		want       string
	}{
		{as(5, 1.009), as(5, 1), ""},
		{as(5, 2), as(4, 1), ""},
		{as(5, 0.5), as(5, 1), ""},
		{as(4, 0.5), as(5, 1), "x: 4 pods at 0.5000, karpenter 5 at 1.0000: fewer\n"},
		{as(5, 1.5), as(5, 1), "x: 5 pods at 1.5000, karpenter 5 at 1.0000: dearer by 50.0%\n"},
		{verdict{valid: 5, cost: 1, broken: "a rule", overlooked: "a pod"}, as(5, 1),
			"x: 5 pods at 1.0000, karpenter 5 at 1.0000: faulty: a rule; has a place: a pod\n"},
	} {
		r := round{name: "x", ours: c.ours, them: c.them}
		require.Equal(t, c.want, r.text())
		sum.add(r)
	}
	require.Equal(t, `6 scenarios. Pods with a valid place: dovetail 29, karpenter 29; dovetail more on 1, fewer on 1.
As many on 4, for 4.01 and 4.00 USD/h (1.002); dovetail cheaper by more than 1% on 1, dearer on 1.
Plans at fault: dovetail 1, karpenter 0; pods left that have a place on 1.
`, sum.text())
}
