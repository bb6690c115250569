package provisioning_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

var update = flag.Bool("update", false, "write the outcome of scenarios into their files")

// TestScenarios tells the stories of testdata: what is declared there is
// solved, and the plan is shown as text. The notation is described in package
// internal/scenario. After an intended change run
//
//	go test ./provisioning -run TestScenarios -update
//
// and review the difference.
func TestScenarios(t *testing.T) {
	testlong.Alone(t)
	for _, file := range storyFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, f := storyOf(t, file)
			outcomes := make([]string, len(f.Cases))
			for i := range f.Cases {
				outcomes[i] = outcome(t, &f.Cases[i])
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(f.Update(outcomes)), 0o644))
				return
			}
			for i, c := range f.Cases {
				require.Equal(t, c.Want, outcomes[i], "%s: case %s", file, c.Title)
			}
			require.Equal(t, text, f.Update(outcomes), "the layout of the file is that of an update")
		})
	}
}

// TestScenariosShowEveryGivenUpCause: there is a story for each kind of preference, and for each
// reason why a plan gives one up.
func TestScenariosShowEveryGivenUpCause(t *testing.T) {
	text, err := os.ReadFile("testdata/soft.txt")
	require.NoError(t, err)
	for _, cause := range []provisioning.Cause{
		provisioning.GivenUpNoPods, provisioning.GivenUpExistingNodes, provisioning.GivenUpUnavailable, provisioning.GivenUpCost,
		provisioning.GivenUpOutweighed, provisioning.GivenUpNewNode, provisioning.GivenUpFewNodes, provisioning.GivenUpPlanCost,
		provisioning.GivenUpConstraints,
	} {
		require.Contains(t, string(text), " ("+string(cause)+")\n")
	}
}

// storyFiles are the files of scenarios.
func storyFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func storyOf(t testing.TB, file string) (text string, f *scenario.File) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err = scenario.Parse(string(data))
	require.NoError(t, err)
	return string(data), f
}

// TestScenariosShowEveryCause: there is a story for each reason why a pod may
// stay pending.
func TestScenariosShowEveryCause(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range storyFiles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			if causes, ok := strings.CutSuffix(line, ")"); ok && strings.HasPrefix(line, "pending ") {
				for _, cause := range strings.Split(causes[strings.LastIndexByte(causes, '(')+1:], ", ") {
					seen[cause] = true
				}
			}
		}
	}
	for _, cause := range []provisioning.Cause{
		provisioning.CauseUnsupported, provisioning.CauseInvalid, provisioning.CauseNoNodePool,
		provisioning.CauseNotReady, provisioning.CauseNoInstanceTypes, provisioning.CauseTaints,
		provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings,
		provisioning.CauseResources, provisioning.CauseMinValues, provisioning.CauseLimits,
		provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler,
		provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity,
		provisioning.CauseHostPorts, provisioning.CauseVolumes, provisioning.CauseDevices,
		provisioning.CauseReservations,
	} {
		require.True(t, seen[string(cause)], "no scenario shows %s", cause)
	}
}

// outcome solves a case and shows the plan. Whatever the story, the referee
// must agree, and the order in which things are told must not matter.
func outcome(t *testing.T, c *scenario.Case) string {
	t.Helper()
	in, opts := scenarioInput(c.World)
	text := solveText(t, in, opts, c.World.Show)
	slices.Reverse(in.NodePools)
	slices.Reverse(in.Nodes)
	slices.Reverse(in.Pods)
	slices.Reverse(in.DaemonSetPods)
	for _, types := range in.InstanceTypes {
		slices.Reverse(types)
	}
	require.Equal(t, text, solveText(t, in, opts, c.World.Show), "case %s: the reverse order of input gives another plan", c.Title)
	return text
}

func scenarioInput(w *scenario.World) (provisioning.Input, *provisioning.Options) {
	in := provisioning.Input{
		NodePools:     w.NodePools,
		InstanceTypes: w.InstanceTypes,
		Pods:          w.Pods,
		DaemonSetPods: w.DaemonSetPods,
		Namespaces:    w.Namespaces,
		Volumes:       provisioning.Volumes(w.Volumes),
		Devices: provisioning.Devices{
			Claims: w.Devices.Claims, Templates: w.Devices.Templates, Classes: w.Devices.Classes, Slices: w.Devices.Slices,
			Matcher: scenario.Matcher{},
		},
		Overlays:   w.Overlays,
		Services:   w.Services,
		Vocabulary: w.Vocabulary,
	}
	for _, n := range w.Nodes {
		in.Nodes = append(in.Nodes, provisioning.Node{Node: n.Node, NodeClaim: n.NodeClaim, Pods: n.Pods})
	}
	for _, c := range w.Controllers {
		in.Controllers = append(in.Controllers, provisioning.Controller(c))
	}
	for _, b := range w.Buffers {
		in.Buffers = append(in.Buffers, provisioning.Buffer{
			Namespace: b.Namespace, Name: b.Name, Template: b.Template, Replicas: b.Replicas,
		})
	}
	return in, scenarioOptions(&w.Options)
}

func scenarioOptions(o *scenario.Options) *provisioning.Options {
	opts := &provisioning.Options{
		MinValues:       provisioning.MinValuesPolicy(o.MinValues),
		MaxSteps:        o.MaxSteps,
		Preferences:     provisioning.PreferencePolicy(o.Preferences),
		PreferenceCost:  o.PreferenceCost,
		DefaultSpread:   o.DefaultSpread,
		SchedulerNames:  o.SchedulerNames,
		Reserved:        provisioning.ReservedPolicy(o.Reserved),
		NodeFee:         o.NodeFee,
		SpotFlexibility: o.SpotFlexibility,
		Kubernetes:      o.Kubernetes,
	}
	if o.CapacityMix != nil {
		mix := provisioning.CapacityMix(*o.CapacityMix)
		opts.CapacityMix = &mix
	}
	return opts
}

func solveText(t *testing.T, in provisioning.Input, opts *provisioning.Options, show map[string]bool) string {
	t.Helper()
	plan, err := provisioning.Solve(context.Background(), in, opts)
	if err != nil {
		return faultsText(err)
	}
	require.Empty(t, verify.Plan(in, plan, opts))
	require.Empty(t, verify.Unplaced(in, plan, opts))
	return planText(plan, show)
}
