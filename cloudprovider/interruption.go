package cloudprovider

import (
	"cmp"
	"context"
	"strings"
	"time"
)

// InterruptionKind is what the cloud is about to do to a machine. The list is
// closed within a major version.
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
	// InterruptionStopping: the machine is being stopped or terminated by
	// somebody else, or is so already. Replace.
	InterruptionStopping InterruptionKind = "Stopping"
	// InterruptionUnhealthy: the machine has failed the cloud's own checks.
	// Replace without waiting for a drain.
	InterruptionUnhealthy InterruptionKind = "Unhealthy"
	// InterruptionRebalance: the risk of a spot interruption has grown. Nothing
	// must be done.
	InterruptionRebalance InterruptionKind = "RebalanceRecommended"
)

// Interruption is one notice by the cloud that a machine will be, or was, taken
// away.
type Interruption struct {
	// ID identifies the notice for Acknowledge. Empty if it needs none.
	ID string
	// InstanceID is the ID of the Instance concerned.
	InstanceID string
	// Kind is what will happen.
	Kind InterruptionKind
	// Detail is one line in the cloud's own words. May be empty.
	Detail string
	// At is when the cloud issued the notice.
	At time.Time
	// Deadline is when it will happen; zero if the cloud does not say.
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
	// Interruptions returns notices on machines of ours, sorted by At, then
	// InstanceID, Kind and ID. With none at hand it waits for some, as long as
	// suits the provider (seconds, not minutes), and may return none. Each
	// notice is returned at least once and, until it is acknowledged, may be
	// returned again. Only one goroutine calls it at a time.
	Interruptions(ctx context.Context) ([]Interruption, error)
}

// Interruptions returns notices from p. For a p that is no InterruptionSource
// the error wraps ErrUnsupported, so that a loop around it ends instead of
// spinning.
func Interruptions(ctx context.Context, p CloudProvider) ([]Interruption, error) {
	if s, ok := As[InterruptionSource](p); ok {
		return s.Interruptions(ctx)
	}
	return nil, unsupported(p, "Interruptions", "")
}

// InterruptionAcknowledger is an InterruptionSource that keeps notices until
// they are dealt with.
type InterruptionAcknowledger interface {
	// Acknowledge drops the notices with these IDs. IDs that are unknown or
	// already acknowledged are ignored. After an error some may be dropped and
	// some not; repeat with all.
	Acknowledge(ctx context.Context, ids ...string) error
}

// Acknowledge tells p that the notices were dealt with: call it after the
// consequences are on record, not before. It leaves out notices without an ID,
// which need none, and with nothing left to acknowledge returns nil. For a p that is
// no InterruptionAcknowledger the error wraps ErrUnsupported: notices with an ID
// are not from p.
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
