package disruption_test

import (
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

// reservation is an offering of a reserved place.
func reservation(id string, left int) cloudprovider.Offering {
	return cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, Price: 0.001, Available: true,
		ReservationCapacity: left, Requirements: requirements.MustParse("example.com/reservation = " + id)}
}

// reservedInput is a pool of reserved capacity only, of which nothing is left,
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
			in.NodePools[0].DeletionTimestamp = ptr(at(-time.Minute))
		}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := reservedInput()
			test.edit(&in)
			p, err := disruption.Propose(t.Context(), noon, in, test.opts)
			require.NoError(t, err)
			require.NoError(t, p.Faults)
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
	p, err := disruption.Propose(t.Context(), noon, in, opts)
	require.NoError(t, err)
	require.Equal(t, disruption.TerminateFirstDrain, *p.Actions[0].DrainBound)
	made, err := observe(t, in, opts).Command(p.Actions[0])
	require.NoError(t, err)
	require.Equal(t, command.TerminateFirst, made.Command.Mode)
	require.Empty(t, made.Claims)
	require.Equal(t, "record reason taint bound delete", newCluster(in).carryOut(t, made))

	after, err := disruption.After(noon, in, p.Actions, opts)
	require.NoError(t, err)
	require.Equal(t, 1, after.InstanceTypes["web"][0].Offerings[0].ReservationCapacity)
	require.Len(t, after.Pods, 1)
	plan, err := provisioning.Solve(t.Context(), after.Input, nil)
	require.NoError(t, err)
	require.Len(t, plan.Create, 1)
	full := disruption.AfterPlan(noon, after, plan)
	require.Zero(t, full.InstanceTypes["web"][0].Offerings[0].ReservationCapacity)
	require.Equal(t, full.Nodes[0].Name(), homes(full)["a"])

	in.Nodes[0].NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Minute}
	p, err = disruption.Propose(t.Context(), noon, in, opts)
	require.NoError(t, err)
	require.Nil(t, p.Actions[0].DrainBound, "it has one of its own")
}
