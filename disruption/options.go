package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/internal/consolidation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// Options adjust the rules. The zero value, and nil, mean the defaults. It is read-only. Validate
// describes values out of range.
type Options struct {
	// Policies are, by pool, settings that the budgets of a NodePool cannot express.
	Policies map[string]*budgets.Policy

	// Groups are sets of nodes with budgets of their own, in addition to those of the pools.
	Groups []budgets.Group

	// IgnorePodDeletionCost leaves the annotation
	// controller.kubernetes.io/pod-deletion-cost out of the cost of a pod. Set it
	// where Cluster.PodDeletionCosts, or a controller, writes that annotation.
	IgnorePodDeletionCost bool

	// EvictAtOnce requires that PodDisruptionBudgets allow the eviction of all pods of an action at
	// the same time. Default: the eviction of one pod is enough, because the others follow once the
	// first are running elsewhere.
	EvictAtOnce bool

	// Provisioning are the options of the engine that places pods. Nil means its defaults. Use the
	// same options as for new pods; otherwise nodes are filled by one set of rules and emptied by
	// another. Its Parallel is also how many questions of a proposal are answered at the same time.
	Provisioning *provisioning.Options

	// Consolidation applies to empty and underutilized nodes.
	Consolidation ConsolidationOptions

	// Drift applies to drifted nodes.
	Drift DriftOptions

	// Repair applies to unhealthy nodes.
	Repair RepairOptions

	// Lifecycle applies to nodes that do not start, and nodes that the cloud takes back.
	Lifecycle LifecycleOptions
}

// ConsolidationOptions adjust the removal of empty nodes, and the search for cheaper ways to run
// the same pods. The zero value means the defaults.
type ConsolidationOptions struct {
	// FreePodsAreEmpty makes a node count as empty if the eviction of its pods costs nothing (see
	// Candidate.DisruptionCost), as in Karpenter. Then no place is sought for these pods: a node is
	// launched for them, which is removed in turn, and so on forever. Default: a node is empty if
	// no pod on it needs another place.
	FreePodsAreEmpty bool

	// MaxSteps limits the search for cheaper ways to run the same pods: see SearchStats.Steps. What
	// was found by then is proposed. Default and zero: 2,000,000, far above what 5,000 nodes need.
	// Negative: no search.
	MaxSteps int

	// MaxNodes is the largest number of nodes that one action of the search may remove. Smaller
	// actions fit under budgets, and less can fail with each. Default: 25. At most
	// command.MaxSources.
	MaxNodes int

	// MinimumSaving is the least saving of an action of the search, in USD per hour. Default: 0, so
	// that any saving is enough. With +Inf no saving is enough.
	MinimumSaving float64

	// MinimumScore is the least score of an action of the search: the share of the cost of its
	// pools that it saves, divided by the share of their disruption cost that it takes. Removing an
	// average node without replacement scores 1, and replacing it at half its price 0.5. The nodes
	// of a pool count as no more expensive, for each unit of disruption cost, than those of all
	// pools together: an expensive node with one pod is only replaced for less than three quarters of
	// its price. Default: 0.25. Negative: none, so that pods are moved for any saving, as in Karpenter.
	MinimumScore float64

	// HalveScoreAfter lowers MinimumScore for quiet nodes: a node that no pod has come to or left
	// for so long needs half of it, after twice that time a quarter, and after four times an eighth,
	// which is the least. The time counts from the same instant as consolidateAfter, and Proposal.Next
	// is when it asks for less. What has not changed for long is likely to stay so, so that a small
	// saving lasts. Use it where clusters rest for hours, or with a MinimumScore of 0.5 or more: with the
	// default score the two days of benchmarks/day cost no less (docs/design.md). Default and zero: never.
	// Below zero is an error, and counts as never.
	HalveScoreAfter time.Duration

	// NoSpotToSpot forbids the replacement of spot nodes by spot nodes. They may still be removed
	// if their pods have room elsewhere, or be replaced by other capacity that costs at most as
	// much as the spot capacity would.
	NoSpotToSpot bool

	// SpotFloor is the least number of cheaper instance types for which one spot node is replaced
	// by another. With few, the launch ends on the next cheapest type, which is replaced again,
	// down to the type that is interrupted most. Default: 15. Negative: none.
	SpotFloor int

	// NoReplacements forbids the search to launch nodes: it removes only nodes whose pods have room
	// on others, as cluster-autoscaler scales down.
	NoReplacements bool
}

// DriftOptions adjust what is done with drifted nodes. The zero value means the defaults.
type DriftOptions struct {
	// TerminateFirst allows a drifted node to be deleted before its replacement is launched, in two
	// cases: the node belongs to a static pool that is at its limit of nodes or whose reservations
	// are full; or it belongs to a dynamic pool, is in a reservation, and its pods can go only to
	// reserved capacity of which none is left. Default: such a node stays, and is Blocked.
	TerminateFirst bool
}

// RepairOptions adjust what is done with unhealthy nodes. The zero value means the defaults.
type RepairOptions struct {
	// Share is the largest share of a pool's nodes, rounded up, that may be unhealthy. If more are,
	// none is repaired, because many broken nodes indicate another fault. Default: 0.2. Values are
	// limited to 0 to 1; a negative one means 0.
	Share float64

	// TerminateFirst is DriftOptions.TerminateFirst for unhealthy nodes. Default: such a node
	// stays, and is Blocked.
	TerminateFirst bool
}

// LifecycleOptions adjust how long the start of a node may take, and which notices of the cloud
// count. The zero value means the defaults.
type LifecycleOptions struct {
	// LaunchTimeout is how long a NodeClaim may have no machine. Default: 5 minutes. Negative: no
	// limit.
	LaunchTimeout time.Duration

	// RegistrationTimeout is how long a machine may take to register. Default: 15 minutes.
	// Negative: no limit.
	RegistrationTimeout time.Duration

	// InitializationTimeout is how long a Node may take to become ready for pods after it
	// registered. Default, and negative: no limit.
	InitializationTimeout time.Duration

	// ActOnRebalance replaces nodes for which the cloud recommends it, as the AWS Node Termination
	// Handler can. Default: such a notice is ignored, as in Karpenter.
	ActOnRebalance bool
}

// Fixed limits.
const (
	// TerminateFirstDrain limits the drain of a node that is deleted first and has no
	// terminationGracePeriod, because nothing replaces it in the meantime.
	TerminateFirstDrain = command.DefaultDrain
	// BalancedThreshold is the least score of an action on a pool whose consolidationPolicy is
	// Balanced, for each such pool separately: see ConsolidationOptions.MinimumScore.
	BalancedThreshold = consolidation.BalancedThreshold
	// UnavailableHold is how long the search does not rely on an offering of
	// Input.UnavailableOfferings to save money.
	UnavailableHold = 10 * time.Minute
	// LaunchAhead is how long before the forced end of a pod that nothing may evict a place for it
	// is planned: see Displaced.
	LaunchAhead = state.LaunchAhead
	// GarbageGrace is the least age of an instance, Node or NodeClaim that may be garbage, because
	// lists of the cloud are delayed.
	GarbageGrace = time.Minute
)

// The defaults of Options.
const (
	DefaultRepairShare         = 0.2
	DefaultLaunchTimeout       = nodeclaim.DefaultLaunchTimeout
	DefaultRegistrationTimeout = nodeclaim.DefaultRegistrationTimeout
	DefaultMaxSteps            = 2_000_000
	DefaultMaxNodes            = 25
	DefaultMinimumScore        = 0.25
	DefaultSpotFloor           = 15
)

// withDefaults returns a copy with the defaults filled in: a duration of zero then means none, and
// a negative one no limit.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	start := &out.Lifecycle
	start.LaunchTimeout = cmp.Or(start.LaunchTimeout, DefaultLaunchTimeout)
	start.RegistrationTimeout = cmp.Or(start.RegistrationTimeout, DefaultRegistrationTimeout)
	start.InitializationTimeout = cmp.Or(start.InitializationTimeout, -1)
	if out.Repair.Share == 0 || !finite(out.Repair.Share) {
		out.Repair.Share = DefaultRepairShare
	}
	out.Repair.Share = min(max(out.Repair.Share, 0), 1)
	out.Consolidation.setDefaults()
	return out
}

// setDefaults fills in the defaults of the search.
func (o *ConsolidationOptions) setDefaults() {
	o.MaxSteps = max(cmp.Or(o.MaxSteps, DefaultMaxSteps), 0)
	if o.MaxNodes <= 0 {
		o.MaxNodes = DefaultMaxNodes
	}
	o.MaxNodes = min(o.MaxNodes, command.MaxSources)
	if !(o.MinimumSaving > 0) { // also true for NaN
		o.MinimumSaving = 0
	}
	switch {
	case o.MinimumScore == 0 || !finite(o.MinimumScore):
		o.MinimumScore = DefaultMinimumScore
	case o.MinimumScore < 0:
		o.MinimumScore = 0
	}
	o.HalveScoreAfter = max(o.HalveScoreAfter, 0)
	o.SpotFloor = max(cmp.Or(o.SpotFloor, DefaultSpotFloor), 0)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Validate returns an error that joins all faults of the options, those of Options.Provisioning
// included; nil options have none. Observe and Propose list the same faults and continue: a value
// that is NaN, infinite, or negative without a documented meaning counts as unset, and a value
// above its upper bound is kept or limited to that bound. Only Consolidation.MinimumSaving may be
// infinite: then nothing is removed to save money. budgets.ValidateGroups and budgets.Compile check
// Groups and Policies.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !finite(o.Repair.Share) {
		add("Repair.Share is %v; use a share of the nodes of a pool, from 0 to 1", o.Repair.Share)
	}
	if !(o.Consolidation.MinimumSaving >= 0) {
		add("Consolidation.MinimumSaving is %v; use an amount of USD per hour, or 0", o.Consolidation.MinimumSaving)
	}
	if !finite(o.Consolidation.MinimumScore) {
		add("Consolidation.MinimumScore is %v; use a score such as 0.5, 0 for the default, or a negative number for none", o.Consolidation.MinimumScore)
	}
	if o.Consolidation.HalveScoreAfter < 0 {
		add("Consolidation.HalveScoreAfter is %s; use a time such as 10m, or 0 for never", o.Consolidation.HalveScoreAfter)
	}
	if o.Consolidation.MaxNodes < 0 || o.Consolidation.MaxNodes > command.MaxSources {
		add("Consolidation.MaxNodes is %d; use 1 to %d, or 0 for the default", o.Consolidation.MaxNodes, command.MaxSources)
	}
	if o.Provisioning != nil {
		if err := o.Provisioning.Validate(); err != nil {
			for _, e := range state.Joined(err) {
				add("Provisioning.%w", e)
			}
		}
	}
	return errors.Join(errs...)
}
