package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestRecheck(t *testing.T) {
	on := func(reason disruption.Reason, names ...string) disruption.Action {
		a := disruption.Action{Reason: reason, Operation: disruption.Delete}
		for _, n := range names {
			a.Targets = append(a.Targets, disruption.Target{Node: n, NodeClaim: n + "-claim", NodePool: "web", ProviderID: "cloud://" + n})
		}
		return a
	}
	in := newInput(
		newNode("idle", "web"),
		newNode("busy", "web", withPods(newPod("p"))),
		newNode("leaving", "web", func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }),
		newNode("underway", "web"),
		newNode("another", "web", func(n *provisioning.Node) { n.NodeClaim.Status.ProviderID = "cloud://new" }),
		newNode("held", "web", withPods(newPod("h", note(v1.DoNotDisruptAnnotationKey, "true")))),
	)
	in.Drift = driftOf("held", "AMIDrift")
	in.MarkedForDeletion = map[string]disruption.Reason{"underway": disruption.Empty}
	f := observe(t, in, nil)
	for _, tt := range []struct {
		action disruption.Action
		want   []string
	}{
		{on(disruption.Empty, "idle"), []string{}},
		{on(disruption.Empty, "busy", "idle"), []string{"busy NotEmpty"}},
		{on(disruption.Underutilized, "busy"), []string{}},
		{on(disruption.Underutilized, "idle", "busy"), []string{"idle Empty"}},
		{on(disruption.Drifted, "busy"), []string{"busy NotDrifted"}},
		{on(disruption.Drifted, "held"), []string{`held PodDoNotDisrupt Pod "shop/h"`}},
		{on(disruption.Unhealthy, "busy"), []string{"busy Healthy"}},
		{on(disruption.Expired, "held"), []string{}},
		{on(disruption.Expired, "leaving"), []string{"leaving Deleting"}},
		{on(disruption.Expired, "underway"), []string{"underway Underway"}},
		{on(disruption.Expired, "gone", "another"), []string{"another NoNode", "gone NoNode"}},
		{disruption.Action{Reason: disruption.GarbageCollected, Targets: []disruption.Target{{ProviderID: "i-1"}}}, []string{}},
	} {
		require.Equal(t, tt.want, rules(f.Recheck(tt.action)), tt.action.String())
	}
}

// TestDecisionsPassTheirOwnRecheck: what a rule decides on an input, nothing of
// that input speaks against.
func TestDecisionsPassTheirOwnRecheck(t *testing.T) {
	checked := 0
	for seed := range uint64(rounds()) {
		in, opts := newMaker(seed).input()
		f := observe(t, in, opts)
		for _, a := range f.Actions().Actions {
			require.Empty(t, f.Recheck(a), "seed %d: %s", seed, a)
			checked++
		}
	}
	require.Greater(t, checked, rounds())
}

func TestRecheckWaitsOutAPassingState(t *testing.T) {
	in := newInput(newNode("idle", "web"))
	a := observe(t, in, nil).Emptiness().Actions[0]
	in.Nominations = map[string]time.Time{"idle": noon.Add(20 * time.Second)}
	require.Equal(t, []string{"idle Nominated +20s"}, rules(observe(t, in, nil).Recheck(a)))
}
