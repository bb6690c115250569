package disruption_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestNominate(t *testing.T) {
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: "a", Pods: []*corev1.Pod{newPod("x")}}, {Node: "b"}}}
	n := disruption.Nominate(plan, noon)
	require.Equal(t, disruption.Nominations{"a": noon}, n)
	require.Empty(t, disruption.Nominate(nil, noon))

	more := n.Keep("a", noon.Add(-time.Minute)).Keep("c", noon.Add(time.Minute)).Keep("", noon)
	require.Equal(t, disruption.Nominations{"a": noon, "c": noon.Add(time.Minute)}, more)
	require.Equal(t, disruption.Nominations{"c": noon.Add(time.Minute)}, more.At(noon), "at that instant it is free")
	require.Equal(t, disruption.Nominations{"a": noon.Add(time.Minute)}, more.Renamed("c", "a"))
	require.Equal(t, more, more.Renamed("nobody", "a"))
	require.Equal(t, more, more.Renamed("c", "c"))
	require.Equal(t, disruption.Nominations{"a": noon}, n, "what was there is as it was")

	var none disruption.Nominations
	require.Empty(t, none.At(noon))
	require.Equal(t, n, none.With(n))
}

// A node that was nominated is left alone until then, and not after.
func TestNominationsReachTheRules(t *testing.T) {
	in := newInput(newNode("idle", "web"))
	in.Nominations = disruption.Nominations{}.Keep("idle", noon.Add(time.Second))
	require.Empty(t, observe(t, in, nil).Emptiness().Actions)
	in.Nominations = disruption.Nominations{}.Keep("idle", noon)
	require.Len(t, observe(t, in, nil).Emptiness().Actions, 1)
}

// With is a join: in any order and grouping, and however often, the same; and it
// changes neither of its arguments.
func TestNominationLaws(t *testing.T) {
	for seed := range uint64(200) {
		m := newMaker(seed)
		draw := func() disruption.Nominations {
			n := disruption.Nominations{}
			for range m.IntN(5) {
				n[pick(m, "a", "b", "c", "d")] = noon.Add(time.Duration(m.IntN(5)) * time.Minute)
			}
			return n
		}
		a, b, c := draw(), draw(), draw()
		before := maps.Clone(a)
		require.Equal(t, a.With(b), b.With(a))
		require.Equal(t, a.With(b).With(c), a.With(b.With(c)))
		require.Equal(t, a, a.With(a))
		now := noon.Add(2 * time.Minute)
		require.Equal(t, a.With(b).At(now), a.At(now).With(b.At(now)))
		require.Equal(t, disruption.Nominations(before), a)
	}
}

func ExampleNominations() {
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: "node-1", Pods: []*corev1.Pod{newPod("web-1")}}}}
	kept := disruption.Nominate(plan, noon.Add(disruption.DefaultNomination))
	kept = kept.Keep("claim-7", noon.Add(10*time.Minute)) // launched for pods of the plan
	kept = kept.Renamed("claim-7", "node-2")              // and joined
	in := newInput(newNode("node-1", "web"))
	in.Nominations = kept.At(noon)
	show(look(in, nil).Emptiness().Blocked)
	// Output:
	// Emptiness of node-1: a place on it was promised to a pending pod, until 2026-03-02T12:00:20Z
}

func ExampleNominate() {
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: "node-1", Pods: []*corev1.Pod{newPod("web-1")}}}}
	for node, until := range disruption.Nominate(plan, noon.Add(disruption.DefaultNomination)) {
		fmt.Println(node, until.Format(time.TimeOnly))
	}
	// Output:
	// node-1 12:00:20
}
