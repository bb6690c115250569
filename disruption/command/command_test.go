package command_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

func commandSpec() command.Spec {
	drain := 90 * time.Second
	return command.Spec{
		Reason: v1.DisruptionReasonDrifted,
		Sources: []command.Source{
			{NodeClaim: "b", ClaimUID: "u-b", Node: "node-b", NodeUID: "n-b"},
			{NodeClaim: "a", Node: "node-a", Drain: &drain, Bounded: true},
		},
		NodePools: []string{"default", "gpu"},
	}
}

func newTestCommand(t testing.TB, change func(*command.Spec)) command.Command {
	spec := commandSpec()
	if change != nil {
		change(&spec)
	}
	c, err := command.New(commandStart, spec)
	require.NoError(t, err)
	return c
}

func TestTimeout(t *testing.T) {
	for nodes, want := range map[int]time.Duration{
		-1: 10 * time.Minute, 0: 10 * time.Minute, 100: 10 * time.Minute, 7500: 10 * time.Minute,
		10_000: 13*time.Minute + 20*time.Second, 40_000: 53*time.Minute + 20*time.Second,
		80_000: time.Hour, 1 << 62: time.Hour,
	} {
		require.Equal(t, want, command.Timeout(nodes), "%d nodes", nodes)
	}
}

func TestNew(t *testing.T) {
	spec := commandSpec()
	c := newTestCommand(t, nil)
	require.Equal(t, commandSpec(), spec, "the spec is not changed")
	require.Equal(t, "a", c.Sources[0].NodeClaim, "sorted")
	require.Equal(t, commandStart.Add(10*time.Minute), c.Deadline)
	require.Equal(t, command.ReplaceFirst, c.Mode)
	require.Nil(t, c.Sources[1].Drain)
	require.Equal(t, "default-"+c.ID+"-0", c.Replacements[0].Token)

	*spec.Sources[1].Drain = 0
	require.Equal(t, 90*time.Second, *c.Sources[0].Drain, "nothing is shared")

	swapped := newTestCommand(t, func(s *command.Spec) { s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0] })
	require.Equal(t, c, swapped, "the order of the sources has no meaning")

	terminate := newTestCommand(t, func(s *command.Spec) { s.Mode = command.TerminateFirst })
	require.NotEqual(t, c.ID, terminate.ID)
	require.Equal(t, disruption.TerminateFirstDrain, *terminate.Sources[1].Drain, "has no bound of its own")
	require.Equal(t, 90*time.Second, *terminate.Sources[0].Drain)

	long := newTestCommand(t, func(s *command.Spec) { s.NodePools = []string{strings.Repeat("pool.", 40)} })
	require.LessOrEqual(t, len(long.Replacements[0].Token), 63)
	require.NotContains(t, long.Replacements[0].Token, ".-")

	patient := newTestCommand(t, func(s *command.Spec) { s.Timeout = math.MaxInt64 })
	require.True(t, patient.Deadline.After(c.Deadline), patient.Deadline)
}

func TestNewFaults(t *testing.T) {
	negative := -time.Second
	_, err := command.New(commandStart, command.Spec{
		Mode: "sideways", Timeout: -1, NodePools: []string{""},
		Sources: []command.Source{{NodeClaim: "a", Node: "n"}, {NodeClaim: "a", Node: "n", Drain: &negative}, {}},
	})
	for _, want := range []string{"reason: missing", `mode: "sideways"`, "timeout: -1ns", "nodePools[0]",
		`sources[1].nodeClaim: "a" is listed twice`, `sources[1].node: "n" is listed twice`, "sources[1].drain", "sources[2].nodeClaim: missing"} {
		require.ErrorContains(t, err, want)
	}
	_, err = command.New(commandStart, command.Spec{Reason: "Empty", Sources: make([]command.Source, 201), NodePools: make([]string, 201)})
	require.ErrorContains(t, err, "sources: there are 201")
	require.ErrorContains(t, err, "nodePools: there are 201")
	for reason, sound := range map[v1.DisruptionReason]bool{
		"odd reason!": false, "1st": false, "Odd:": false, "Odd\n": false, v1.DisruptionReason(strings.Repeat("x", 1025)): false,
		"R": true, "Example_1,a:b": true, v1.DisruptionReason(strings.Repeat("x", 1024)): true,
	} {
		_, err = command.New(commandStart, command.Spec{Reason: reason, Sources: []command.Source{{NodeClaim: "a"}}})
		require.Equal(t, sound, err == nil, "%.40q: %v", reason, err)
		if !sound {
			require.ErrorContains(t, err, "cannot be the reason of a condition; use up to 1024 letters")
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	for _, failure := range []command.Failure{"", command.TimedOut} {
		r := command.Record{Command: newTestCommand(t, nil), Failure: failure}
		back, err := command.ParseRecord(r.String())
		require.NoError(t, err)
		require.Equal(t, r, back)
	}
}

func TestRecordFitsAnAnnotation(t *testing.T) {
	long := strings.Repeat("x", 63)
	c := newTestCommand(t, func(s *command.Spec) {
		s.Sources, s.NodePools = nil, nil
		for i := range command.MaxSources {
			name := long + string(rune('a'+i%26)) + strings.Repeat("y", i)
			s.Sources = append(s.Sources, command.Source{NodeClaim: name, Node: name, ClaimUID: "01234567-0123-0123-0123-0123456789ab"})
			s.NodePools = append(s.NodePools, long)
		}
	})
	require.Less(t, len(command.Record{Command: c}.String()), 200<<10)
}

func TestParseRecordFaults(t *testing.T) {
	good := command.Record{Command: newTestCommand(t, nil)}.String()
	for name, c := range map[string]struct{ from, to, want string }{
		"nothing":       {good, " ", "the text is empty"},
		"not JSON":      {good, "yes", "invalid character"},
		"unknown field": {`"id":`, `"colour":"red","id":`, `unknown field "colour"`},
		"no id":         {`"id":"`, `"id":"","x":"`, "unknown field"},
		"time":          {`"created":"2026`, `"created":"26`, "created: "},
		"deadline":      {`"deadline":"2026`, `"deadline":"2025`, "deadline: 2025-03-02T09:10:00Z is before created"},
		"mode":          {"replace-first", "upside-down", "mode: "},
		"no mode":       {"replace-first", "", "mode: missing"},
		"drain":         {"1m30s", "soon", `sources[0].drain: "soon"`},
		"order":         {`"nodeClaim":"b"`, `"nodeClaim":"Z"`, "out of order"},
		"trailing":      {good, good + "{}", "something follows it"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.from, c.to, 1)
			require.NotEqual(t, good, text)
			_, err := command.ParseRecord(text)
			require.ErrorContains(t, err, c.want)
		})
	}
	var j map[string]any
	require.NoError(t, json.Unmarshal([]byte(good), &j))
	j["replacements"] = []any{map[string]any{"token": "a", "nodePool": "p"}, map[string]any{"token": "a", "nodePool": "p"}}
	j["id"] = ""
	text, err := json.Marshal(j)
	require.NoError(t, err)
	_, err = command.ParseRecord(string(text))
	for _, want := range []string{"replacements[1].token", `"a" is a replacement too`, "id: missing"} {
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseRecord(f *testing.F) {
	c := newTestCommand(f, nil)
	f.Add(command.Record{Command: c}.String())
	f.Add(command.Record{Command: c, Failure: command.Conflict}.String())
	f.Add(command.Record{Command: newTestCommand(f, func(s *command.Spec) {
		s.Sources[0].DrainBy = commandStart.Add(time.Hour)
	})}.String())
	f.Add(command.Record{Command: newTestCommand(f, func(s *command.Spec) {
		s.Claims = []*v1.NodeClaim{wideClaim(2, plainName), wideClaim(1, plainName)}
	})}.String())
	f.Add(`{"id":"x","mode":"replace-first","reason":"Empty","created":"2026-03-02T09:00:00.5Z","deadline":"9999-12-31T23:59:59-01:00","sources":[{"nodeClaim":"a","drainBy":"0000-01-01T00:00:00+01:00"}]}`)
	f.Add(`{"id":"x"}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := command.ParseRecord(text)
		if err != nil {
			return
		}
		back, err := command.ParseRecord(r.String())
		require.NoError(t, err)
		require.Equal(t, r, back)
		// Whatever can be read is advanced without a panic, and found again.
		view := command.Input{Claims: []command.Claim{{Name: r.Command.Sources[0].NodeClaim,
			UID: r.Command.Sources[0].ClaimUID, Record: text}}}
		require.NotEqual(t, command.Finished, command.Advance(commandStart, r.Command, view).State)
		require.Len(t, command.Recover(view).Commands, 1)
	})
}

func TestObserveClaim(t *testing.T) {
	deleted := metav1.NewTime(commandStart)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "a", UID: "u", ResourceVersion: "7", DeletionTimestamp: &deleted,
		Finalizers: []string{command.HoldFinalizer},
		Annotations: map[string]string{command.AnnotationKey: "record",
			v1.NodeClaimTerminationTimestampAnnotationKey: "2026-03-02T10:00:00Z"},
	}}
	claim.Status.Conditions = []metav1.Condition{
		{Type: v1.ConditionTypeDisruptionReason, Status: metav1.ConditionTrue, Reason: "Empty"},
		{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue},
		{Type: v1.ConditionTypeRebooting, Status: metav1.ConditionFalse},
	}
	want := command.Claim{Name: "a", UID: "u", ResourceVersion: "7", Record: "record", Reason: "Empty",
		Held: true, Deleting: true, Terminated: true, Initialized: true, DrainBy: commandStart.Add(time.Hour), Pods: 3}
	require.Equal(t, want, command.ObserveClaim(claim, nil, 3))

	// The label of the Node decides where there is one.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "nu", Annotations: map[string]string{command.AnnotationKey: "r"}}}
	want.Initialized, want.Node = false, "n"
	require.Equal(t, want, command.ObserveClaim(claim, node, 3))
	node.Labels = map[string]string{v1.NodeInitializedLabelKey: "true"}
	want.Initialized = true
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
	want.Terminated = false
	require.Equal(t, want, command.ObserveClaim(claim, node, 3))

	require.Equal(t, command.Node{Name: "n", UID: "nu", Record: "r"}, command.ObserveNode(node))
	node.Spec.Taints = []corev1.Taint{{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}}
	require.False(t, command.ObserveNode(node).Tainted, "another effect")
	node.Spec.Taints = append(node.Spec.Taints, v1.DisruptedNoScheduleTaint())
	require.True(t, command.ObserveNode(node).Tainted)
}

// An object that is gone from a cache is nil; to read it is no reason to panic.
func TestObserveNothing(t *testing.T) {
	require.Zero(t, command.ObserveClaim(nil, nil, 3))
	require.Zero(t, command.ObserveNode(nil))
}
