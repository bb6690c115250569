package provisioning

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types of a CapacityBuffer.
const (
	// ConditionTypeReadyForProvisioning says that the references of the buffer
	// were resolved and its size is known.
	ConditionTypeReadyForProvisioning = "ReadyForProvisioning"
	// ConditionTypeProvisioning says whether nodes have room for the buffer.
	ConditionTypeProvisioning = "Provisioning"
)

// Reasons of the ReadyForProvisioning condition.
const (
	// ReasonBufferResolved (True): the template and the size are known.
	ReasonBufferResolved = "Resolved"
	// ReasonPodTemplateNotFound (False): the object of podTemplateRef does not exist.
	ReasonPodTemplateNotFound = "PodTemplateNotFound"
	// ReasonScalableRefNotFound (False): the object of scalableRef does not exist.
	ReasonScalableRefNotFound = "ScalableRefNotFound"
	// ReasonResolutionFailed (False): any other failure, such as an error of BufferSpec.Count.
	ReasonResolutionFailed = "ResolutionFailed"
)

// Reasons of the Provisioning condition.
const (
	// ReasonNotReadyForProvisioning (False): ReadyForProvisioning is not True.
	ReasonNotReadyForProvisioning = "NotReadyForProvisioning"
	// ReasonBufferEmpty (False): the buffer has no pods.
	ReasonBufferEmpty = "BufferEmpty"
	// ReasonRequiresNewCapacity (False): nodes are being launched for some of the pods, or some are
	// unplaced.
	ReasonRequiresNewCapacity = "RequiresNewCapacity"
	// ReasonFitsExistingCapacity (True): all pods fit on existing nodes.
	ReasonFitsExistingCapacity = "FitsExistingCapacity"
)

// BufferStatus says where the pods of a buffer fit. Existing, Fresh and Unplaced add up to
// Buffer.Replicas.
type BufferStatus struct {
	// Namespace and Name are those of the Buffer.
	Namespace, Name string

	// Existing counts the pods that fit on nodes that exist or are on their way, and on missing
	// nodes of static pools.
	Existing int

	// Fresh counts the pods for which nodes are to be launched.
	Fresh int

	// Unplaced counts the pods without a place, and Explanation says why the first of them has none.
	// Explanation is nil if all are placed.
	Unplaced    int
	Explanation *Explanation
}

// Conditions returns the conditions for the status of the CapacityBuffer, in the order
// Provisioning, ReadyForProvisioning. The caller sets transition time and observed generation.
// ReadyForProvisioning is True with the reason Resolved. Provisioning is, in this order,
//
//   - False with the reason BufferEmpty if the buffer has no pods;
//   - False with the reason RequiresNewCapacity if any pod is Fresh or
//     Unplaced;
//   - True with the reason FitsExistingCapacity otherwise.
//
// The message of Provisioning counts the pods and says why some are unplaced.
func (s BufferStatus) Conditions() []metav1.Condition {
	provisioning := metav1.Condition{Type: ConditionTypeProvisioning, Status: metav1.ConditionFalse}
	total := s.Existing + s.Fresh + s.Unplaced
	switch {
	case total == 0:
		provisioning.Reason = ReasonBufferEmpty
		provisioning.Message = "the buffer is of no pods"
	case s.Fresh+s.Unplaced > 0:
		provisioning.Reason = ReasonRequiresNewCapacity
		provisioning.Message = fmt.Sprintf("of %d pods, %d fit on existing nodes, %d wait for new ones and %d have no place",
			total, s.Existing, s.Fresh, s.Unplaced)
		if s.Unplaced > 0 && s.Explanation != nil {
			provisioning.Message += ": " + s.Explanation.String()
		}
	default:
		provisioning.Status = metav1.ConditionTrue
		provisioning.Reason = ReasonFitsExistingCapacity
		provisioning.Message = fmt.Sprintf("all %d pods fit on existing nodes", total)
	}
	return []metav1.Condition{provisioning, {
		Type: ConditionTypeReadyForProvisioning, Status: metav1.ConditionTrue, Reason: ReasonBufferResolved,
	}}
}

// UnresolvedBuffer returns the conditions for a CapacityBuffer whose references cannot be resolved,
// in the order of BufferStatus.Conditions. reason is one of ReasonPodTemplateNotFound,
// ReasonScalableRefNotFound and ReasonResolutionFailed; message says what is missing.
func UnresolvedBuffer(reason, message string) []metav1.Condition {
	return []metav1.Condition{{
		Type: ConditionTypeProvisioning, Status: metav1.ConditionFalse, Reason: ReasonNotReadyForProvisioning,
	}, {
		Type: ConditionTypeReadyForProvisioning, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	}}
}
