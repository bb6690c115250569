package interruption

import "github.com/dovetail-sdk/dovetail/cloudprovider"

// Kind is what an event says. The values are those of Karpenter's metrics and
// of the reason by which a NodeClaim counts as disrupted.
type Kind string

// The kinds of events that come through the queue.
const (
	// KindSpotInterrupted is a spot instance that is taken back.
	KindSpotInterrupted Kind = "spot_interrupted"
	// KindRebalanceRecommendation is a spot instance that is more likely to be
	// taken back than it was.
	KindRebalanceRecommendation Kind = "rebalance_recommendation"
	// KindScheduledChange is maintenance that AWS Health announces.
	KindScheduledChange Kind = "scheduled_change"
	// KindInstanceStopped is an instance that is stopping or stopped.
	KindInstanceStopped Kind = "instance_stopped"
	// KindInstanceTerminated is an instance that is shutting down or terminated.
	KindInstanceTerminated Kind = "instance_terminated"
	// KindReservationInterrupted is an instance in an interruptible capacity
	// reservation that the reservation's owner takes back.
	KindReservationInterrupted Kind = "capacity_reservation_interrupted"
	// KindNoOp is an event that nothing is done about. Message.Detail says why.
	KindNoOp Kind = "no_op"
)

// The kinds that FromStatuses finds.
const (
	// KindInstanceStatus is a failed check of the instance itself.
	KindInstanceStatus Kind = "instance_status"
	// KindSystemStatus is a failed check of the host it runs on.
	KindSystemStatus Kind = "system_status"
	// KindEventStatus is maintenance that EC2 announces.
	KindEventStatus Kind = "event_status"
)

// Interruption returns the kind that package cloudprovider has for it, and false
// for KindNoOp and for what is no kind.
func (k Kind) Interruption() (cloudprovider.InterruptionKind, bool) {
	switch k {
	case KindSpotInterrupted:
		return cloudprovider.InterruptionSpot, true
	case KindRebalanceRecommendation:
		return cloudprovider.InterruptionRebalance, true
	case KindScheduledChange, KindEventStatus:
		return cloudprovider.InterruptionMaintenance, true
	case KindInstanceStopped, KindInstanceTerminated:
		return cloudprovider.InterruptionStopping, true
	case KindReservationInterrupted:
		return cloudprovider.InterruptionReservation, true
	case KindInstanceStatus, KindSystemStatus:
		return cloudprovider.InterruptionUnhealthy, true
	}
	return "", false
}
