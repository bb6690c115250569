package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// What a write does to an object is what apply says it does to an input.
func TestEditIsApply(t *testing.T) {
	record := command.Record{Command: newTestCommand(t, nil)}.String()
	deleted := metav1.NewTime(commandStart)
	claims := []*v1.NodeClaim{
		{ObjectMeta: metav1.ObjectMeta{Name: "x"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{command.AnnotationKey: "old",
			v1.NodeClaimTerminationTimestampAnnotationKey: "2026-03-02T10:00:00Z"}, Finalizers: []string{command.HoldFinalizer, v1.TerminationFinalizer}},
			Status: v1.NodeClaimStatus{Conditions: []metav1.Condition{{Type: v1.ConditionTypeDisruptionReason, Status: metav1.ConditionTrue, Reason: "Empty"}}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "x", DeletionTimestamp: &deleted, Finalizers: []string{v1.TerminationFinalizer}}},
	}
	nodes := []*corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "x"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{command.AnnotationKey: "old"}},
			Spec: corev1.NodeSpec{Taints: []corev1.Taint{v1.DisruptedNoScheduleTaint(), {Key: "other"}}}},
	}
	for _, kind := range []command.WriteKind{command.WriteRecord, command.WriteHold, command.WriteReason, command.WriteBound,
		command.WriteClearReason, command.WriteUnhold, command.WriteRelease, command.WriteTaint, command.WriteUntaint} {
		write := command.Write{Kind: kind, Object: "x"}
		switch kind {
		case command.WriteRecord, command.WriteTaint:
			write.Record = record
		case command.WriteReason:
			write.Reason = "Drifted"
		case command.WriteBound:
			write.DrainBy = commandStart.Add(time.Minute)
		}
		for _, claim := range claims {
			before := claim.DeepCopy()
			edited := write.EditClaim(commandStart, claim)
			require.Equal(t, before, claim, "not changed")
			view := command.Input{Claims: []command.Claim{command.ObserveClaim(claim, nil, 0)}}
			require.Equal(t, apply(view, write).Claims[0], command.ObserveClaim(edited, nil, 0), "%s", write)
			require.Equal(t, edited, write.EditClaim(commandStart.Add(time.Hour), edited), "idempotent: %s", write)
		}
		for _, node := range nodes {
			before := node.DeepCopy()
			edited := write.EditNode(node)
			require.Equal(t, before, node, "not changed")
			view := command.Input{Nodes: []command.Node{command.ObserveNode(node)}}
			require.Equal(t, apply(view, write).Nodes[0], command.ObserveNode(edited), "%s", write)
		}
	}
	require.Nil(t, command.Write{}.EditClaim(commandStart, nil))
	require.Nil(t, command.Write{}.EditNode(nil))
}

// The time of a condition is that of its last change of status.
func TestEditClaimTransition(t *testing.T) {
	write := command.Write{Kind: command.WriteReason, Reason: "Drifted"}
	claim := write.EditClaim(commandStart, &v1.NodeClaim{})
	write.Reason = "Empty"
	claim = write.EditClaim(commandStart.Add(time.Hour), claim)
	require.Len(t, claim.Status.Conditions, 1)
	require.Equal(t, "Empty", claim.Status.Conditions[0].Reason)
	require.True(t, claim.Status.Conditions[0].LastTransitionTime.Time.Equal(commandStart))
	claim.Status.Conditions[0].Status = metav1.ConditionFalse
	claim = write.EditClaim(commandStart.Add(time.Hour), claim)
	require.True(t, claim.Status.Conditions[0].LastTransitionTime.Time.Equal(commandStart.Add(time.Hour)))
}

func ExampleWrite_EditClaim() {
	c := exampleCommand()
	write := command.Write{Kind: command.WriteCreate, Object: c.Replacements[0].Token, NodePool: "web",
		Record: command.Record{Command: c}.String()}
	template := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}
	claim := write.EditClaim(exampleNow, template)
	fmt.Println(claim.Name, claim.Labels, len(claim.Annotations))
	// Output: web-497db539bde6-0 map[karpenter.sh/nodepool:web] 1
}

func ExampleWrite_EditNode() {
	write := command.Write{Kind: command.WriteTaint, Object: "n", Record: "{}"}
	node := write.EditNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	fmt.Println(node.Spec.Taints[0].ToString(), node.Annotations)
	// Output: karpenter.sh/disrupted:NoSchedule map[dovetail-sdk.github.io/disruption-command:{}]
}
