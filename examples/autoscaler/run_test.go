package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/disruption"
	commands "github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func call(args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	code = run(args, &out, &complaints)
	return code, out.String(), complaints.String()
}

// TestSeedDecides: another seed is another story, and the same seed the same, to the byte and
// within 80 columns.
func TestSeedDecides(t *testing.T) {
	if testlong.UnderRace {
		t.Skip("TestStory plays the same")
	}
	_, first, _ := call("-hours", "1", "-v")
	code, other, stderr := call("-hours", "1", "-v", "-seed", "3")
	require.Equal(t, command.OK, code, stderr)
	require.Empty(t, stderr)
	golden.Equal(t, other, "golden", "verbose.txt")
	output.Fits(t, other)
	require.NotEqual(t, first, other)
}

func TestFlags(t *testing.T) {
	for _, row := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-h"}, command.OK, "usage: ", ""},
		{[]string{"-hours", "0", "now"}, command.BadInput, "", "autoscaler: unexpected argument \"now\"\nautoscaler: invalid value 0 for flag -hours: must be 1 to 336\n\nautoscaler -h lists the flags.\n"},
		{[]string{"-seed", "x"}, command.BadInput, "", "autoscaler: invalid value \"x\" for flag -seed: must be a whole number, 0 or more\n\nautoscaler -h lists the flags.\n"},
		{[]string{"-html", filepath.Join("none", "report.html")}, command.BadInput, "", "none/report.html\" for flag -html: there is no such directory\n\nautoscaler -h lists the flags.\n"},
		{[]string{"-hours", "1", "-html", "."}, command.Failed, "TIMELINE", "is a directory"},
	} {
		code, stdout, stderr := call(row.args...)
		require.Equal(t, row.code, code, row.args)
		require.Contains(t, stdout, row.stdout)
		require.Contains(t, stderr, row.stderr)
	}
}

// TestStory plays all of it, and looks every ten minutes at what must always hold.
func TestStory(t *testing.T) {
	t.Parallel()
	hours := 48
	if testlong.UnderRace || !testlong.On() {
		hours = 4
	}
	var out bytes.Buffer
	s, err := newSimulation(1, &out, false)
	require.NoError(t, err)
	for length := 10 * time.Minute; length <= time.Duration(hours)*time.Hour; length += 10 * time.Minute {
		require.NoError(t, s.play(t.Context(), length))
		checkCluster(t, s)
	}
	r := s.report(settings{hours: hours, seed: 1})
	output.Fits(t, out.String())
	output.Fits(t, r.text())
	for _, e := range s.journal.entries {
		if e.kind == trouble {
			require.True(t, expected(e.text), "%s %s", e.at.Format(time.DateTime), e.text)
		}
	}
	require.Less(t, s.cluster.Quantile(50), 2*time.Minute)
	require.Less(t, s.cluster.Quantile(99), 75*time.Minute, "nothing is launched for an hour, and then there is much to catch up with")
	for _, v := range s.history.samples {
		require.LessOrEqual(t, v.bound, v.cost, "%s: what runs is a plan for the pods that run, so the bound is below it", v.at.Format(time.DateTime))
	}
	require.Greater(t, r.cost, r.least, "the bound is one")
	require.Zero(t, s.history.waiting)
	require.NotZero(t, r.total(disruption.Empty))
	if hours < 48 {
		return
	}
	require.NotZero(t, r.total(disruption.Underutilized))
	require.Less(t, r.cost, 2*r.least)
	require.Zero(t, s.cluster.Lost, "two minutes are enough to drain a node")
	require.NotZero(t, r.total(disruption.Interrupted))
	require.NotZero(t, r.total(disruption.Drifted))
	require.NotZero(t, s.journal.refusals)
	require.Contains(t, out.String(), "the provider panicked")
	for _, claim := range s.cluster.Claims.All() {
		if claim.Status.ProviderID != "" {
			require.Equal(t, "image-2", claim.Status.ImageID, "the image was rolled out")
		}
	}
}

// expected says whether a text is about one of the troubles that the events cause.
func expected(text string) bool {
	for _, part := range []string{"(Interrupted)", "the answer was lost", "refused for want of capacity", "the provider panicked", "(LaunchTimeout)", "replacement-lost", "timed-out", "stays pending"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// checkCluster holds that no node is overfull, and that machines and NodeClaims
// belong together.
func checkCluster(t *testing.T, s *simulation) {
	t.Helper()
	c := s.cluster
	pods := c.PodsByNode()
	for _, n := range c.Nodes.All() {
		used := resources.List{}
		for _, p := range pods[n.Name] {
			requests, err := resources.PodRequests(p)
			require.NoError(t, err)
			used, err = used.Add(requests)
			require.NoError(t, err)
		}
		allocatable, err := resources.FromResourceList(n.Status.Allocatable)
		require.NoError(t, err)
		require.True(t, used.Fits(allocatable), "%s: %s of %s", n.Name, used, allocatable)
	}
	claimed := map[string]bool{}
	for _, claim := range c.Claims.All() {
		require.False(t, claimed[claim.Status.ProviderID] && claim.Status.ProviderID != "", "two NodeClaims have the machine %s", claim.Status.ProviderID)
		claimed[claim.Status.ProviderID] = true
		require.NotEmpty(t, claim.Labels[v1.NodePoolLabelKey])
	}
	machines, err := c.Cloud.List(t.Context())
	require.NoError(t, err)
	for _, m := range machines {
		if !m.Deleting && c.Now().Sub(m.CreatedAt) > 10*time.Minute {
			require.True(t, claimed[m.ID], "%s has no NodeClaim", m.ID)
		}
	}
}

// TestMachineWithoutNode launches a machine that never joins: it is given up, and
// its pods get another one.
func TestMachineWithoutNode(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	require.NoError(t, s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Nth: 1, Err: fake.ErrStalled}))
	require.NoError(t, s.play(t.Context(), 40*time.Minute))
	require.Contains(t, out.String(), fmt.Sprintf("(%s)", disruption.RegistrationTimeout))
	require.Zero(t, s.history.waiting)
	checkCluster(t, s)
}

// underway returns the commands that stand in the objects.
func underway(t *testing.T, s *simulation) []commands.Command {
	f, err := s.autoscaler.Read()
	require.NoError(t, err)
	return f.Commands.Commands
}

// TestRestart restarts the autoscaler at every moment of the life of its first
// commands: nothing is left behind, and everything has a place in the end.
func TestRestart(t *testing.T) {
	t.Parallel()
	waits := []time.Duration{0, tick, 30 * time.Second, time.Minute, 90 * time.Second, 2 * time.Minute}
	if testlong.UnderRace || !testlong.On() {
		waits = waits[:1]
	}
	for _, wait := range waits {
		var out bytes.Buffer
		s, err := newSimulation(1, &out, true)
		require.NoError(t, err)
		s.events = nil
		length := 5 * time.Minute
		require.NoError(t, s.play(t.Context(), length))
		require.NoError(t, s.cluster.Cloud.Do(fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}}))
		for len(underway(t, s)) == 0 {
			length += tick
			require.NoError(t, s.play(t.Context(), length))
		}
		require.NoError(t, s.play(t.Context(), length+wait))
		require.NoError(t, s.Restart())
		require.NoError(t, s.play(t.Context(), length+time.Hour))
		checkCluster(t, s)
		undone := strings.Count(out.String(), "undoing the command")
		require.Equal(t, strings.Count(out.String(), string(commands.ReplacementLost)), undone, "what it launches is in its record; only the cloud takes a replacement back")
		require.Empty(t, underway(t, s))
		require.Zero(t, s.history.waiting)
		for _, claim := range s.cluster.Claims.All() {
			require.Empty(t, claim.Annotations[commands.AnnotationKey], claim.Name)
			require.Equal(t, "image-2", claim.Status.ImageID, claim.Name)
		}
		for _, n := range s.cluster.Nodes.All() {
			for _, taint := range n.Spec.Taints {
				require.Equal(t, v1.DeletionCandidateTaintKey, taint.Key, n.Name)
			}
		}
	}
}

// TestRestartBeforeLaunch restarts the autoscaler while the cloud turns its launches
// away: the next one launches the same NodeClaims, for what they say is enough.
func TestRestartBeforeLaunch(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	require.NoError(t, s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Until: 2 * time.Minute, Err: cloudprovider.ErrThrottled}))
	require.NoError(t, s.play(t.Context(), 90*time.Second))
	var names []string
	for _, claim := range s.cluster.Claims.All() {
		require.Empty(t, claim.Status.ProviderID)
		names = append(names, claim.Name)
	}
	require.NotEmpty(t, names)
	require.NoError(t, s.Restart())
	require.NoError(t, s.play(t.Context(), 8*time.Minute))
	for _, name := range names {
		claim, ok := s.cluster.Claims.Get(name)
		require.True(t, ok, name)
		require.True(t, meta.IsStatusConditionTrue(claim.Status.Conditions, v1.ConditionTypeReady), name)
	}
	require.NotContains(t, out.String(), string(disruption.LaunchTimeout))
	require.Zero(t, s.history.waiting)
	checkCluster(t, s)
}

// TestMaintenanceInCommand announces the end of all machines that a command has to
// do with: none of them waits for the command, and no pod goes down with one.
func TestMaintenanceInCommand(t *testing.T) {
	t.Parallel()
	s, err := newSimulation(1, io.Discard, false)
	require.NoError(t, err)
	s.events = nil
	length := 5 * time.Minute
	require.NoError(t, s.play(t.Context(), length))
	require.NoError(t, s.cluster.Cloud.Do(fake.Action{Image: fake.Image{ID: "image-2", Architecture: "x86_64"}}))
	launching := func() bool {
		for _, c := range underway(t, s) {
			if _, there := s.cluster.Claims.Get(c.Replacements[0].Token); there {
				return true
			}
		}
		return false
	}
	for !launching() {
		length += tick
		require.NoError(t, s.play(t.Context(), length))
	}
	length += 30 * time.Second // the replacement is being launched
	require.NoError(t, s.play(t.Context(), length))
	var target fake.Target
	for _, claim := range s.cluster.Claims.All() {
		if claim.Annotations[commands.AnnotationKey] != "" && claim.Status.ProviderID != "" {
			target.Instances = append(target.Instances, claim.Status.ProviderID)
		}
	}
	require.GreaterOrEqual(t, len(target.Instances), 2)
	require.NoError(t, s.cluster.Cloud.Do(fake.Action{Target: target, Notice: cloudprovider.InterruptionMaintenance, Warning: 2 * time.Minute}))
	require.NoError(t, s.play(t.Context(), length+20*time.Minute))
	checkCluster(t, s)
	require.Zero(t, s.cluster.Lost)
	require.Zero(t, s.history.waiting)
}

// TestDue has launches fail for good. A NodeClaim is given up in the turn of the
// loop in which its time is over, and not at the next look at the fleet.
func TestDue(t *testing.T) {
	s, err := newSimulation(1, io.Discard, false)
	require.NoError(t, err)
	s.events = nil
	require.NoError(t, s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Err: errors.New("out of order")}))
	created := map[string]time.Time{}
	for length := tick; length <= 25*time.Minute; length += tick {
		require.NoError(t, s.play(t.Context(), length))
		now := s.cluster.Now()
		for _, claim := range s.cluster.Claims.All() {
			created[claim.Name] = claim.CreationTimestamp.Time
		}
		for name, since := range created {
			if _, there := s.cluster.Claims.Get(name); !there {
				require.InDelta(t, (5 * time.Minute).Seconds(), now.Sub(since).Seconds(), 2*tick.Seconds(), name)
				delete(created, name)
			}
		}
	}
	given := 0
	for _, d := range s.journal.disruptions {
		require.Equal(t, disruption.LaunchTimeout, d.reason)
		given += d.nodes
	}
	require.GreaterOrEqual(t, given, 3*len(s.cluster.Claims.All()))
	require.NotZero(t, given)
}

// broken panics in every call: the provider in it is nil.
type broken struct {
	cloudprovider.CloudProvider
	cloudprovider.DriftDetector
	cloudprovider.InterruptionSource
	cloudprovider.InterruptionAcknowledger
}

// TestLoopSurvivesPanics plays with a provider that panics in every call for its
// first ten minutes: nothing comes up, and then everything does.
func TestLoopSurvivesPanics(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	cloud := s.autoscaler.Cloud
	s.autoscaler.Cloud = guard.New(broken{})
	require.NoError(t, s.play(t.Context(), 10*time.Minute))
	require.Contains(t, out.String(), "the provider panicked: ")
	require.Empty(t, s.cluster.Nodes.All())
	require.NotZero(t, s.history.waiting)

	s.autoscaler.Cloud = cloud
	require.NoError(t, s.play(t.Context(), 20*time.Minute))
	require.NotEmpty(t, s.cluster.Nodes.All())
	require.Zero(t, s.history.waiting)
}
