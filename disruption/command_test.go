package disruption_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
)

func commandSpec() disruption.CommandSpec {
	drain := 90 * time.Second
	return disruption.CommandSpec{
		Reason: v1.DisruptionReasonDrifted,
		Sources: []disruption.CommandSource{
			{NodeClaim: "b", ClaimUID: "u-b", Node: "node-b", NodeUID: "n-b"},
			{NodeClaim: "a", Node: "node-a", Drain: &drain, Bounded: true},
		},
		NodePools: []string{"default", "gpu"},
	}
}

func newTestCommand(t testing.TB, change func(*disruption.CommandSpec)) disruption.Command {
	spec := commandSpec()
	if change != nil {
		change(&spec)
	}
	c, err := disruption.NewCommand(commandStart, spec)
	require.NoError(t, err)
	return c
}

func TestCommandTimeout(t *testing.T) {
	for nodes, want := range map[int]time.Duration{
		-1: 10 * time.Minute, 0: 10 * time.Minute, 100: 10 * time.Minute, 7500: 10 * time.Minute,
		10_000: 13*time.Minute + 20*time.Second, 40_000: 53*time.Minute + 20*time.Second,
		80_000: time.Hour, 1 << 62: time.Hour,
	} {
		require.Equal(t, want, disruption.CommandTimeout(nodes), "%d nodes", nodes)
	}
}

func TestNewCommand(t *testing.T) {
	spec := commandSpec()
	c := newTestCommand(t, nil)
	require.Equal(t, commandSpec(), spec, "the spec is not changed")
	require.Equal(t, "a", c.Sources[0].NodeClaim, "sorted")
	require.Equal(t, commandStart.Add(10*time.Minute), c.Deadline)
	require.Equal(t, disruption.CommandReplaceFirst, c.Mode)
	require.Nil(t, c.Sources[1].Drain)
	require.Equal(t, "default-"+c.ID+"-0", c.Replacements[0].Token)

	*spec.Sources[1].Drain = 0
	require.Equal(t, 90*time.Second, *c.Sources[0].Drain, "nothing is shared")

	swapped := newTestCommand(t, func(s *disruption.CommandSpec) { s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0] })
	require.Equal(t, c, swapped, "the order of the sources has no meaning")

	terminate := newTestCommand(t, func(s *disruption.CommandSpec) { s.Mode = disruption.CommandTerminateFirst })
	require.NotEqual(t, c.ID, terminate.ID)
	require.Equal(t, disruption.DefaultTerminateFirstDrain, *terminate.Sources[1].Drain, "has no bound of its own")
	require.Equal(t, 90*time.Second, *terminate.Sources[0].Drain)

	long := newTestCommand(t, func(s *disruption.CommandSpec) { s.NodePools = []string{strings.Repeat("pool.", 40)} })
	require.LessOrEqual(t, len(long.Replacements[0].Token), 63)
	require.NotContains(t, long.Replacements[0].Token, ".-")
}

func TestNewCommandFaults(t *testing.T) {
	negative := -time.Second
	_, err := disruption.NewCommand(commandStart, disruption.CommandSpec{
		Mode: "sideways", Timeout: -1, NodePools: []string{""},
		Sources: []disruption.CommandSource{{NodeClaim: "a", Node: "n"}, {NodeClaim: "a", Node: "n", Drain: &negative}, {}},
	})
	for _, want := range []string{"reason: missing", `mode: "sideways"`, "timeout: -1ns", "nodePools[0]",
		`sources[1].nodeClaim: "a" is listed twice`, `sources[1].node: "n" is listed twice`, "sources[1].drain", "sources[2].nodeClaim: missing"} {
		require.ErrorContains(t, err, want)
	}
	_, err = disruption.NewCommand(commandStart, disruption.CommandSpec{Reason: "Empty", Sources: make([]disruption.CommandSource, 201), NodePools: make([]string, 201)})
	require.ErrorContains(t, err, "sources: there are 201")
	require.ErrorContains(t, err, "nodePools: there are 201")
}

func TestCommandRecordRoundTrip(t *testing.T) {
	for _, failure := range []disruption.CommandFailure{"", disruption.CommandTimedOut} {
		r := disruption.CommandRecord{Command: newTestCommand(t, nil), Failure: failure}
		back, err := disruption.ParseCommandRecord(r.String())
		require.NoError(t, err)
		require.Equal(t, r, back)
	}
}

func TestCommandRecordFitsAnAnnotation(t *testing.T) {
	long := strings.Repeat("x", 63)
	c := newTestCommand(t, func(s *disruption.CommandSpec) {
		s.Sources, s.NodePools = nil, nil
		for i := range disruption.CommandMaxSources {
			name := long + string(rune('a'+i%26)) + strings.Repeat("y", i)
			s.Sources = append(s.Sources, disruption.CommandSource{NodeClaim: name, Node: name, ClaimUID: "01234567-0123-0123-0123-0123456789ab"})
			s.NodePools = append(s.NodePools, long)
		}
	})
	require.Less(t, len(disruption.CommandRecord{Command: c}.String()), 200<<10)
}

func TestParseCommandRecordFaults(t *testing.T) {
	good := disruption.CommandRecord{Command: newTestCommand(t, nil)}.String()
	for name, c := range map[string]struct{ from, to, want string }{
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
			_, err := disruption.ParseCommandRecord(text)
			require.ErrorContains(t, err, c.want)
		})
	}
	var j map[string]any
	require.NoError(t, json.Unmarshal([]byte(good), &j))
	j["replacements"] = []any{map[string]any{"token": "a", "nodePool": "p"}, map[string]any{"token": "a", "nodePool": "p"}}
	j["id"] = ""
	text, err := json.Marshal(j)
	require.NoError(t, err)
	_, err = disruption.ParseCommandRecord(string(text))
	for _, want := range []string{"replacements[1].token", `"a" is a replacement too`, "id: missing"} {
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseCommandRecord(f *testing.F) {
	c := newTestCommand(f, nil)
	f.Add(disruption.CommandRecord{Command: c}.String())
	f.Add(disruption.CommandRecord{Command: c, Failure: disruption.CommandConflict}.String())
	f.Add(disruption.CommandRecord{Command: newTestCommand(f, func(s *disruption.CommandSpec) {
		s.Sources[0].DrainBy = commandStart.Add(time.Hour)
	})}.String())
	f.Add(`{"id":"x","mode":"replace-first","reason":"Empty","created":"2026-03-02T09:00:00.5Z","deadline":"9999-12-31T23:59:59-01:00","sources":[{"nodeClaim":"a","drainBy":"0000-01-01T00:00:00+01:00"}]}`)
	f.Add(`{"id":"x"}`)
	f.Add("null")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := disruption.ParseCommandRecord(text)
		if err != nil {
			return
		}
		back, err := disruption.ParseCommandRecord(r.String())
		require.NoError(t, err)
		require.Equal(t, r, back)
		// Whatever can be read is advanced without a panic, and found again.
		view := disruption.CommandView{Claims: []disruption.CommandClaim{{Name: r.Command.Sources[0].NodeClaim,
			UID: r.Command.Sources[0].ClaimUID, Record: text}}}
		require.NotEqual(t, disruption.CommandFinished, disruption.Advance(r.Command, view, commandStart).State)
		require.Len(t, disruption.RecoverCommands(view).Commands, 1)
	})
}

func TestObserveCommandClaim(t *testing.T) {
	deleted := metav1.NewTime(commandStart)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "a", UID: "u", ResourceVersion: "7", DeletionTimestamp: &deleted,
		Finalizers: []string{disruption.CommandHoldFinalizer},
		Annotations: map[string]string{disruption.CommandAnnotationKey: "record",
			v1.NodeClaimTerminationTimestampAnnotationKey: "2026-03-02T10:00:00Z"},
	}}
	claim.Status.Conditions = []metav1.Condition{
		{Type: v1.ConditionTypeDisruptionReason, Status: metav1.ConditionTrue, Reason: "Empty"},
		{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue},
		{Type: v1.ConditionTypeRebooting, Status: metav1.ConditionFalse},
	}
	want := disruption.CommandClaim{Name: "a", UID: "u", ResourceVersion: "7", Record: "record", Reason: "Empty",
		Held: true, Deleting: true, Terminated: true, Initialized: true, DrainBy: commandStart.Add(time.Hour), Pods: 3}
	require.Equal(t, want, disruption.ObserveCommandClaim(claim, nil, 3))

	// The label of the Node decides where there is one.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "nu", Annotations: map[string]string{disruption.CommandAnnotationKey: "r"}}}
	want.Initialized = false
	require.Equal(t, want, disruption.ObserveCommandClaim(claim, node, 3))
	node.Labels = map[string]string{v1.NodeInitializedLabelKey: "true"}
	want.Initialized = true
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer)
	want.Terminated = false
	require.Equal(t, want, disruption.ObserveCommandClaim(claim, node, 3))

	require.Equal(t, disruption.CommandNode{Name: "n", UID: "nu", Record: "r"}, disruption.ObserveCommandNode(node))
	node.Spec.Taints = []corev1.Taint{{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}}
	require.False(t, disruption.ObserveCommandNode(node).Tainted, "another effect")
	node.Spec.Taints = append(node.Spec.Taints, v1.DisruptedNoScheduleTaint())
	require.True(t, disruption.ObserveCommandNode(node).Tainted)
}
