package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func expiresAfter(d v1.NillableDuration) func(*provisioning.Node) {
	return func(n *provisioning.Node) { n.NodeClaim.Spec.ExpireAfter = d }
}

func TestExpiration(t *testing.T) {
	age := v1.NewDuration(48 * time.Hour) // that of every node
	tests := []struct {
		name string
		node provisioning.Node
		want []string
		next time.Duration
	}{
		{"equality", newNode("n", "web", expiresAfter(age)), []string{"Delete n"}, 0},
		{"a nanosecond early", newNode("n", "web", expiresAfter(v1.NewDuration(48*time.Hour+1))), []string{}, 1},
		{"never", newNode("n", "web", expiresAfter(v1.NeverDuration())), []string{}, 0},
		{"unset", newNode("n", "web"), []string{}, 0},
		{"held by everything", newNode("n", "web", expiresAfter(age), withPods(newPod("p", note(v1.DoNotDisruptAnnotationKey, "true"))),
			func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" }), []string{"Delete n"}, 0},
		{"uninitialized", newNode("n", "web", expiresAfter(age), func(n *provisioning.Node) { n.Node = nil }), []string{"Delete n-claim"}, 0},
		{"without pool", newNode("n", "web", expiresAfter(age), withLabel(v1.NodePoolLabelKey, "")), []string{"Delete n"}, 0},
		{"deleting already", newNode("n", "web", expiresAfter(age), func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }), []string{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.node)
			in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
			f := observe(t, in, nil)
			r := f.Expiration()
			require.Equal(t, tt.want, brief(r.Actions))
			if tt.next != 0 {
				require.Equal(t, noon.Add(tt.next), r.Next)
			}
			require.Empty(t, f.Pace(r.Actions).Wait, "budgets have no say")
		})
	}
	t.Run("oldest first", func(t *testing.T) {
		in := newInput(newNode("a", "web", expiresAfter(v1.NewDuration(2*time.Hour))), newNode("b", "web", expiresAfter(v1.NewDuration(time.Hour))))
		require.Equal(t, []string{"Delete b", "Delete a"}, brief(observe(t, in, nil).Expiration().Actions))
	})
	t.Run("under budgets", func(t *testing.T) {
		in := newInput(newNode("n", "web", expiresAfter(age)))
		in.NodePools = []*v1.NodePool{newPool("web", budgetOf("0"))}
		f := observe(t, in, &disruption.Options{Policies: map[string]*budgets.Policy{"web": {ExpiryUnderBudgets: true}}})
		require.Equal(t, []string{`n: NodePool "web"`}, waits(f.Pace(f.Expiration().Actions).Wait))
	})
}

func TestLiveness(t *testing.T) {
	// starting is a claim without a Node, of which the conditions changed so
	// long ago.
	starting := func(created, launched, registered time.Duration, status metav1.ConditionStatus) provisioning.Node {
		return newNode("n", "web", func(n *provisioning.Node) {
			n.Node = nil
			n.NodeClaim.CreationTimestamp = at(-created)
			setCondition(n.NodeClaim, v1.ConditionTypeLaunched, status, noon.Add(-launched))
			setCondition(n.NodeClaim, v1.ConditionTypeRegistered, metav1.ConditionUnknown, noon.Add(-registered))
		})
	}
	uninitialized := newNode("n", "web", withCondition(v1.ConditionTypeInitialized, metav1.ConditionUnknown, -time.Hour),
		func(n *provisioning.Node) { delete(n.Node.Labels, v1.NodeInitializedLabelKey) })
	tests := []struct {
		name string
		node provisioning.Node
		opts *disruption.Options
		want string
		next time.Duration
	}{
		{"launch at five minutes", starting(time.Hour, 5*time.Minute, 0, metav1.ConditionUnknown), nil, "LaunchTimeout", 0},
		{"launch a nanosecond early", starting(time.Hour, 5*time.Minute-1, 0, metav1.ConditionUnknown), nil, "", 1},
		{"launch refused counts alike", starting(time.Hour, 5*time.Minute, 0, metav1.ConditionFalse), nil, "LaunchTimeout", 0},
		{"registration at fifteen", starting(time.Hour, 20*time.Minute, 15*time.Minute, metav1.ConditionTrue), nil, "RegistrationTimeout", 0},
		{"registration a nanosecond early", starting(time.Hour, 20*time.Minute, 15*time.Minute-1, metav1.ConditionTrue), nil, "", 1},
		{"launch comes first", starting(time.Hour, time.Hour, time.Hour, metav1.ConditionUnknown), nil, "LaunchTimeout", 0},
		{"for ever", starting(time.Hour, time.Hour, time.Hour, metav1.ConditionUnknown),
			&disruption.Options{Lifecycle: disruption.LifecycleOptions{LaunchTimeout: -1, RegistrationTimeout: -1}}, "", 0},
		{"registered", newNode("n", "web"), nil, "", 0},
		{"initialization has no limit", uninitialized, nil, "", 0},
		{"unless one is set", uninitialized, &disruption.Options{Lifecycle: disruption.LifecycleOptions{InitializationTimeout: time.Hour}}, "InitializationTimeout", 0},
		{"without conditions creation counts", newNode("n", "web", func(n *provisioning.Node) {
			n.Node, n.NodeClaim.Status.Conditions, n.NodeClaim.CreationTimestamp = nil, nil, at(-4*time.Minute)
		}), nil, "", time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := observe(t, newInput(tt.node), tt.opts).Liveness()
			if tt.want == "" {
				require.Empty(t, r.Actions)
			} else {
				require.Len(t, r.Actions, 1)
				require.Equal(t, disruption.Reason(tt.want), r.Actions[0].Reason)
				require.Equal(t, disruption.Delete, r.Actions[0].Operation)
			}
			if tt.next != 0 {
				require.Equal(t, noon.Add(tt.next), r.Next)
			}
		})
	}
}

// A manifest written by hand has no creationTimestamp. That is not the year 1.
func TestUnknownAgeDeletesNothing(t *testing.T) {
	ageless := func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = metav1.Time{} }
	starting := func(n *provisioning.Node) {
		n.Node, n.NodeClaim.Status.Conditions = nil, []metav1.Condition{{Type: v1.ConditionTypeLaunched, Status: metav1.ConditionUnknown}}
	}
	const remedy = `NodeClaim.metadata.creationTimestamp: is not set, so the age of NodeClaim "n-claim" is not known and it is not deleted for it; set when it was created`
	tests := []struct {
		name string
		node provisioning.Node
		want []string
	}{
		{"expires", newNode("n", "web", ageless, expiresAfter(v1.NewDuration(time.Hour))), []string{`Node "n": ` + remedy}},
		{"does not come up", newNode("n", "web", ageless, starting), []string{`NodeClaim "n-claim": ` + remedy}},
		{"never expires", newNode("n", "web", ageless, expiresAfter(v1.NeverDuration())), nil},
		{"conditions tell the time", newNode("n", "web", ageless, func(n *provisioning.Node) {
			n.Node = nil
			setCondition(n.NodeClaim, v1.ConditionTypeRegistered, metav1.ConditionUnknown, noon)
		}), nil},
		{"is leaving", newNode("n", "web", ageless, expiresAfter(v1.NewDuration(time.Hour)),
			func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }), nil},
		{"age is known", newNode("n", "web", expiresAfter(v1.NewDuration(72*time.Hour))), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := observe(t, newInput(tt.node), nil)
			require.Empty(t, f.Expiration().Actions)
			require.Empty(t, f.Liveness().Actions)
			var got []string
			for _, w := range f.Warnings() {
				got = append(got, w.Error())
			}
			require.Equal(t, tt.want, got)
		})
	}
	t.Run("costs as if it did not expire", func(t *testing.T) {
		cost := func(edits ...func(*provisioning.Node)) float64 {
			in := newInput(newNode("n", "web", append(edits, withPods(newPod("p")), expiresAfter(v1.NewDuration(96*time.Hour)))...))
			in.Drift = driftOf("n", "AMIDrift")
			candidates, _ := observe(t, in, nil).Candidates(disruption.MethodDrift)
			require.Len(t, candidates, 1)
			return candidates[0].LifetimeCost
		}
		require.Equal(t, 0.5, cost())
		require.Equal(t, 1.0, cost(ageless))
	})
}

func TestGarbage(t *testing.T) {
	notReady := nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "", 0)
	unclaimed := func(n *provisioning.Node) { n.NodeClaim = nil }
	ageless := func(n *provisioning.Node) {
		n.Node.CreationTimestamp = metav1.Time{}
		if n.NodeClaim != nil {
			n.NodeClaim.CreationTimestamp = metav1.Time{}
		}
	}
	machine := func(id, name string, age time.Duration) *cloudprovider.Instance {
		return &cloudprovider.Instance{ID: id, Name: name, CreatedAt: noon.Add(-age)}
	}
	tests := []struct {
		name      string
		nodes     []provisioning.Node
		instances []*cloudprovider.Instance
		want      []string
	}{
		{"nobody asked", []provisioning.Node{newNode("n", "web", notReady)}, nil, []string{}},
		{"machine gone", []provisioning.Node{newNode("n", "web", notReady)}, instances(), []string{"Delete n"}},
		{"a ready kubelet knows better", []provisioning.Node{newNode("n", "web")}, instances(), []string{}},
		{"going down is not gone", []provisioning.Node{newNode("n", "web", notReady)},
			instances(&cloudprovider.Instance{ID: "cloud://n", Deleting: true}), []string{}},
		{"not registered", []provisioning.Node{newNode("n", "web", func(n *provisioning.Node) {
			n.Node = nil
			withoutCondition(v1.ConditionTypeRegistered)(n)
		})}, instances(), []string{}},
		{"deleting", []provisioning.Node{newNode("n", "web", notReady, deleted)}, instances(), []string{"Delete n"}},
		{"deleting, with a deadline to come", []provisioning.Node{newNode("n", "web", notReady, deleted, withGrace(time.Hour))}, instances(), []string{"Delete n"}},
		{"deleting, with a deadline that has come", []provisioning.Node{newNode("n", "web", notReady, deleted, withGrace(0))}, instances(), []string{}},
		{"deleting, and the machine is being ended", []provisioning.Node{newNode("n", "web", notReady, deleted, withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0))}, instances(), []string{}},
		{"deleting, and there", []provisioning.Node{newNode("n", "web", notReady, deleted)}, instances(machine("cloud://n", "n-claim", time.Hour)), []string{}},
		{"too young", []provisioning.Node{newNode("n", "web", notReady, func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = at(-time.Minute + 1) })}, instances(), []string{}},
		{"claim of unknown age", []provisioning.Node{newNode("n", "web", notReady, withoutCondition(v1.ConditionTypeLaunched), ageless)}, instances(), []string{}},
		{"launched long ago", []provisioning.Node{newNode("n", "web", notReady, ageless)}, instances(), []string{"Delete n"}},
		{"node of unknown age", []provisioning.Node{newNode("n", "web", notReady, unclaimed, ageless)}, instances(), []string{}},
		{"node without claim", []provisioning.Node{newNode("n", "web", notReady, unclaimed)}, instances(), []string{"DeleteNode n"}},
		{"ready node without claim", []provisioning.Node{newNode("n", "web", unclaimed)}, instances(), []string{}},
		{"somebody else's node", []provisioning.Node{newNode("n", "web", notReady, withLabel(v1.NodePoolLabelKey, ""), unclaimed)}, instances(), []string{}},
		{"orphan", nil, instances(machine("i-2", "", time.Hour), machine("i-1", "x", time.Minute)), []string{"Terminate i-1", "Terminate i-2"}},
		{"young orphan", nil, instances(machine("i-1", "", time.Minute-1)), []string{}},
		{"orphan of unknown age", nil, instances(&cloudprovider.Instance{ID: "i-1"}), []string{}},
		{"orphan going down", nil, instances(&cloudprovider.Instance{ID: "i-1", CreatedAt: born, Deleting: true}), []string{}},
		{"launch under way", []provisioning.Node{newNode("n", "web", func(n *provisioning.Node) {
			n.Node, n.NodeClaim.Status.ProviderID = nil, ""
		})}, instances(machine("i-1", "n-claim", time.Hour)), []string{}},
		{"twin", []provisioning.Node{newNode("n", "web")}, instances(machine("cloud://n", "n-claim", time.Hour), machine("i-1", "n-claim", time.Hour)), []string{"Terminate i-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.nodes...)
			in.Instances = tt.instances
			require.Equal(t, tt.want, brief(observe(t, in, nil).Garbage().Actions))
		})
	}
	t.Run("nothing is drained", func(t *testing.T) {
		in := newInput(newNode("n", "web", notReady, deleted, withPods(newPod("p", note(v1.DoNotDisruptAnnotationKey, "true")))))
		in.Instances = instances()
		f := observe(t, in, nil)
		a := f.Garbage().Actions[0]
		claim := a.EditClaim(noon, in.Nodes[0].NodeClaim)
		require.Equal(t, "2026-03-02T12:00:00Z", claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey])
		objections := objectionsTo(t, noon, in, a, nil)
		require.Empty(t, objections)
		in.Nodes[0].NodeClaim = claim
		require.Empty(t, observe(t, in, nil).Garbage().Actions, "once")
	})
	t.Run("next", func(t *testing.T) {
		in := newInput()
		in.Instances = instances(machine("i-1", "", 20*time.Second))
		require.Equal(t, noon.Add(40*time.Second), observe(t, in, nil).Garbage().Next)
	})
	t.Run("unknown age is told", func(t *testing.T) {
		in := newInput(newNode("n", "web", notReady, withoutCondition(v1.ConditionTypeLaunched), ageless))
		require.Empty(t, observe(t, in, &disruption.Options{Lifecycle: disruption.LifecycleOptions{LaunchTimeout: -1}}).Warnings())
		in.Instances = instances()
		require.Len(t, observe(t, in, &disruption.Options{Lifecycle: disruption.LifecycleOptions{LaunchTimeout: -1}}).Warnings(), 1)
	})
	t.Run("an old list", func(t *testing.T) {
		in := newInput()
		in.Instances = instances(machine("i-1", "", 3*time.Minute))
		require.Len(t, observe(t, in, nil).Garbage().Actions, 1)
		in.InstancesAt = noon.Add(-2*time.Minute - time.Second)
		r := observe(t, in, nil).Garbage()
		require.Empty(t, r.Actions, "it was younger than the grace then")
		require.Zero(t, r.Next)
		in.InstancesAt = noon.Add(-2 * time.Minute)
		require.Len(t, observe(t, in, nil).Garbage().Actions, 1)
	})
}

func instances(list ...*cloudprovider.Instance) []*cloudprovider.Instance {
	return append([]*cloudprovider.Instance{}, list...)
}

func TestScaleDown(t *testing.T) {
	in := newInput(
		newNode("busy", "web", withPods(newPod("p"))),
		newNode("idle", "web", withPods(newPod("d", owner("apps/v1", "DaemonSet")))),
		newNode("launching", "web", func(n *provisioning.Node) { n.Node, n.NodeClaim.Status.ProviderID = nil, "" }),
		newNode("leaving", "web", func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }),
		newNode("underway", "web"),
	)
	in.MarkedForDeletion = map[string]disruption.Reason{"underway": disruption.Drifted}
	in.Nodes = append(in.Nodes, newNode("marked", "web", func(n *provisioning.Node) {
		n.Node.Spec.Taints = []corev1.Taint{v1.DisruptedNoScheduleTaint()}
	}))
	for wanted, want := range map[int64][]string{
		0: {"Delete launching-claim", "Delete idle", "Delete busy"},
		1: {"Delete launching-claim", "Delete idle"},
		2: {"Delete launching-claim"},
		3: {},
	} {
		in.NodePools = []*v1.NodePool{newPool("web", replicas(wanted, 0), budgetOf("0"))}
		f := observe(t, in, nil)
		r := f.ScaleDown()
		require.Equal(t, want, brief(r.Actions), "replicas %d", wanted)
		require.Empty(t, f.Pace(r.Actions).Wait, "budgets have no say")
	}
}

func TestInterruption(t *testing.T) {
	notice := func(node string, kind cloudprovider.InterruptionKind, deadline time.Duration) cloudprovider.Interruption {
		n := cloudprovider.Interruption{ID: string(kind), InstanceID: "cloud://" + node, Kind: kind, At: noon.Add(-time.Second)}
		if deadline != 0 {
			n.Deadline = noon.Add(deadline)
		}
		return n
	}
	spot := withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot)
	tests := []struct {
		name        string
		node        provisioning.Node
		notices     []cloudprovider.Interruption
		opts        *disruption.Options
		want        []string
		ignored     []string
		unavailable []string
	}{
		{name: "spot", node: newNode("n", "web", spot), notices: notices(notice("n", cloudprovider.InterruptionSpot, 2*time.Minute)),
			want: []string{"Delete n SpotInterrupted"}, unavailable: []string{"m.large/a/spot"}},
		{name: "protection does not count", node: newNode("n", "web", func(n *provisioning.Node) { n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true" }),
			notices: notices(notice("n", cloudprovider.InterruptionMaintenance, 0)), want: []string{"Delete n Maintenance"}},
		{name: "stopping", node: newNode("n", "web"), notices: notices(notice("n", cloudprovider.InterruptionStopping, 0)), want: []string{"Delete n Stopping"}},
		{name: "the most urgent decides", node: newNode("n", "web", spot), notices: notices(notice("n", cloudprovider.InterruptionMaintenance, time.Hour),
			notice("n", cloudprovider.InterruptionSpot, 2*time.Minute), notice("n", cloudprovider.InterruptionUnhealthy, 0)),
			want: []string{"Delete n Unhealthy"}, unavailable: []string{"m.large/a/spot"}},
		{name: "rebalance", node: newNode("n", "web"), notices: notices(notice("n", cloudprovider.InterruptionRebalance, 0)),
			want: []string{}, ignored: []string{"it is a recommendation"}},
		{name: "rebalance acted upon", node: newNode("n", "web"), notices: notices(notice("n", cloudprovider.InterruptionRebalance, 0)),
			opts: &disruption.Options{Lifecycle: disruption.LifecycleOptions{ActOnRebalance: true}}, want: []string{"Replace n RebalanceRecommended"}},
		{name: "rebalance of a protected node", node: newNode("n", "web", withPods(newPod("p", note(v1.DoNotDisruptAnnotationKey, "true")))),
			notices: notices(notice("n", cloudprovider.InterruptionRebalance, 0)), opts: &disruption.Options{Lifecycle: disruption.LifecycleOptions{ActOnRebalance: true}}, want: []string{}},
		{name: "unknown machine", node: newNode("n", "web"), notices: notices(notice("x", cloudprovider.InterruptionSpot, 0)),
			want: []string{}, ignored: []string{"no node has this machine"}},
		{name: "unknown kind", node: newNode("n", "web"), notices: notices(notice("n", "Meteor", 0)),
			want: []string{}, ignored: []string{`its kind "Meteor" is not known`}},
		{name: "unmanaged", node: newNode("n", "web", func(n *provisioning.Node) { n.NodeClaim = nil }), notices: notices(notice("n", cloudprovider.InterruptionSpot, 0)),
			want: []string{}, ignored: []string{"the node has no NodeClaim, so somebody else manages it"}},
		{name: "deleting", node: newNode("n", "web", func(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = new(at(0)) }),
			notices: notices(notice("n", cloudprovider.InterruptionSpot, 0)), want: []string{}, ignored: []string{"the node is on its way out already"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.node)
			in.Interruptions = tt.notices
			r := observe(t, in, tt.opts).Interruption()
			require.Equal(t, tt.want, brief(r.Actions))
			var ignored, unavailable []string
			for _, n := range r.Ignored {
				ignored = append(ignored, n.Why)
			}
			for _, key := range r.Unavailable {
				unavailable = append(unavailable, key.String())
			}
			require.Equal(t, tt.ignored, ignored)
			require.Equal(t, tt.unavailable, unavailable)
		})
	}
	t.Run("order and deadlines", func(t *testing.T) {
		in := newInput(newNode("a", "web"), newNode("b", "web"), newNode("c", "web"), newNode("d", "web"))
		in.Interruptions = notices(notice("a", cloudprovider.InterruptionMaintenance, time.Hour), notice("b", cloudprovider.InterruptionStopping, 0),
			notice("c", cloudprovider.InterruptionSpot, 2*time.Minute), notice("c", cloudprovider.InterruptionMaintenance, time.Minute),
			notice("d", cloudprovider.InterruptionUnhealthy, 0))
		r := observe(t, in, nil).Interruption()
		require.Equal(t, []string{"Delete c SpotInterrupted", "Delete a Maintenance", "Delete d Unhealthy", "Delete b Stopping"}, brief(r.Actions))
		require.Equal(t, noon.Add(time.Minute), r.Actions[0].DrainBy, "the earliest deadline of all")
		require.Zero(t, *r.Actions[2].DrainBound)
		require.Nil(t, r.Actions[3].DrainBound)
	})
}

func notices(list ...cloudprovider.Interruption) []cloudprovider.Interruption { return list }

// TestInterruptionTakesOver: the cloud does not wait until a node is replaced for
// the sake of cost.
func TestInterruptionTakesOver(t *testing.T) {
	notice := func(kind cloudprovider.InterruptionKind) []cloudprovider.Interruption {
		return []cloudprovider.Interruption{{ID: "1", InstanceID: "cloud://n", Kind: kind, At: noon, Deadline: noon.Add(2 * time.Minute)}}
	}
	for _, tt := range []struct {
		name    string
		reason  disruption.Reason
		kind    cloudprovider.InterruptionKind
		deleted bool
		want    []string
	}{
		{"from consolidation", disruption.Underutilized, cloudprovider.InterruptionSpot, false, []string{"Delete n SpotInterrupted"}},
		{"from drift", disruption.Drifted, cloudprovider.InterruptionMaintenance, false, []string{"Delete n Maintenance"}},
		{"not twice", disruption.Interrupted, cloudprovider.InterruptionSpot, false, []string{}},
		{"not from what must happen anyhow", disruption.Expired, cloudprovider.InterruptionSpot, false, []string{}},
		{"not on a recommendation", disruption.Underutilized, cloudprovider.InterruptionRebalance, false, []string{}},
		{"not when it is being deleted", disruption.Underutilized, cloudprovider.InterruptionSpot, true, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", func(n *provisioning.Node) {
				if tt.deleted {
					n.NodeClaim.DeletionTimestamp = new(at(0))
				}
			}))
			in.MarkedForDeletion = map[string]disruption.Reason{"n": tt.reason}
			in.Interruptions = notice(tt.kind)
			f := observe(t, in, &disruption.Options{Lifecycle: disruption.LifecycleOptions{ActOnRebalance: true}})
			r := f.Interruption()
			require.Equal(t, tt.want, brief(r.Actions))
			require.Len(t, r.Ignored, 1-len(tt.want))
			require.Empty(t, f.Pace(r.Actions).Wait)
			for _, a := range r.Actions {
				require.Empty(t, f.Recheck(a))
			}
		})
	}
}
