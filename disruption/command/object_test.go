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

// What a step does to an object is what apply says it does to a view.
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
	for _, kind := range []command.StepKind{command.StepRecord, command.StepHold, command.StepReason, command.StepBound,
		command.StepClearReason, command.StepUnhold, command.StepRelease, command.StepTaint, command.StepUntaint} {
		step := command.Step{Kind: kind, Object: "x"}
		switch kind {
		case command.StepRecord, command.StepTaint:
			step.Record = record
		case command.StepReason:
			step.Reason = "Drifted"
		case command.StepBound:
			step.DrainBy = commandStart.Add(time.Minute)
		}
		for _, claim := range claims {
			before := claim.DeepCopy()
			edited := step.EditClaim(commandStart, claim)
			require.Equal(t, before, claim, "not changed")
			view := command.View{Claims: []command.Claim{command.ObserveClaim(claim, nil, 0)}}
			require.Equal(t, apply(view, step).Claims[0], command.ObserveClaim(edited, nil, 0), "%s", step)
			require.Equal(t, edited, step.EditClaim(commandStart.Add(time.Hour), edited), "idempotent: %s", step)
		}
		for _, node := range nodes {
			before := node.DeepCopy()
			edited := step.EditNode(node)
			require.Equal(t, before, node, "not changed")
			view := command.View{Nodes: []command.Node{command.ObserveNode(node)}}
			require.Equal(t, apply(view, step).Nodes[0], command.ObserveNode(edited), "%s", step)
		}
	}
	require.Nil(t, command.Step{}.EditClaim(commandStart, nil))
	require.Nil(t, command.Step{}.EditNode(nil))
}

// The time of a condition is that of its last change of status.
func TestEditClaimTransition(t *testing.T) {
	step := command.Step{Kind: command.StepReason, Reason: "Drifted"}
	claim := step.EditClaim(commandStart, &v1.NodeClaim{})
	step.Reason = "Empty"
	claim = step.EditClaim(commandStart.Add(time.Hour), claim)
	require.Len(t, claim.Status.Conditions, 1)
	require.Equal(t, "Empty", claim.Status.Conditions[0].Reason)
	require.True(t, claim.Status.Conditions[0].LastTransitionTime.Time.Equal(commandStart))
	claim.Status.Conditions[0].Status = metav1.ConditionFalse
	claim = step.EditClaim(commandStart.Add(time.Hour), claim)
	require.True(t, claim.Status.Conditions[0].LastTransitionTime.Time.Equal(commandStart.Add(time.Hour)))
}

func ExampleStep_EditClaim() {
	c := exampleCommand()
	step := command.Step{Kind: command.StepCreate, Object: c.Replacements[0].Token, NodePool: "web",
		Record: command.Record{Command: c}.String()}
	template := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}
	claim := step.EditClaim(exampleNow, template)
	fmt.Println(claim.Name, claim.Labels, len(claim.Annotations))
	// Output: web-497db539bde6-0 map[karpenter.sh/nodepool:web] 1
}

func ExampleStep_EditNode() {
	step := command.Step{Kind: command.StepTaint, Object: "n", Record: "{}"}
	node := step.EditNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	fmt.Println(node.Spec.Taints[0].ToString(), node.Annotations)
	// Output: karpenter.sh/disrupted:NoSchedule map[dovetail-sdk.github.io/disruption-command:{}]
}
