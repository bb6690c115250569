package nodeclaim

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// EditClaim returns a NodeClaim with the condition, for a program that stores whole objects. now
// becomes the time of transition if the Status changes. Ready is set from Launched, Registered and
// Initialized: True if all three are True, False if one is False, and otherwise Unknown; its
// message names those that are not True.
//
// The given claim is not changed. If it has all of that already, it is returned itself: there is
// nothing to store if the pointers are equal. A nil claim stays nil, and a zero Condition changes
// nothing.
func (s Condition) EditClaim(now time.Time, claim *v1.NodeClaim) *v1.NodeClaim {
	if claim == nil || s.Type == "" {
		return claim
	}
	conditions := withCondition(claim.Status.Conditions, s, claim.Generation, now)
	conditions = withCondition(conditions, readiness(conditions), claim.Generation, now)
	if slices.Equal(conditions, claim.Status.Conditions) {
		return claim
	}
	c := claim.DeepCopy()
	c.Status.Conditions = conditions
	return c
}

// withCondition returns a copy of the list with a condition set.
func withCondition(list []metav1.Condition, s Condition, generation int64, now time.Time) []metav1.Condition {
	return status.With(list, metav1.Condition{Type: s.Type, Status: s.Status, Reason: s.Reason, Message: s.Message, ObservedGeneration: generation}, now)
}

// readiness returns the condition Ready for the other conditions.
func readiness(list []metav1.Condition) Condition {
	ready := Condition{Type: v1.ConditionTypeReady, Status: metav1.ConditionTrue, Reason: v1.ConditionTypeReady}
	var lacking []string
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		is := metav1.ConditionUnknown
		if c := status.Find(list, kind); c != nil {
			is = c.Status
		}
		switch {
		case is == metav1.ConditionTrue:
			continue
		case is == metav1.ConditionFalse:
			ready.Status, ready.Reason = is, "UnhealthyDependents"
		case ready.Status == metav1.ConditionTrue:
			ready.Status, ready.Reason = metav1.ConditionUnknown, "ReconcilingDependents"
		}
		lacking = append(lacking, kind+"="+string(is))
	}
	ready.Message = strings.Join(lacking, ", ")
	return ready
}

// EditNode returns a Node with the label karpenter.sh/initialized if s is the condition Initialized
// with Status True; otherwise the Node itself. The given Node is not changed, and is returned
// itself if there is nothing to change. Registration.Node has the changes of registration.
func (s Condition) EditNode(node *corev1.Node) *corev1.Node {
	if node == nil || s.Type != v1.ConditionTypeInitialized || s.Status != metav1.ConditionTrue ||
		node.Labels[v1.NodeInitializedLabelKey] == "true" {
		return node
	}
	n := node.DeepCopy()
	metav1.SetMetaDataLabel(&n.ObjectMeta, v1.NodeInitializedLabelKey, "true")
	return n
}

// EditClaim returns a NodeClaim after the attempt to launch it: with the condition, as by
// Condition.EditClaim, and after a success with the data of the instance,
//
//   - status.providerID, imageID, capacity and allocatable;
//   - the labels that the claim does not have; then, for each requirement that allows only one
//     value of a label that is still missing, that value.
//
// The given claim is not changed, and is returned itself if there is nothing to change, so
// repeating the call does no harm. With a nil machine only the condition changes.
func (l Launch) EditClaim(now time.Time, claim *v1.NodeClaim, machine *cloudprovider.Instance) *v1.NodeClaim {
	c := l.Condition.EditClaim(now, claim)
	if c == nil || machine == nil || l.Status != metav1.ConditionTrue {
		return c
	}
	labels := maps.Clone(machine.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, r := range c.Spec.Requirements {
		if _, known := labels[r.Key]; !known && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(labels, c.Labels)
	known := v1.NodeClaimStatus{ProviderID: machine.ID, ImageID: machine.ImageID,
		Capacity: machine.Capacity.ResourceList(), Allocatable: machine.Allocatable.ResourceList()}
	if maps.Equal(labels, c.Labels) && sameMachine(&known, &c.Status) {
		return c
	}
	if c == claim {
		c = claim.DeepCopy()
	}
	c.Labels = labels
	c.Status.ProviderID, c.Status.ImageID = known.ProviderID, known.ImageID
	c.Status.Capacity, c.Status.Allocatable = known.Capacity, known.Allocatable
	return c
}

// sameMachine reports whether two statuses have the same data of the machine.
func sameMachine(a, b *v1.NodeClaimStatus) bool {
	return a.ProviderID == b.ProviderID && a.ImageID == b.ImageID &&
		status.SameAmounts(a.Capacity, b.Capacity) && status.SameAmounts(a.Allocatable, b.Allocatable)
}

// EditClaim returns a NodeClaim with the condition, as by Condition.EditClaim, and, if its Node was
// found, with the Node's name in its status.
func (r Registration) EditClaim(now time.Time, claim *v1.NodeClaim) *v1.NodeClaim {
	c := r.Condition.EditClaim(now, claim)
	if c == nil || r.Node == nil || c.Status.NodeName == r.Node.Name {
		return c
	}
	if c == claim {
		c = claim.DeepCopy()
	}
	c.Status.NodeName = r.Node.Name
	return c
}

// isTrue says whether a condition of a claim is True.
func isTrue(claim *v1.NodeClaim, kind string) bool {
	c := status.Find(claim.Status.Conditions, kind)
	return c != nil && c.Status == metav1.ConditionTrue
}
