package aws_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// kept carries edits out on objects, and says of which kind each was.
func kept(in *aws.Objects, edits []aws.Edit) (kinds []string) {
	for _, e := range edits {
		kinds = append(kinds, fmt.Sprintf("%T %s", e.After, e.After.GetName()))
		for i := range in.NodeClasses {
			if e.Before == in.NodeClasses[i] {
				in.NodeClasses[i] = e.After.(*awsv1.EC2NodeClass)
			}
		}
		for i := range in.NodeClaims {
			if e.Before == in.NodeClaims[i] {
				in.NodeClaims[i] = e.After.(*karpv1.NodeClaim)
			}
		}
	}
	return kinds
}

// A machine's class, claim and instance are brought up to date about each other, and then
// there is nothing left to write.
func TestKeep(t *testing.T) {
	s := newScene(t)
	machines := s.launchAll(tokens(1), large)
	var machine *cloudprovider.Instance
	for _, m := range machines {
		machine = m
	}
	s.cloud.Advance(time.Minute)
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: machine.Name, Labels: map[string]string{corev1.LabelInstanceTypeStable: machine.Type}}}
	claim.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: s.class.Name}
	claim.Status.ProviderID, claim.Status.NodeName, claim.Status.ImageID = machine.ID, "ip-1", machine.ImageID
	claim.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionTypeRegistered, Status: metav1.ConditionTrue}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-1"}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7700Mi")}}}
	in := aws.Objects{NodeClasses: []*awsv1.EC2NodeClass{s.class, nil}, NodeClaims: []*karpv1.NodeClaim{claim, nil}, Nodes: []*corev1.Node{nil, node}, Instances: []*cloudprovider.Instance{nil, machine}}

	edits, err := s.p.Keep(t.Context(), in)
	require.NoError(t, err)
	require.Contains(t, kept(&in, edits), "*v1.EC2NodeClass "+s.class.Name)
	require.Empty(t, claim.Annotations, "what is given stays as it is")
	class := in.NodeClasses[0]
	require.Contains(t, class.Finalizers, awsv1.TerminationFinalizer)
	require.NotEmpty(t, class.Status.Subnets)
	for range 2 { // the second edit of an object is of the next call
		edits, err = s.p.Keep(t.Context(), in)
		require.NoError(t, err)
		kept(&in, edits)
	}
	require.Equal(t, "true", in.NodeClaims[0].Annotations[awsv1.InstanceTaggedAnnotationKey])
	require.Equal(t, "ip-1", s.cloud.Instances()[0].Tags[awsv1.NameTagKey])
	require.Empty(t, edits)
	all, err := s.p.Status(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(all.Learned), machine.Type)
}

// The finalizer of a class goes when no NodeClaim is of it, and not before.
func TestKeepAClassThatGoes(t *testing.T) {
	s := newScene(t)
	class := s.class.DeepCopy()
	class.DeletionTimestamp, class.Finalizers = &metav1.Time{Time: s.cloud.Now()}, []string{"other", awsv1.TerminationFinalizer}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	claim.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: class.Name}
	edits, err := s.p.Keep(t.Context(), aws.Objects{NodeClasses: []*awsv1.EC2NodeClass{class}, NodeClaims: []*karpv1.NodeClaim{claim}})
	require.NoError(t, err)
	require.Empty(t, edits)
	edits, err = s.p.Keep(t.Context(), aws.Objects{NodeClasses: []*awsv1.EC2NodeClass{class}})
	require.NoError(t, err)
	require.Len(t, edits, 1)
	require.Equal(t, []string{"other"}, edits[0].After.GetFinalizers())
	edits, err = s.p.Keep(t.Context(), aws.Objects{NodeClasses: []*awsv1.EC2NodeClass{edits[0].After.(*awsv1.EC2NodeClass)}})
	require.NoError(t, err)
	require.Empty(t, edits)
}

// A machine whose reservation has ended loses its labels on both objects, the Node first.
func TestKeepDemotes(t *testing.T) {
	s := newScene(t)
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: reservedLabels(),
		Annotations: map[string]string{awsv1.InstanceTaggedAnnotationKey: "true", awsv1.ClusterNameTaggedAnnotationKey: "true"}}}
	claim.Status.ProviderID, claim.Status.NodeName = machineID, "ip-1"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-1", Labels: reservedLabels()}, Spec: corev1.NodeSpec{ProviderID: machineID}}
	in := aws.Objects{NodeClaims: []*karpv1.NodeClaim{claim}, Nodes: []*corev1.Node{node}, Instances: []*cloudprovider.Instance{demotedMachine()}}
	edits, err := s.p.Keep(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, []string{"*v1.Node ip-1", "*v1.NodeClaim web-1"}, kept(&in, edits))

	// A class that does not exist is a fault, and keeps no other from being looked at.
	in.NodeClaims, in.NodeClasses = []*karpv1.NodeClaim{claim}, []*awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}}
	edits, err = s.p.Keep(t.Context(), in)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	require.Len(t, edits, 2)
}

// A controller asks every ten seconds or so what to store.
func ExampleProvider_Keep() {
	p, done := open()
	defer done()
	edits, err := p.Keep(context.Background(), aws.Objects{NodeClasses: []*awsv1.EC2NodeClass{nodeClass()}})
	if err != nil {
		panic(err)
	}
	for _, e := range edits {
		class := e.After.(*awsv1.EC2NodeClass)
		fmt.Println(class.Name, class.Finalizers, len(class.Status.Subnets), "subnets")
	}
	// Output:
	// default [karpenter.k8s.aws/termination] 3 subnets
}
