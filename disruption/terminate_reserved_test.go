package disruption_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// reservation returns an offering of a reserved place.
func reservation(id string, left int) cloudprovider.Offering {
	return cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, Price: 0.001, Available: true,
		ReservationCapacity: left, Requirements: requirements.MustParse("example.com/reservation = " + id)}
}

// reservedInput returns a pool of reserved capacity only, of which nothing is left,
// and a drifted node of it with a pod.
func reservedInput() disruption.Input {
	in := newInput(roomy("held", "c.8", 8, newPod("a", asking("6"))))
	in.InstanceTypes["web"] = []*cloudprovider.InstanceType{sized("c.8", 8, 0.8)}
	in.InstanceTypes["web"][0].Offerings = []cloudprovider.Offering{reservation("cr-1", 0)}
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: v1.CapacityTypeLabelKey,
		Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeReserved}}}
	withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)(&in.Nodes[0])
	withLabel("example.com/reservation", "cr-1")(&in.Nodes[0])
	in.Drift = map[string]cloudprovider.Drift{"held-claim": {Reason: "AMIDrift", Detail: "another image"}}
	return in
}

func TestDynamicNodesThatHoldAFullReservation(t *testing.T) {
	first := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}
	for _, test := range []struct {
		name string
		opts *disruption.Options
		edit func(*disruption.Input)
		want []string
	}{
		{"the option is off", nil, func(*disruption.Input) {}, []string{}},
		{"nothing is left", first, func(*disruption.Input) {}, []string{"TerminateFirst held AMIDrift (NoReservedCapacity)"}},
		{"another place is left", first, func(in *disruption.Input) {
			in.InstanceTypes["web"][0].Offerings[0].ReservationCapacity = 1
		}, []string{"Replace held AMIDrift"}},
		{"on-demand will do", first, func(in *disruption.Input) {
			in.NodePools[0].Spec.Template.Spec.Requirements = nil
			in.InstanceTypes["web"][0].Offerings = append(in.InstanceTypes["web"][0].Offerings,
				cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: 0.8, Available: true,
					Requirements: requirements.MustParse("!example.com/reservation")})
		}, []string{"Replace held AMIDrift"}},
		{"it is not reserved", first, func(in *disruption.Input) {
			withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)(&in.Nodes[0])
		}, []string{}},
		{"the reservation is not offered now", first, func(in *disruption.Input) {
			in.InstanceTypes["web"][0].Offerings[0].Available = false
		}, []string{}},
		{"the pods would not fit there either", first, func(in *disruption.Input) {
			in.Nodes[0].Pods[0] = newPod("a", asking("7900m"))
			in.DaemonSetPods = []*corev1.Pod{newPod("agent", asking("200m"), owner("apps/v1", "DaemonSet"))}
		}, []string{}},
		{"the pool is being deleted", first, func(in *disruption.Input) {
			in.NodePools[0].DeletionTimestamp = new(at(-time.Minute))
		}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := reservedInput()
			test.edit(&in)
			p := propose(t, in, test.opts)
			require.Equal(t, test.want, brief(p.Actions))
			if len(test.want) == 0 {
				require.Contains(t, rules(p.Blocked), "held "+string(disruption.CodeUnplaced)+` Pod "shop/a"`)
			}
		})
	}
}

// The drain is bounded, as nothing runs the pods meanwhile, and what becomes of
// the command and of the place can be seen in advance.
func TestADynamicNodeGivesItsReservationBack(t *testing.T) {
	in, opts := reservedInput(), &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}
	p := propose(t, in, opts)
	require.Equal(t, disruption.TerminateFirstDrain, *p.Actions[0].DrainBound)
	made, err := observe(t, in, opts).Command(p.Actions[0])
	require.NoError(t, err)
	require.Equal(t, command.TerminateFirst, made.Command.Mode)
	require.Empty(t, made.Claims)
	require.Equal(t, "record reason taint bound delete", newCluster(in).carryOut(t, made))

	after := carriedOut(t, noon, in, p.Actions, opts)
	require.Equal(t, 1, after.InstanceTypes["web"][0].Offerings[0].ReservationCapacity)
	require.Len(t, after.Pods, 1)
	plan, err := provisioning.Solve(t.Context(), after.Input, nil)
	require.NoError(t, err)
	require.Len(t, plan.Create, 1)
	full := disruption.AfterPlan(noon, after, plan)
	require.Zero(t, full.InstanceTypes["web"][0].Offerings[0].ReservationCapacity)
	require.Equal(t, full.Nodes[0].Name(), homes(full)["a"])

	in.Nodes[0].NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Minute}
	p = propose(t, in, opts)
	require.Nil(t, p.Actions[0].DrainBound, "it has one of its own")
}

// fullInput is reservedInput with nodes alike of which each needs room elsewhere for one of
// its pods once it has gone, as new nodes have an agent, and a node with room for one.
func fullInput(names ...string) disruption.Input {
	in := reservedInput()
	held := in.Nodes[0]
	in.Nodes, in.Drift = nil, map[string]cloudprovider.Drift{}
	for _, name := range names {
		n := roomy(name, "c.8", 8, newPod(name+"-a", asking("6")), newPod(name+"-b", asking("2")))
		n.Node.Labels, n.NodeClaim.Labels = maps.Clone(held.Node.Labels), maps.Clone(held.NodeClaim.Labels)
		n.Node.Labels[corev1.LabelHostname] = name
		in.Nodes = append(in.Nodes, n)
		in.Drift[name+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
	}
	in.NodePools = append(in.NodePools, newPool("other"))
	in.Nodes = append(in.Nodes, elsewhere("spare", newPod("x", asking("4"))))
	in.DaemonSetPods = []*corev1.Pod{newPod("agent", asking("1"), owner("apps/v1", "DaemonSet"))}
	return in
}

// elsewhere returns a node of a pool that launches none.
func elsewhere(name string, pods ...*corev1.Pod) provisioning.Node {
	n := roomy(name, "c.8", 8, pods...)
	withLabel(v1.NodePoolLabelKey, "other")(&n)
	return n
}

// Where pods go once the place of their node is free is asked in the cluster as it will be
// when all that was decided is done.
func TestWhatGoesFirstSeesWhatWasDecided(t *testing.T) {
	pending := newPod("waiting", asking("2"))
	pending.Spec.NodeName = ""
	for _, test := range []struct {
		name  string
		nodes []string
		edit  func(*disruption.Input)
		want  []string
	}{
		{"there is room", []string{"n1"}, func(*disruption.Input) {}, []string{"TerminateFirst n1 AMIDrift (NoReservedCapacity)"}},
		{"the node with room is on its way out", []string{"n1"}, func(in *disruption.Input) {
			in.MarkedForDeletion = map[string]disruption.Reason{"spare": disruption.Underutilized}
		}, []string{}},
		{"the node with room is not initialized", []string{"n1"}, func(in *disruption.Input) {
			delete(in.Nodes[1].Node.Labels, v1.NodeInitializedLabelKey)
		}, []string{}},
		{"a pod that waits takes the room", []string{"n1"}, func(in *disruption.Input) {
			in.Pods = []*corev1.Pod{pending}
		}, []string{}},
		{"a pod of a node on its way out takes the room", []string{"n1"}, func(in *disruption.Input) {
			in.Nodes = append(in.Nodes, elsewhere("leaving", newPod("y", asking("2"))))
			in.MarkedForDeletion = map[string]disruption.Reason{"leaving": disruption.Underutilized}
		}, []string{}},
		{"one before it takes the room", []string{"n1", "n2"}, func(*disruption.Input) {},
			[]string{"TerminateFirst n1 AMIDrift (NoReservedCapacity)"}},
		{"each finds room of its own", []string{"n1", "n2"}, func(in *disruption.Input) {
			in.Nodes = append(in.Nodes, elsewhere("other", newPod("y", asking("4"))))
		}, []string{"TerminateFirst n1 AMIDrift (NoReservedCapacity)", "TerminateFirst n2 AMIDrift (NoReservedCapacity)"}},
		{"the place of one before it is taken again", []string{"n1", "n2"}, func(in *disruption.Input) {
			in.Nodes[1].Pods[1] = newPod("n2-b", asking("7"))
		}, []string{"TerminateFirst n1 AMIDrift (NoReservedCapacity)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := fullInput(test.nodes...)
			test.edit(&in)
			p := propose(t, in, &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}})
			require.Equal(t, test.want, brief(p.Actions), "%v", p.Actions)
		})
	}
}

// Repair looks for places for pods that nothing can evict as well, drift does not.
func TestWhatGoesFirstAndPodsThatNothingCanEvict(t *testing.T) {
	in := fullInput("n1")
	in.Nodes = in.Nodes[:1]
	bounded := metav1.Duration{Duration: time.Hour}
	in.Nodes[0].NodeClaim.Spec.TerminationGracePeriod = &bounded
	in.Nodes[0].Pods[1] = newPod("n1-b", asking("2"), note(v1.DoNotDisruptAnnotationKey, "true"))
	opts := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}, Repair: disruption.RepairOptions{TerminateFirst: true, Share: 1}}
	p := propose(t, in, opts)
	require.Equal(t, []string{"TerminateFirst n1 AMIDrift (NoReservedCapacity)"}, brief(p.Actions))
	require.Contains(t, p.Actions[0].Detail, "1 new node for 1 pod")

	in.Drift = nil
	nodeCondition("Bad", "True", "Broken", -time.Hour)(&in.Nodes[0])
	in.RepairPolicies = []cloudprovider.RepairPolicy{{ConditionType: "Bad", ConditionStatus: "True", Action: cloudprovider.ReplaceNode}}
	p = propose(t, in, opts)
	require.Empty(t, p.Actions)
	require.Contains(t, rules(p.Blocked), "n1 "+string(disruption.CodeUnplaced)+` Pod "shop/n1-a"`)

	in.DaemonSetPods = nil
	p = propose(t, in, opts)
	require.Equal(t, []string{"TerminateFirst n1 Bad (NoReservedCapacity)"}, brief(p.Actions))
	require.Contains(t, p.Actions[0].Detail, "1 new node for 2 pods")
}

// A node that the pods of another are about to come to stays until they have.
func TestWhatGoesFirstTakesNoPods(t *testing.T) {
	in := fullInput("n1")
	in.Nodes = append(in.Nodes[:1], elsewhere("n2", newPod("y", asking("3"))))
	in.Nodes[0].Pods = []*corev1.Pod{newPod("n1-a", asking("2"), reservedOnly)}
	in.NodePools[1] = newPool("other")
	in.InstanceTypes["other"] = []*cloudprovider.InstanceType{sized("c.8", 8, 0.8)}
	in.Drift["n2-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
	p := propose(t, in, &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}})
	require.Equal(t, []string{"Delete n2 AMIDrift"}, brief(p.Actions), "%v", p.Actions)
	require.Equal(t, "n1", p.Actions[0].Moves[0].Node)
}

func reservedOnly(p *corev1.Pod) {
	p.Spec.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeReserved}
}
