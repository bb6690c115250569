package nodeclaim

import (
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// GarbageInput is what Garbage compares. It is read-only.
type GarbageInput struct {
	// Now is the instant of the decision.
	Now time.Time
	// Instances is what List of the provider returned. Read it before Claims:
	// a claim that is made in between then has no instance, which is harmless,
	// where the reverse would be an instance without a claim. Entries that are
	// nil are ignored, and so are further ones with the same ID.
	Instances []*cloudprovider.Instance
	// Claims are all NodeClaims of the cluster that the provider is
	// responsible for. Entries that are nil are ignored.
	Claims []*v1.NodeClaim
	// Suspects is GarbageReport.Suspects of the last call; empty at first, and after
	// a restart.
	Suspects []Suspect
}

// GarbageOptions tune Garbage. The zero value, and nil, mean the defaults.
type GarbageOptions struct {
	// Grace is how old an instance or a claim must be to be judged. Default
	// and zero: one minute. Negative: none.
	Grace time.Duration
	// Confirm is how long something must have been found before it is
	// reported, so that it takes two calls at the least. Default and zero: 10
	// seconds. Negative: none, one call is enough.
	Confirm time.Duration
	// BrakeShare is the part of all instances, or of all claims with an
	// instance, of which more are not reported at a time. From 0 to 1. Default
	// and zero, and whatever is above 1 or not a number: 0.5. Negative, and 1: no
	// brake.
	BrakeShare float64
	// BrakeAbove is the number that may always be reported. Default and zero:
	// 5. Negative: none.
	BrakeAbove int
}

const (
	defaultGrace      = time.Minute
	defaultConfirm    = 10 * time.Second
	defaultBrakeShare = 0.5
	defaultBrakeAbove = 5
)

// complete returns the options with defaults.
func (o *GarbageOptions) complete() GarbageOptions {
	var c GarbageOptions
	if o != nil {
		c = *o
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.Confirm == 0 {
		c.Confirm = defaultConfirm
	}
	if c.BrakeShare == 0 || !(c.BrakeShare <= 1) { // also what is not a number
		c.BrakeShare = defaultBrakeShare
	}
	if c.BrakeAbove == 0 {
		c.BrakeAbove = defaultBrakeAbove
	}
	c.Grace, c.Confirm, c.BrakeAbove = max(c.Grace, 0), max(c.Confirm, 0), max(c.BrakeAbove, 0)
	return c
}

// GarbageReport is what Garbage found.
type GarbageReport struct {
	// Orphans are the instances to terminate, sorted by ID.
	Orphans []Orphan
	// Lost are the claims to delete, sorted by name.
	Lost []Lost
	// Waiting is what would be in one of these lists, but that it is too early
	// to say, sorted by Kind and Name.
	Waiting []Waiting
	// Shared are the IDs that more than one claim has, sorted. It should not
	// be; nothing is done about it.
	Shared []string
	// OrphansHeld and LostHeld say how many orphans and lost claims the brake
	// keeps back; if not zero, the list is empty. A person should look.
	OrphansHeld, LostHeld int
	// Suspects is for the next call, sorted by Kind and Name.
	Suspects []Suspect
	// Next is when something that waits is due: call again then, with what is
	// there then. Zero if nothing waits.
	Next time.Time
}

// OrphanReason says why an instance is an orphan.
type OrphanReason string

const (
	// NoClaim: no claim has its ID or its name.
	NoClaim OrphanReason = "NoClaim"
	// Twin: the claim whose name it bears has another instance.
	Twin OrphanReason = "Twin"
)

// Orphan is an instance that no claim speaks for.
type Orphan struct {
	// Instance is as it was listed.
	Instance *cloudprovider.Instance
	// Reason says why it is an orphan.
	Reason OrphanReason
}

// Lost is a claim whose instance is gone.
type Lost struct {
	// Claim is the name of the claim, and ProviderID the ID of the instance.
	Claim, ProviderID string
}

// SuspectKind says what a Suspect or Waiting is.
type SuspectKind string

const (
	// KindClaim is a claim, by name.
	KindClaim SuspectKind = "NodeClaim"
	// KindInstance is an instance, by ID.
	KindInstance SuspectKind = "Instance"
)

// Suspect is something that was found, and since when.
type Suspect struct {
	// Kind and Name say what it is.
	Kind SuspectKind
	Name string
	// Since is when it was first found without a break.
	Since time.Time
}

// Waiting is something that it is too early to judge.
type Waiting struct {
	// Kind and Name say what it is.
	Kind SuspectKind
	Name string
	// Until is when it can be judged.
	Until time.Time
}
