package disruption

import (
	"math"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Options tune the rules. The zero value, and nil, mean the defaults. It is
// read-only. See Validate for what is out of bounds.
type Options struct {
	// Policies are what the budgets of a NodePool cannot say, by pool.
	Policies map[string]*budgets.Policy

	// Groups are sets of nodes with budgets of their own, beside those of the
	// pools.
	Groups []budgets.Group

	// FreePodsAreEmpty makes a node count as empty if evicting its pods costs
	// nothing (see Candidate.DisruptionCost), as Karpenter has it. Nobody looks
	// then for a place where these pods could go: a node is launched for them,
	// which goes in turn, and so for ever. Default: a node is empty if no pod
	// on it needs another place.
	FreePodsAreEmpty bool

	// IgnorePodDeletionCost leaves the annotation
	// controller.kubernetes.io/pod-deletion-cost out of the cost of a pod. Set it
	// where Fleet.PodDeletionCosts, or a controller, writes that annotation.
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
	// reservations are full; and one of a dynamic pool that holds a place in a
	// reservation, if its pods can go nowhere else than to such a place and none
	// is left. Default: it stays, and says so.
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

	// Provisioning are the options of the engine that finds places for pods.
	// Nil means its defaults. Use what new pods are placed with, or nodes are
	// filled by one set of rules and emptied by another.
	Provisioning *provisioning.Options

	// MaxSteps bounds the search for cheaper ways to run the same pods: see
	// SearchStats.Steps. What was found by then is proposed. Default and zero:
	// 2,000,000, far above what 5,000 nodes need. Negative: none.
	MaxSteps int

	// MaxNodes is how many nodes one action of the search may remove. Smaller
	// actions fit under budgets, and less goes wrong with each. Default: 25.
	// At most CommandMaxSources.
	MaxNodes int

	// MinimumSaving is what an action of the search must save at least, in USD
	// per hour. Default: 0, so that any saving is enough. Infinity is never enough.
	MinimumSaving float64

	// MinimumShare is the part of the price of the nodes it removes that an
	// action of the search must save at least, from 0 to 1. Default: 0.
	MinimumShare float64

	// DisruptionPrice is what an action of the search must save for each unit of
	// Action.DisruptionCost, which is one for a node and about one for a pod,
	// in USD per hour. Default: 0.
	DisruptionPrice float64

	// MinimumScore is the least score of an action of the search: the share of
	// the cost of its pools that it saves, over the share of their disruption
	// cost that it takes. Removing an average node for nothing scores 1, and
	// replacing it at half its price 0.5. The nodes of a pool are taken to cost
	// no more for each unit of disruption cost than those of all pools do
	// together: a dear node with one pod is replaced for less than half its
	// price. Default: 0.5. Negative: none, so that pods are moved for any
	// saving, as Karpenter moves them.
	MinimumScore float64

	// BalancedThreshold is the least score of an action on a pool whose
	// consolidationPolicy is Balanced, for each such pool by itself. Default:
	// 0.5, as in Karpenter.
	BalancedThreshold float64

	// MinimumAge is how old a NodeClaim must be before its pods are moved to
	// save money. Default: 0; consolidateAfter holds in any case.
	MinimumAge time.Duration

	// NoSpotToSpot keeps spot nodes from being replaced by spot nodes. They may
	// still be removed where their pods find room, or be replaced by other
	// capacity that costs no more than the spot capacity would.
	NoSpotToSpot bool

	// SpotFloor is how many instance types that are cheaper a spot node must
	// have to be replaced by one spot node: with few, the launch ends on the
	// next cheapest, which is replaced again, down to the type that is
	// interrupted most. Default: 15. Negative: none.
	SpotFloor int

	// ShortageHold is for how long an offering of Input.Shortages is not
	// counted on to save money. Default: 10 minutes. Negative: not at all.
	ShortageHold time.Duration

	// NoReplacements keeps the search from launching nodes: it removes nodes
	// only whose pods have room on others.
	NoReplacements bool
}

// The defaults of Options.
const (
	DefaultTerminateFirstDrain = time.Hour
	DefaultRepairShare         = 0.2
	DefaultLaunchTimeout       = 5 * time.Minute
	DefaultRegistrationTimeout = 15 * time.Minute
	DefaultGarbageGrace        = time.Minute
	DefaultMaxSteps            = 2_000_000
	DefaultMaxNodes            = 25
	DefaultMinimumScore        = 0.5
	DefaultBalancedThreshold   = 0.5
	DefaultSpotFloor           = 15
	DefaultShortageHold        = 10 * time.Minute
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
	if out.RepairShare == 0 || !finite(out.RepairShare) {
		out.RepairShare = DefaultRepairShare
	}
	out.RepairShare = min(max(out.RepairShare, 0), 1)
	if !finite(out.ExpiryJitter) {
		out.ExpiryJitter = 0
	}
	out.ExpiryJitter = min(max(out.ExpiryJitter, 0), 1)
	out.setSearchDefaults()
	return out
}

// setSearchDefaults does the same for the options of the search.
func (o *Options) setSearchDefaults() {
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	o.MaxSteps = max(o.MaxSteps, 0)
	if o.MaxNodes <= 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	o.MaxNodes = min(o.MaxNodes, CommandMaxSources)
	for _, amount := range []*float64{&o.MinimumShare, &o.DisruptionPrice} {
		if !finite(*amount) || *amount < 0 {
			*amount = 0
		}
	}
	if !(o.MinimumSaving > 0) { // also what is not a number
		o.MinimumSaving = 0
	}
	switch {
	case o.MinimumScore == 0 || !finite(o.MinimumScore):
		o.MinimumScore = DefaultMinimumScore
	case o.MinimumScore < 0:
		o.MinimumScore = 0
	}
	if !finite(o.BalancedThreshold) || o.BalancedThreshold <= 0 {
		o.BalancedThreshold = DefaultBalancedThreshold
	}
	if o.SpotFloor == 0 {
		o.SpotFloor = DefaultSpotFloor
	}
	o.SpotFloor = max(o.SpotFloor, 0)
	setDefault(&o.ShortageHold, DefaultShortageHold)
	o.ShortageHold = max(o.ShortageHold, 0)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
