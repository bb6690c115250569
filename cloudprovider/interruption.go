package cloudprovider

import (
	"cmp"
	"context"
	"strings"
	"time"
)

// InterruptionKind is the kind of an event that takes a machine away. The list is closed within a
// major version.
type InterruptionKind string

const (
	// InterruptionSpot: spot capacity is taken back. Drain and replace.
	InterruptionSpot InterruptionKind = "SpotInterrupted"
	// InterruptionReservation: reserved capacity is taken back. Drain and
	// replace.
	InterruptionReservation InterruptionKind = "ReservationInterrupted"
	// InterruptionMaintenance: the machine will be stopped, moved or retired
	// for maintenance. Drain and replace.
	InterruptionMaintenance InterruptionKind = "Maintenance"
	// InterruptionStopping: someone other than the controller is stopping or terminating the
	// machine, or has done so. Replace.
	InterruptionStopping InterruptionKind = "Stopping"
	// InterruptionUnhealthy: the machine has failed the cloud's own checks.
	// Replace without waiting for a drain.
	InterruptionUnhealthy InterruptionKind = "Unhealthy"
	// InterruptionRebalance: the risk of a spot interruption has grown. No action is required.
	InterruptionRebalance InterruptionKind = "RebalanceRecommended"
)

// Interruption is one notice by the cloud that a machine will be, or was, taken
// away.
type Interruption struct {
	// ID identifies the notice for Acknowledge. Empty if it needs none.
	ID string
	// InstanceID is the ID of the Instance.
	InstanceID string
	// Kind is the kind of the event.
	Kind InterruptionKind
	// Detail is one line in the cloud's own words. May be empty.
	Detail string
	// At is when the cloud issued the notice.
	At time.Time
	// Deadline is when the machine is taken away; zero if that is not known.
	Deadline time.Time
}

// Compare orders notices as InterruptionSource returns them: by At, InstanceID, Kind
// and ID.
func (i Interruption) Compare(other Interruption) int {
	return cmp.Or(i.At.Compare(other.At), strings.Compare(i.InstanceID, other.InstanceID),
		strings.Compare(string(i.Kind), string(other.Kind)), strings.Compare(i.ID, other.ID))
}

// InterruptionSource is a provider that passes on the notices of its cloud.
type InterruptionSource interface {
	// Interruptions returns notices about machines of the cluster, sorted by At, then InstanceID,
	// Kind and ID. If there are none it waits for some seconds, not minutes, and may then return
	// none. Each notice is returned at least once and, until it is acknowledged, may be returned
	// again. Only one goroutine calls it at a time.
	Interruptions(ctx context.Context) ([]Interruption, error)
}

// Interruptions returns notices from p. If p is not an InterruptionSource the error wraps
// ErrUnsupported, so that a loop around it ends instead of spinning.
func Interruptions(ctx context.Context, p CloudProvider) ([]Interruption, error) {
	if s, ok := As[InterruptionSource](p); ok {
		return s.Interruptions(ctx)
	}
	return nil, unsupported(p, "Interruptions", "")
}

// InterruptionAcknowledger is an InterruptionSource that keeps notices until they are acknowledged.
type InterruptionAcknowledger interface {
	// Acknowledge drops the notices with these IDs. IDs that are unknown or already acknowledged
	// are ignored. After an error some may be left; repeat with all.
	Acknowledge(ctx context.Context, ids ...string) error
}

// Acknowledge tells p that the notices were acted on: call it only after the results are stored. It
// ignores notices without an ID, and returns nil if there are no others. If p is not an
// InterruptionAcknowledger the error wraps ErrUnsupported: notices with an ID are not from p.
func Acknowledge(ctx context.Context, p CloudProvider, notices ...Interruption) error {
	var ids []string
	for _, n := range notices {
		if n.ID != "" {
			ids = append(ids, n.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if a, ok := As[InterruptionAcknowledger](p); ok {
		return a.Acknowledge(ctx, ids...)
	}
	return unsupported(p, "Acknowledge", strings.Join(ids, " "))
}
