package aws_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const machineID = "aws:///us-east-1a/i-0123456789abcdef0"

// reservedLabels are those of a machine of a reservation.
func reservedLabels() map[string]string {
	return map[string]string{
		karpv1.CapacityTypeLabelKey:                 karpv1.CapacityTypeReserved,
		karpv1.NodeRegisteredLabelKey:               "true",
		awsv1.LabelCapacityReservationID:            "cr-1",
		awsv1.LabelCapacityReservationType:          "default",
		awsv1.LabelCapacityReservationInterruptible: "false",
		"team": "blue",
	}
}

func demotedMachine() *cloudprovider.Instance {
	return &cloudprovider.Instance{ID: machineID, CapacityType: karpv1.CapacityTypeOnDemand}
}

func TestDemotion(t *testing.T) {
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: reservedLabels()}}
	claim.Status.ProviderID = machineID
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-1", Labels: reservedLabels()}, Spec: corev1.NodeSpec{ProviderID: machineID}}
	want := map[string]string{karpv1.CapacityTypeLabelKey: karpv1.CapacityTypeOnDemand, karpv1.NodeRegisteredLabelKey: "true", "team": "blue"}

	require.Equal(t, want, aws.DemoteClaim(claim, demotedMachine()).Labels)
	require.Equal(t, want, aws.DemoteNode(node, demotedMachine()).Labels)
	require.Equal(t, reservedLabels(), claim.Labels, "what is given stays as it is")
	require.Equal(t, reservedLabels(), node.Labels)

	again := aws.DemoteClaim(claim, demotedMachine())
	require.Same(t, again, aws.DemoteClaim(again, demotedMachine()), "there is nothing to store")
	on := aws.DemoteNode(node, demotedMachine())
	require.Same(t, on, aws.DemoteNode(on, demotedMachine()))

	require.Nil(t, aws.DemoteClaim(nil, demotedMachine()))
	require.Nil(t, aws.DemoteNode(nil, demotedMachine()))
	require.Same(t, claim, aws.DemoteClaim(claim, nil))
	require.Same(t, node, aws.DemoteNode(node, nil))
	for name, machine := range map[string]*cloudprovider.Instance{
		"it draws on the reservation": {ID: machineID, CapacityType: karpv1.CapacityTypeReserved},
		"it is spot":                  {ID: machineID, CapacityType: karpv1.CapacityTypeSpot},
		"it is another machine":       {ID: "aws:///us-east-1a/i-2", CapacityType: karpv1.CapacityTypeOnDemand},
	} {
		require.Same(t, claim, aws.DemoteClaim(claim, machine), name)
		require.Same(t, node, aws.DemoteNode(node, machine), name)
	}

	starting := node.DeepCopy()
	delete(starting.Labels, karpv1.NodeRegisteredLabelKey)
	require.Same(t, starting, aws.DemoteNode(starting, demotedMachine()), "it gets the labels of its NodeClaim")
	now := metav1.Now()
	claim.DeletionTimestamp, node.DeletionTimestamp = &now, &now
	require.Same(t, claim, aws.DemoteClaim(claim, demotedMachine()), "it goes anyhow")
	require.Same(t, node, aws.DemoteNode(node, demotedMachine()))
}

// A capacity reservation has ended, and its machine runs on.
func ExampleDemoteClaim() {
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: map[string]string{
		"karpenter.sh/capacity-type": "reserved", "karpenter.k8s.aws/capacity-reservation-id": "cr-1"}}}
	claim.Status.ProviderID = "aws:///us-east-1a/i-1"
	machine := &cloudprovider.Instance{ID: "aws:///us-east-1a/i-1", CapacityType: "on-demand"} // of Provider.List

	if changed := aws.DemoteClaim(claim, machine); changed != claim {
		fmt.Println("store", changed.Name, changed.Labels)
	}
	// Output: store web-1 map[karpenter.sh/capacity-type:on-demand]
}

// The Node of a machine whose capacity reservation has ended.
func ExampleDemoteNode() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1", Labels: map[string]string{
		"karpenter.sh/capacity-type": "reserved", "karpenter.sh/registered": "true"}}}
	node.Spec.ProviderID = "aws:///us-east-1a/i-1"
	machine := &cloudprovider.Instance{ID: "aws:///us-east-1a/i-1", CapacityType: "on-demand"}

	fmt.Println(aws.DemoteNode(node, machine).Labels["karpenter.sh/capacity-type"])
	// Output: on-demand
}
