package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const deadlineKey = v1.NodeClaimTerminationTimestampAnnotationKey

func withDeadline(text string) func(*provisioning.Node) {
	return func(n *provisioning.Node) { n.NodeClaim.Annotations[deadlineKey] = text }
}

func deleted(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(-time.Minute)) }

// Karpenter waits before it removes a node for one of two reasons, and for no other.
func TestTransient(t *testing.T) {
	var transient []disruption.Reason
	for _, r := range []disruption.Reason{
		disruption.Empty, disruption.Drifted, disruption.Underutilized, disruption.Unhealthy, disruption.Interrupted,
		disruption.LaunchTimeout, disruption.RegistrationTimeout, disruption.InitializationTimeout, disruption.GarbageCollected,
		disruption.Expired, disruption.ScaledDown,
	} {
		if disruption.Transient(r) {
			transient = append(transient, r)
		}
	}
	require.Equal(t, []disruption.Reason{disruption.Empty, disruption.Underutilized}, transient)
}

func TestWhatIsNoAction(t *testing.T) {
	in := newInput(newNode("n", "web"))
	n := disruption.Target{Node: "n", NodeClaim: "n-claim", NodePool: "web", ProviderID: "cloud://n"}
	for want, a := range map[string]disruption.Action{
		"names no node": {Replacements: []provisioning.NewNode{{}}},
		"a replacement": {Targets: []disruption.Target{n}, Replacements: []provisioning.NewNode{{Pool: in.NodePools[0]}}},
		"a move":        {Targets: []disruption.Target{n}, Moves: []disruption.Move{{Node: "m"}}},
	} {
		a.Operation, a.Reason, a.Simulated = disruption.Replace, disruption.Drifted, true
		objections := objectionsTo(t, noon, in, a, nil)
		require.Len(t, objections, 1)
		require.Equal(t, disruption.ObjectionInput, objections[0].Kind)
		require.Contains(t, objections[0].Detail, want)
		_, err := observe(t, in, nil).Command(a)
		require.ErrorContains(t, err, want)
		_, err = disruption.After(noon, in, []disruption.Action{a}, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestActionEditClaim(t *testing.T) {
	for _, tt := range []struct {
		name   string
		action disruption.Action
		edits  []func(*provisioning.Node)
		want   string // "" is none
		same   bool
	}{
		{"nothing", disruption.Action{}, nil, "", true},
		{"a user's deletion", disruption.Action{}, []func(*provisioning.Node){withGrace(time.Hour), deleted}, "12:59:00", false},
		{"a bound", disruption.Action{DrainBound: new(time.Minute)}, []func(*provisioning.Node){withGrace(time.Hour)}, "12:01:00", false},
		{"no drain", disruption.Action{DrainBound: new(time.Duration(0))}, nil, "12:00:00", false},
		{"the earlier of two", disruption.Action{DrainBound: new(time.Hour), DrainBy: noon.Add(time.Minute)}, nil, "12:01:00", false},
		{"never put off", disruption.Action{DrainBound: new(time.Hour)}, []func(*provisioning.Node){withDeadline("2026-03-02T12:30:00Z")}, "12:30:00", true},
		{"brought forward", disruption.Action{DrainBy: noon}, []func(*provisioning.Node){withDeadline("2026-03-02T12:30:00Z")}, "12:00:00", false},
		{"malformed", disruption.Action{DrainBy: noon}, []func(*provisioning.Node){withDeadline("soon")}, "12:00:00", false},
		{"malformed alone", disruption.Action{}, []func(*provisioning.Node){withDeadline("soon")}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := newNode("n", "web", tt.edits...).NodeClaim
			before := claim.DeepCopy()
			got := tt.action.EditClaim(noon, claim)
			require.Equal(t, before, claim)
			require.Equal(t, tt.same, got == claim)
			text := got.Annotations[deadlineKey]
			if tt.want == "" {
				require.NotContains(t, got.Annotations, deadlineKey)
			} else {
				require.Equal(t, "2026-03-02T"+tt.want+"Z", text)
			}
			require.Same(t, got, tt.action.EditClaim(noon.Add(time.Hour), got), "later it is the same deadline")
		})
	}
	require.Nil(t, disruption.Action{}.EditClaim(noon, nil))
	bare := disruption.Action{DrainBy: noon}.EditClaim(noon, &v1.NodeClaim{})
	require.Len(t, bare.Annotations, 1)
}

// Deadlines only ever come forward, however many want one, and the edited claim says
// the one that drain.Deadline reads.
func TestDeadlinesComeForward(t *testing.T) {
	for seed := range uint64(200) {
		m := newMaker(seed)
		n := newNode("n", "web")
		if m.chance(50) {
			withGrace(time.Duration(m.IntN(100)) * time.Minute)(&n)
		}
		claim, last := n.NodeClaim, time.Time{}
		now := noon
		for range 10 {
			now = now.Add(time.Duration(m.IntN(100)) * time.Second)
			var a disruption.Action
			if m.chance(50) {
				a.DrainBound = new(time.Duration(m.IntN(7200)) * time.Second)
			}
			if m.chance(50) {
				a.DrainBy = now.Add(time.Duration(m.IntN(7200)) * time.Second)
			}
			claim = a.EditClaim(now, claim)
			by, err := drain.Deadline(now, claim)
			require.NoError(t, err)
			require.True(t, last.IsZero() || !by.After(last))
			for _, limit := range []time.Time{a.DrainBy, now.Add(deref(a.DrainBound, 24*time.Hour))} {
				require.True(t, limit.IsZero() || by.IsZero() && a.DrainBound == nil && a.DrainBy.IsZero() || !by.After(limit))
			}
			last = by
		}
	}
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// A spot machine is taken back in two minutes; its claim would have drained for an
// hour.
func ExampleAction_EditClaim() {
	n := newNode("n", "web", withGrace(time.Hour), withPods(newPod("web-1")))
	action := disruption.Action{Reason: disruption.Interrupted, Operation: disruption.Delete, DrainBy: noon.Add(2 * time.Minute)}
	claim := action.EditClaim(noon, n.NodeClaim)
	claim.DeletionTimestamp = new(at(0)) // what the API server does when it is told to delete it
	node := drain.CloseNode(n.Node)

	drain, err := drain.Observe(noon, claim, node, n.Pods)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("no more pods:", node.Spec.Taints[0].ToString())
	fmt.Println("drain", len(drain.Pods), "pod by", drain.Deadline.Format(time.TimeOnly))
	// Output:
	// no more pods: karpenter.sh/disrupted:NoSchedule
	// drain 1 pod by 12:02:00
}
