package disruption_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
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
		"names no node":                        {Replacements: []provisioning.NewNode{{}}},
		"a replacement":                        {Targets: []disruption.Target{n}, Replacements: []provisioning.NewNode{{Pool: in.NodePools[0]}}},
		"a move":                               {Targets: []disruption.Target{n}, Moves: []disruption.Move{{Node: "m"}}},
		`its reason "drifted" is not known`:    {Targets: []disruption.Target{n}, Reason: "drifted"},
		`its operation "replace" is not known`: {Targets: []disruption.Target{n}, Operation: "replace"},
	} {
		a.Operation, a.Reason, a.Simulated = cmp.Or(a.Operation, disruption.Replace), cmp.Or(a.Reason, disruption.Drifted), true
		objections := objectionsTo(t, noon, in, a, nil)
		require.Len(t, objections, 1)
		require.Equal(t, disruption.ObjectionInput, objections[0].Kind)
		require.Contains(t, objections[0].Detail, want)
		_, err := observe(t, in, nil).Command(a)
		require.ErrorContains(t, err, want)
		_, err = disruption.After(noon, in, []disruption.Action{a}, nil)
		require.ErrorContains(t, err, want)
	}
	twice := disruption.Action{Operation: disruption.Delete, Reason: disruption.Empty, Targets: []disruption.Target{n, n}}
	require.Equal(t, []disruption.Objection{{Kind: disruption.ObjectionInput, Detail: "it names n twice; take it from Propose"}},
		objectionsTo(t, noon, in, twice, nil))
	candidates, blocked := observe(t, in, nil).Candidates("empty")
	require.Empty(t, candidates)
	require.Empty(t, blocked)
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

// An action says where the pods of its nodes go and what is launched for them,
// whether that was simulated for it or is for the next plan.
func TestActionsSayWherePodsGo(t *testing.T) {
	small, medium, large, all := sizes()
	old := func(name string, of *cloudprovider.InstanceType, pods ...*corev1.Pod) provisioning.Node {
		return with(machine(name, "default", of, pods...), expiresAfter(v1.NewDuration(24*time.Hour)))
	}
	held := func(name string, of *cloudprovider.InstanceType, pods ...*corev1.Pod) provisioning.Node {
		return with(machine(name, "default", of, pods...), func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" })
	}
	const expired = "expireAfter 24h0m0s has passed since 2026-02-28T12:00:00Z"
	tests := []struct {
		name string
		edit func(*disruption.Input, *disruption.Options)
		want []string
	}{
		{"an expired node, whose pod needs a new one", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 1500))}
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"one pod of which finds room, beside a candidate for consolidation", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 3900), load("b", 900)), machine("n2", "default", small, load("c", 900))}
		}, []string{"Delete n1 (Expired): " + expired + "; its 2 pods are for the next plan: 1 new node for 1 pod, medium/a/on-demand at 0.2 USD/h; " +
			"there is room for 1 pod on 1 other node"}},
		{"two that share what is launched", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 900)), old("n2", large, load("b", 900))}
		}, []string{
			"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h, shared with other pods",
			"Delete n2 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h, shared with other pods",
		}},
		{"a pod that has no other place", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large, load("a", 900, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "gold"} }))}
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: no place for 1 pod"}},
		{"what NoReplacements rules out is launched for it all the same", func(in *disruption.Input, o *disruption.Options) {
			in.Nodes, o.Consolidation.NoReplacements = []provisioning.Node{old("n1", large, load("a", 1500)), held("n2", small, load("b", 100))}, true
			in.Nodes[1].Node.Spec.Unschedulable = true
		}, []string{"Delete n1 (Expired): " + expired + "; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"an expired node without pods", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{old("n1", large)}
		}, []string{"Delete n1 (Expired): " + expired}},
		{"an interrupted node", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", large, load("a", 1500))}
			in.Interruptions = notices(cloudprovider.Interruption{InstanceID: "cloud://n1", Kind: cloudprovider.InterruptionStopping})
		}, []string{"Delete n1 (Interrupted): the cloud gave notice: Stopping; its pod is for the next plan: 1 new node for 1 pod, small/a/on-demand at 0.1 USD/h"}},
		{"a drifted node", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", large, load("a", 3900), load("b", 900)), held("n2", small, load("c", 900))}
			in.Drift = driftOf("n1", "AMIDrift")
		}, []string{"Replace n1 (Drifted): the image is old; 1 new node for 1 pod, medium/a/on-demand at 0.2 USD/h; there is room for 1 pod on 1 other node"}},
		{"a drifted node of a static pool", func(in *disruption.Input, _ *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", medium, load("a", 900))}
			replicas(1, 2)(in.NodePools[0])
			in.Drift = driftOf("n1", "AMIDrift")
		}, []string{`Replace n1 (Drifted): the image is old; a new node by the template of its NodePool "default" comes first`}},
		{"and without room beside it", func(in *disruption.Input, o *disruption.Options) {
			in.Nodes = []provisioning.Node{machine("n1", "default", medium, load("a", 900))}
			replicas(1, 1)(in.NodePools[0])
			in.Drift, o.Drift.TerminateFirst = driftOf("n1", "AMIDrift"), true
		}, []string{`TerminateFirst n1 (Drifted): the image is old; a new node by the template of its NodePool "default" follows`}},
		{"a drifted node that holds what its pod needs", func(in *disruption.Input, o *disruption.Options) {
			*in, o.Drift.TerminateFirst = reservedInput(), true
		}, []string{"TerminateFirst held (Drifted): another image; it goes first, as its pods find a place only once its own in reservation cr-1 is free: " +
			"1 new node for 1 pod, c.8/a/reserved/cr-1 at 0.001 USD/h"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, o := fleetOf(all), &disruption.Options{}
			tt.edit(&in, o)
			var got []string
			for _, a := range propose(t, in, o).Actions {
				if a.Reason != disruption.Underutilized {
					got = append(got, a.String())
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}
