package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	karpenteroptions "sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

func generate(t *testing.T, spec family.Spec) *scenario.Scenario {
	t.Helper()
	s, err := family.Generate(spec)
	require.NoError(t, err)
	return s
}

// answer runs the program.
func answer(t *testing.T, s *scenario.Scenario, reps int) *scenario.Plan {
	t.Helper()
	dir := t.TempDir()
	c := settings{
		scenario: filepath.Join(dir, "s.json.gz"), plan: filepath.Join(dir, "p.json.gz"),
		reps: reps, cpuRequests: 1000, timeout: time.Minute,
	}
	require.NoError(t, scenario.WriteScenario(c.scenario, s))
	require.NoError(t, run(t.Context(), c))
	plan, err := scenario.ReadPlan(c.plan)
	require.NoError(t, err)
	return plan
}

// The plan names the release of Karpenter that the module file requires.
func TestTheContenderNamesItsRelease(t *testing.T) {
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "sigs.k8s.io/karpenter").Output()
	require.NoError(t, err)
	require.Equal(t, "karpenter "+strings.TrimSpace(string(version)), contender)
}

func TestPodsThatKeepApart(t *testing.T) {
	s := generate(t, family.Spec{Family: "diverse", Types: "fake20", Pods: 100, Seed: 1})
	var aloof []*corev1.Pod
	for _, p := range s.Pods {
		if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			aloof = append(aloof, p)
		}
	}
	s.Pods = aloof
	plan := answer(t, s, 2)
	require.Equal(t, contender, plan.Contender)
	require.Equal(t, s.Name, plan.Scenario)
	require.Len(t, plan.SolveSeconds, 2)
	require.Len(t, plan.SetupSeconds, 2)
	require.Len(t, plan.TruncateSeconds, 2)
	require.NotZero(t, plan.Allocs)
	require.Empty(t, plan.Errors)
	require.Len(t, plan.NewNodeClaims, 20)
	for _, c := range plan.NewNodeClaims {
		require.Len(t, c.Pods, 1)
		require.Equal(t, "fake-it-", c.InstanceTypes[0][:8])
		for _, r := range c.Requirements {
			require.NotContains(t, []string{"karpenter.sh/registered", "karpenter.sh/initialized", corev1.LabelHostname}, r.Key)
		}
	}
}

func TestExistingNodesDaemonsAndPodsLeft(t *testing.T) {
	s := generate(t, family.Spec{Family: "mixedexisting", Types: "aws", Pods: 40, Nodes: 8, Seed: 1})
	// Of no use to Karpenter: one that nothing can host, one that is not
	// its business.
	s.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "nowhere"}
	s.Pods[1].Status = corev1.PodStatus{Phase: corev1.PodSucceeded}
	plan := answer(t, s, 1)
	onNew, onExisting := plan.Placed()
	require.Equal(t, 40, onNew+onExisting+len(plan.Errors))
	require.Len(t, plan.Errors, 2)
	require.Contains(t, plan.Errors[scenario.PodKey(s.Pods[0])], "no instance type")
	require.Contains(t, plan.Errors[scenario.PodKey(s.Pods[1])], "not taken up")
	require.Positive(t, onExisting)
	for _, c := range plan.NewNodeClaims {
		require.NotEmpty(t, c.Labels["example.com/pool"])
	}
}

func TestATimeoutLeavesPods(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "fake20", Pods: 30, Seed: 1})
	control, err := newController(t.Context(), s, 1000)
	require.NoError(t, err)
	out := &scenario.Plan{Scenario: s.Name}
	require.NoError(t, control.repeat(time.Nanosecond, out))
	require.Len(t, out.Errors, 30)
	for _, reason := range out.Errors {
		require.Equal(t, "not reached before the timeout", reason)
	}
}

// The controller sees what the scenario has.
func TestTheCacheServesEveryKind(t *testing.T) {
	s := generate(t, family.Spec{Family: "mixedexisting", Types: "aws", Pods: 10, Nodes: 3, Seed: 1})
	control, err := newController(t.Context(), s, 1000)
	require.NoError(t, err)
	count := func(list client.ObjectList, options ...client.ListOption) int {
		require.NoError(t, control.kube.List(control.ctx, list, options...))
		switch l := list.(type) {
		case *corev1.PodList:
			return len(l.Items)
		case *corev1.NodeList:
			return len(l.Items)
		case *appsv1.DaemonSetList:
			return len(l.Items)
		case *corev1.NamespaceList:
			return len(l.Items)
		}
		return -1
	}
	require.Equal(t, 10, count(&corev1.PodList{}, client.MatchingFields{"spec.nodeName": ""}))
	require.Equal(t, len(s.Nodes[0].Pods), count(&corev1.PodList{}, client.MatchingFields{"spec.nodeName": s.Nodes[0].Name()}))
	require.Equal(t, 3, count(&corev1.NodeList{}))
	require.Equal(t, 5, count(&appsv1.DaemonSetList{}))
	require.Equal(t, len(s.Namespaces), count(&corev1.NamespaceList{}))
	require.Error(t, control.kube.Create(control.ctx, &corev1.Namespace{}), "there is nothing to write to")
	require.Less(t, control.clock.Since(s.Now).Abs(), time.Hour)
}

func TestSettingsReachTheScheduler(t *testing.T) {
	s := generate(t, family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	s.Options = scenario.Options{PreferencePolicy: "Ignore", MinValuesPolicy: "BestEffort"}
	flags, err := settingsOf(s, 5000)
	require.NoError(t, err)
	require.EqualValues(t, 5000, flags.CPURequests)
	require.Equal(t, karpenteroptions.PreferencePolicyIgnore, flags.PreferencePolicy)
	require.Equal(t, karpenteroptions.MinValuesPolicyBestEffort, flags.MinValuesPolicy)
	require.True(t, flags.IgnoreDRARequests)
	control, err := newController(t.Context(), s, 5000)
	require.NoError(t, err)
	require.Len(t, control.solverOptions(), 4)
	require.Positive(t, scheduling.MaxInstanceTypes)
}

func TestWhatCannotBeRun(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), settings{reps: 1, cpuRequests: 1}), "-scenario is required")
	require.ErrorContains(t, run(t.Context(), settings{scenario: "missing.json", reps: 1, cpuRequests: 1}), "missing.json")
	s := generate(t, family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	s.NodePools[0].Spec.Template.Spec.NodeClassRef = nil
	_, err := newController(t.Context(), s, 1000)
	require.ErrorContains(t, err, "nodeClassRef is missing")
	s = generate(t, family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	s.Options.PreferencePolicy = "No"
	_, err = newController(t.Context(), s, 1000)
	require.ErrorContains(t, err, strings.ToUpper("preference_policy"))
}
