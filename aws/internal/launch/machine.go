package launch

import (
	"time"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Machine is what a Book knows of one instance. It has a Record, or Launched, or both.
type Machine struct {
	// ID is its id in EC2.
	ID string
	// Name is the name of its NodeClaim. Empty if it is not known.
	Name string
	// Record is the instance as EC2 described it last, and Seen when that was.
	Record *Record
	Seen   time.Time
	// Launched is what Create returned, if this process did.
	Launched *cloudprovider.Instance
	// Ended is when EC2 accepted to terminate it; zero if it was not asked to.
	Ended time.Time
	// Gone says that there is no such instance any more.
	Gone bool

	mark   string    // of the request; empty if that is not known
	at     time.Time // when it was launched
	goneAt time.Time
}

// Over reports whether it is gone or going down.
func (k *Machine) Over() bool {
	return k.Gone || !k.Ended.IsZero() || k.Record != nil && k.Record.Terminating
}

// ReservationID is the reservation that it is in, or "".
func (k *Machine) ReservationID() string {
	switch {
	case k.Record != nil:
		return k.Record.ReservationID
	case k.Launched != nil:
		return k.Launched.ReservationID
	}
	return ""
}

// inBlock reports whether an instance is in a capacity block.
func (k *Machine) inBlock() bool {
	switch {
	case k.Record != nil:
		return k.Record.Block && k.Record.ReservationID != "" && !k.Record.Terminating
	case k.Launched != nil:
		return k.Launched.ReservationID != "" &&
			k.Launched.Labels[awsv1.LabelCapacityReservationType] == string(awsv1.CapacityReservationTypeCapacityBlock)
	}
	return false
}

// ProviderID is the ID of an instance in Kubernetes.
func (k *Machine) ProviderID() string {
	if k.Record != nil {
		return k.Record.ProviderID()
	}
	return k.Launched.ID
}
