package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// ofStatefulSet makes a pod one that is made anew under its name.
func ofStatefulSet(p *corev1.Pod) { owner("apps/v1", "StatefulSet")(p) }

// A pod of a StatefulSet that is being deleted needs a place as if it were not, since it
// comes back; another one needs none.
func TestPodsThatComeBackNeedAPlace(t *testing.T) {
	big := sizedType("big", 4, 0.4)
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	for _, c := range []struct {
		name    string
		beside  int64 // milli-CPUs that are taken on the other node
		drifts  bool
		options *disruption.Options
		want    []string
		moves   int
	}{
		{"no room elsewhere", 3500, false, anySaving(), []string{}, 0},
		{"no room elsewhere, drifted", 3500, true, nil, []string{"Drifted n1 -> big saves 0.000"}, 1},
		{"room elsewhere, drifted", 100, true, nil, []string{"Drifted n1 ->  saves 0.400"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene := func(edits ...func(*corev1.Pod)) (disruption.Input, *corev1.Pod) {
				db := load("db-0", 3500, append(edits, ofStatefulSet)...)
				in := fleetOf([]*cloudprovider.InstanceType{big}, machine("n1", "default", big, db), machine("n2", "default", big, load("x", c.beside)))
				if c.drifts {
					in.Nodes[0] = with(in.Nodes[0], withCondition(v1.ConditionTypeDrifted, "True", -time.Hour))
					in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}}
					in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
				}
				return in, db
			}
			for name, edits := range map[string][]func(*corev1.Pod){"running": nil, "ending": {terminating}, "ended": {terminating, ended}} {
				if name == "ended" && !c.drifts {
					continue // its room is free to others, as it is a node that stays
				}
				in, db := scene(edits...)
				p := propose(t, in, c.options)
				require.Equal(t, c.want, deeds(p.Actions), name)
				if c.moves > 0 {
					require.Len(t, p.Actions[0].Moves, c.moves, name)
					require.Same(t, db, p.Actions[0].Moves[0].Pod, "the pod of the input")
				}
			}
			in, db := scene(terminating)
			owner("apps/v1", "ReplicaSet")(db)
			require.Empty(t, propose(t, in, c.options).Actions[0].Moves, "it does not come back")
		})
	}
}

// What was decided for a pod holds while it is being deleted, and only while it has a place.
func TestConfirmPodsThatComeBack(t *testing.T) {
	big := sizedType("big", 4, 0.4)
	scene := func(beside int64, edits ...func(*corev1.Pod)) disruption.Input {
		in := fleetOf([]*cloudprovider.InstanceType{big}, with(machine("n1", "default", big, load("db-0", 3000, append(edits, ofStatefulSet)...)),
			withCondition(v1.ConditionTypeDrifted, "True", -time.Hour)), machine("n2", "default", big, load("x", beside)))
		in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}}
		in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
		return in
	}
	actions := propose(t, scene(100), nil).Actions
	require.Len(t, actions, 1)
	confirm := func(in disruption.Input, a disruption.Action) (kinds []disruption.ObjectionKind) {
		objections := objectionsTo(t, noon, in, a, nil)
		for _, o := range objections {
			kinds = append(kinds, o.Kind)
		}
		return kinds
	}
	require.Empty(t, confirm(scene(100, terminating), actions[0]))
	require.Equal(t, []disruption.ObjectionKind{disruption.ObjectionDestination}, confirm(scene(3500, terminating), actions[0]))

	without := actions[0]
	without.Moves = nil
	require.Contains(t, confirm(scene(100, terminating), without), disruption.ObjectionNewPods)
}

// A topology spread does not count a pod that is being deleted, so nothing leaves its domain
// when it comes back: the zone has one more, and another pod of the workload may land beside.
func TestPodsThatComeBackWereNotCounted(t *testing.T) {
	there := onDemand("b", 0.4)
	there.Available = false
	big := sizedType("big", 4, 0.4, onDemand("a", 0.4), there)
	db := func(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
		return load(name, 2000, append(edits, spreading("db", corev1.LabelTopologyZone), ofStatefulSet)...)
	}
	drifted := withCondition(v1.ConditionTypeDrifted, "True", -time.Hour)
	zone := func(name string) func(*provisioning.Node) { return withLabel(corev1.LabelTopologyZone, name) }
	in := fleetOf([]*cloudprovider.InstanceType{big},
		with(machine("n1", "default", big, db("db-0", terminating)), zone("b"), drifted), with(machine("n2", "default", big, load("x", 1500)), zone("b")),
		with(machine("n3", "default", big, db("db-1")), drifted), machine("n4", "default", big, db("db-2"), load("y", 1500)))
	in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}, "n3-claim": {Reason: "AMIDrift"}}
	in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n1 ->  saves 0.400", "Drifted n3 -> big saves 0.000"}, deeds(p.Actions), "%v", p.Blocked)
}
