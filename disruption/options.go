package disruption

import (
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
)

// Options tune the rules. The zero value, and nil, mean the defaults. It is
// read-only.
type Options struct {
	// Policies are what the budgets of a NodePool cannot say, by pool.
	Policies map[string]*budgets.Policy

	// Groups are sets of nodes with budgets of their own, beside those of the
	// pools.
	Groups []budgets.Group

	// FreePodsAreEmpty makes a node count as empty if evicting its pods costs
	// nothing (see Candidate.DisruptionCost), as Karpenter has it. Nobody looks
	// then for a place where these pods could go. Default: a node is empty if
	// no pod on it needs another place.
	FreePodsAreEmpty bool

	// IgnorePodDeletionCost leaves the annotation
	// controller.kubernetes.io/pod-deletion-cost out of the cost of a pod. Set
	// it where a controller writes that annotation by itself.
	IgnorePodDeletionCost bool

	// EvictAtOnce asks that a PodDisruptionBudget let all the pods of an action
	// go at the same time. Default: that it let one go, as the others follow
	// when the first have come up elsewhere.
	EvictAtOnce bool

	// TolerateDrift names reasons for drift, such as AMIDrift, on which Drift
	// does not act: Drifts reports them, and the node stays until it expires.
	// Default: none. A budget of no nodes for the reason Drifted does the same
	// for all drift of a pool.
	TolerateDrift []string

	// TerminateFirstDrift lets a drifted node of a static pool be deleted before
	// its replacement is launched, if the pool is at its limit of nodes or its
	// reservations are full. Default: it stays, and says so.
	TerminateFirstDrift bool

	// TerminateFirstRepair is the same for repair.
	TerminateFirstRepair bool

	// TerminateFirstDrain bounds the drain of a node that is deleted first and
	// has no terminationGracePeriod, as nothing replaces it meanwhile. Default:
	// one hour. Negative: no bound.
	TerminateFirstDrain time.Duration

	// RepairShare is the part of a pool's nodes, rounded up, of which more must
	// not be unhealthy, or none is repaired: many broken nodes point to
	// something else that is broken. Default: 0.2. Values are taken to be
	// within 0 and 1; a negative one means 0.
	RepairShare float64

	// ExpiryJitter is the part of expireAfter by which a node may expire early.
	// How much is drawn from the name and UID of its NodeClaim, so that nodes
	// launched together do not go together. Default: 0. At most 1.
	ExpiryJitter float64

	// LaunchTimeout is how long a NodeClaim may go without a machine. Default: 5
	// minutes. Negative: for ever.
	LaunchTimeout time.Duration

	// RegistrationTimeout is how long a machine may take to join. Default: 15
	// minutes. Negative: for ever.
	RegistrationTimeout time.Duration

	// InitializationTimeout is how long a Node may take to become ready for
	// pods after it joined. Default, and negative: for ever.
	InitializationTimeout time.Duration

	// GarbageGrace is how old an instance or NodeClaim must be before it can be
	// garbage, as lists of the cloud lag behind. Default: one minute. Negative:
	// none.
	GarbageGrace time.Duration

	// ActOnRebalance replaces nodes for which the cloud recommends it. Default:
	// such a notice is passed over, as in Karpenter.
	ActOnRebalance bool
}

// The defaults of Options.
const (
	DefaultTerminateFirstDrain = time.Hour
	DefaultRepairShare         = 0.2
	DefaultLaunchTimeout       = 5 * time.Minute
	DefaultRegistrationTimeout = 15 * time.Minute
	DefaultGarbageGrace        = time.Minute
)

// withDefaults is a copy in which every field means what it says: a duration of
// zero is none, and for ever is negative.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.TerminateFirstDrain, DefaultTerminateFirstDrain)
	setDefault(&out.LaunchTimeout, DefaultLaunchTimeout)
	setDefault(&out.RegistrationTimeout, DefaultRegistrationTimeout)
	setDefault(&out.InitializationTimeout, -1)
	setDefault(&out.GarbageGrace, DefaultGarbageGrace)
	out.GarbageGrace = max(out.GarbageGrace, 0)
	switch {
	case out.RepairShare == 0:
		out.RepairShare = DefaultRepairShare
	case !(out.RepairShare > 0): // also what is not a number
		out.RepairShare = 0
	}
	out.RepairShare = min(out.RepairShare, 1)
	if !(out.ExpiryJitter > 0) {
		out.ExpiryJitter = 0
	}
	out.ExpiryJitter = min(out.ExpiryJitter, 1)
	return out
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
