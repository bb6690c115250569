package nodeclaim

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Condition is a condition of a NodeClaim during the start of its node. Its time of transition
// changes only with Status: see EditClaim, which sets it.
type Condition struct {
	// Type is its type.
	Type string
	// Status, Reason and Message are those of the condition.
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// Reasons why a NodeClaim is deleted when its launch fails: Launch.Delete.
const (
	// InsufficientCapacity: the cloud does not sell any of the options.
	InsufficientCapacity v1.DisruptionReason = "InsufficientCapacity"
	// NodeClassNotReady: the NodeClass cannot be used.
	NodeClassNotReady v1.DisruptionReason = "NodeClassNotReady"
)

// maxMessage is the longest message of a condition, in bytes.
const maxMessage = 1024

// Launch is the result of an attempt to launch a machine.
type Launch struct {
	// Condition is the condition Launched.
	Condition
	// Delete is why to delete the NodeClaim, so that its pods are planned again; empty if it must
	// not be deleted.
	Delete v1.DisruptionReason
}

// Launched returns the consequences of the result of CloudProvider.Create:
//
//	no error               Launched is True
//	InsufficientCapacity   delete the claim: other offerings may be available
//	NotFound               delete the claim, for InsufficientCapacity as in Karpenter: its
//	                       NodeClass is gone, or the machine that it had, and its UID,
//	                       which is the token, gives no other
//	NotReady               delete the claim: other pools may be ready
//	anything else          Launched stays Unknown with the reason LaunchFailed;
//	                       try again until the launch times out, see Overdue
//
// The message is that of the error, cut at 1024 bytes.
func Launched(err error) Launch {
	l := Launch{Condition: Condition{Type: v1.ConditionTypeLaunched, Status: metav1.ConditionTrue, Reason: "Launched"}}
	if err == nil {
		return l
	}
	l.Status, l.Reason, l.Message = metav1.ConditionUnknown, "LaunchFailed", status.Short(err.Error(), maxMessage)
	switch {
	case errors.Is(err, cloudprovider.ErrInsufficientCapacity), errors.Is(err, cloudprovider.ErrNotFound):
		l.Reason, l.Delete = string(InsufficientCapacity), InsufficientCapacity
	case errors.Is(err, cloudprovider.ErrNotReady):
		l.Reason, l.Delete = string(NodeClassNotReady), NodeClassNotReady
	}
	return l
}
