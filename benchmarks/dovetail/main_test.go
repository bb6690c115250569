package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func generate(t testing.TB, spec family.Spec) *scenario.Scenario {
	t.Helper()
	s, err := family.Generate(spec)
	require.NoError(t, err)
	return s
}

// answer runs the program.
func answer(t *testing.T, s *scenario.Scenario) *scenario.Plan {
	t.Helper()
	dir := t.TempDir()
	c := settings{
		scenario: filepath.Join(dir, "s.json.gz"), plan: filepath.Join(dir, "p.json.gz"),
		profile: filepath.Join(dir, "cpu"), reps: 2, verify: true,
	}
	require.NoError(t, scenario.WriteScenario(c.scenario, s))
	require.NoError(t, run(c))
	plan, err := scenario.ReadPlan(c.plan)
	require.NoError(t, err)
	return plan
}

func TestEveryPodIsAccountedFor(t *testing.T) {
	for _, spec := range []family.Spec{
		{Family: "generic", Types: "fake400", Pods: 60, Seed: 1},
		{Family: "mixedexisting", Types: "aws", Pods: 60, Nodes: 10, Seed: 1},
	} {
		s := generate(t, spec)
		plan := answer(t, s)
		require.Equal(t, s.Name, plan.Scenario)
		require.Len(t, plan.SolveSeconds, 2)
		require.Len(t, plan.SetupSeconds, 2)
		require.NotZero(t, plan.Allocs)
		onNew, onExisting := plan.Placed()
		require.Equal(t, len(s.Pods), onNew+onExisting+len(plan.Errors))
		require.Len(t, plan.PlacementOrder, onNew+onExisting)
		require.Empty(t, plan.Errors)
		require.Equal(t, spec.Nodes > 0, onExisting > 0)
		require.Greater(t, plan.Bound, 0.0)
	}
}

func TestReasonsOfPodsLeft(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "fake2", Pods: 3, Seed: 1})
	s.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "riscv"}
	plan := answer(t, s)
	require.Len(t, plan.Errors, 1)
	require.Contains(t, plan.Errors[scenario.PodKey(s.Pods[0])], "riscv")
}

// A claim promises that every combination of its types, zones and capacity
// types will do. Where the options of a node are not all combinations of
// anything, it has to promise less.
func TestClaimsPromiseOptionsOnly(t *testing.T) {
	s := generate(t, family.Spec{Family: "production", Types: "aws", Pods: 80, Seed: 4})
	for i := range s.InstanceTypes {
		for j := range s.InstanceTypes[i].Offerings {
			s.InstanceTypes[i].Offerings[j].Available = (i+j)%3 != 0
		}
	}
	in, err := snapshot.Input(s)
	require.NoError(t, err)
	problem, err := provisioning.Prepare(in, snapshot.Options(s))
	require.NoError(t, err)
	plan, err := problem.Solve(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, plan.Create)
	for i := range plan.Create {
		n := &plan.Create[i]
		options := map[cloudprovider.OfferingKey]bool{}
		for _, o := range n.Options {
			options[o.Key()] = true
		}
		c := claim(n)
		asked, err := requirements.FromRequirements(c.Requirements, in.Vocabulary)
		require.NoError(t, err)
		promised := 0
		for _, it := range in.InstanceTypes[n.Pool.Name] {
			for k := range it.Offerings {
				o := cloudprovider.LaunchOption{InstanceType: it, Offering: &it.Offerings[k]}
				if o.Offering.Launchable() && !asked.Intersect(o.Requirements()).Impossible() {
					require.True(t, options[o.Key()], "%s: %s", n.Name, o.Key())
					require.Contains(t, c.InstanceTypes, it.Name)
					promised++
				}
			}
		}
		require.Positive(t, promised, n.Name)
		require.Equal(t, n.Pool.Name, c.Labels[v1.NodePoolLabelKey])
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	require.ErrorContains(t, run(settings{reps: 1}), "-scenario is required")
	require.ErrorContains(t, run(settings{scenario: "x", reps: 0}), "-reps must be 1")
	require.ErrorContains(t, run(settings{scenario: "missing.json", reps: 1}), "missing.json")
}
