package disruption

import (
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

// Options tune the rules. The zero value, and nil, mean the defaults. It is
// read-only. See Validate for what is out of bounds.
type Options struct {
	// Policies are what the budgets of a NodePool cannot say, by pool.
	Policies map[string]*budgets.Policy

	// Groups are sets of nodes with budgets of their own, beside those of the
	// pools.
	Groups []budgets.Group

	// IgnorePodDeletionCost leaves the annotation
	// controller.kubernetes.io/pod-deletion-cost out of the cost of a pod. Set it
	// where Cluster.PodDeletionCosts, or a controller, writes that annotation.
	IgnorePodDeletionCost bool

	// EvictAtOnce asks that a PodDisruptionBudget let all the pods of an action
	// go at the same time. Default: that it let one go, as the others follow
	// when the first have come up elsewhere.
	EvictAtOnce bool

	// Provisioning are the options of the engine that finds places for pods.
	// Nil means its defaults. Use what new pods are placed with, or nodes are
	// filled by one set of rules and emptied by another.
	Provisioning *provisioning.Options

	// Consolidation is about empty and underutilized nodes.
	Consolidation ConsolidationOptions

	// Drift is about drifted nodes.
	Drift DriftOptions

	// Repair is about unhealthy nodes.
	Repair RepairOptions

	// Lifecycle is about nodes that do not come up, and that the cloud takes back.
	Lifecycle LifecycleOptions
}

// ConsolidationOptions tune the removal of nodes that are empty, and the search for
// cheaper ways to run the same pods. The zero value means the defaults.
type ConsolidationOptions struct {
	// FreePodsAreEmpty makes a node count as empty if evicting its pods costs
	// nothing (see Candidate.DisruptionCost), as Karpenter has it. Nobody looks
	// then for a place where these pods could go: a node is launched for them,
	// which goes in turn, and so for ever. Default: a node is empty if no pod
	// on it needs another place.
	FreePodsAreEmpty bool

	// MaxSteps bounds the search for cheaper ways to run the same pods: see
	// SearchStats.Steps. What was found by then is proposed. Default and zero:
	// 2,000,000, far above what 5,000 nodes need. Negative: none.
	MaxSteps int

	// MaxNodes is how many nodes one action of the search may remove. Smaller
	// actions fit under budgets, and less goes wrong with each. Default: 25.
	// At most command.MaxSources.
	MaxNodes int

	// MinimumSaving is what an action of the search must save at least, in USD
	// per hour. Default: 0, so that any saving is enough. Infinity is never enough.
	MinimumSaving float64

	// MinimumScore is the least score of an action of the search: the share of
	// the cost of its pools that it saves, over the share of their disruption
	// cost that it takes. Removing an average node for nothing scores 1, and
	// replacing it at half its price 0.5. The nodes of a pool are taken to cost
	// no more for each unit of disruption cost than those of all pools do
	// together: a dear node with one pod is replaced for less than half its
	// price. Default: 0.5. Negative: none, so that pods are moved for any
	// saving, as Karpenter moves them.
	MinimumScore float64

	// NoSpotToSpot keeps spot nodes from being replaced by spot nodes. They may
	// still be removed where their pods find room, or be replaced by other
	// capacity that costs no more than the spot capacity would.
	NoSpotToSpot bool

	// SpotFloor is how many instance types that are cheaper a spot node must
	// have to be replaced by one spot node: with few, the launch ends on the
	// next cheapest, which is replaced again, down to the type that is
	// interrupted most. Default: 15. Negative: none.
	SpotFloor int

	// NoReplacements keeps the search from launching nodes: it removes nodes
	// only whose pods have room on others, as cluster-autoscaler scales down.
	NoReplacements bool
}

// DriftOptions tune what becomes of drifted nodes. The zero value means the defaults.
type DriftOptions struct {
	// TerminateFirst lets a drifted node of a static pool be deleted before
	// its replacement is launched, if the pool is at its limit of nodes or its
	// reservations are full; and one of a dynamic pool that holds a place in a
	// reservation, if its pods can go nowhere else than to such a place and none
	// is left. Default: it stays, and says so.
	TerminateFirst bool
}

// RepairOptions tune what becomes of unhealthy nodes. The zero value means the defaults.
type RepairOptions struct {
	// Share is the part of a pool's nodes, rounded up, of which more must
	// not be unhealthy, or none is repaired: many broken nodes point to
	// something else that is broken. Default: 0.2. Values are taken to be
	// within 0 and 1; a negative one means 0.
	Share float64

	// TerminateFirst is for unhealthy nodes what DriftOptions.TerminateFirst is for
	// drifted ones. Default: such a node stays, and says so.
	TerminateFirst bool
}

// LifecycleOptions tune how long the start of a node may take, and which notices of the
// cloud count. The zero value means the defaults.
type LifecycleOptions struct {
	// LaunchTimeout is how long a NodeClaim may go without a machine. Default: 5
	// minutes. Negative: for ever.
	LaunchTimeout time.Duration

	// RegistrationTimeout is how long a machine may take to join. Default: 15
	// minutes. Negative: for ever.
	RegistrationTimeout time.Duration

	// InitializationTimeout is how long a Node may take to become ready for
	// pods after it joined. Default, and negative: for ever.
	InitializationTimeout time.Duration

	// ActOnRebalance replaces nodes for which the cloud recommends it, as the AWS Node
	// Termination Handler can. Default: such a notice is passed over, as in Karpenter.
	ActOnRebalance bool
}

// What is the same for everybody.
const (
	// TerminateFirstDrain bounds the drain of a node that is deleted first and has no
	// terminationGracePeriod, as nothing replaces it meanwhile.
	TerminateFirstDrain = command.DefaultDrain
	// BalancedThreshold is the least score of an action on a pool whose consolidationPolicy
	// is Balanced, for each such pool by itself: see ConsolidationOptions.MinimumScore.
	BalancedThreshold = consolidation.BalancedThreshold
	// UnavailableHold is for how long an offering of Input.UnavailableOfferings is not
	// counted on to save money.
	UnavailableHold = 10 * time.Minute
	// LaunchAhead is how long before a pod that nothing may evict is ended by force a place
	// for it is planned for: see Displaced.
	LaunchAhead = state.LaunchAhead
	// GarbageGrace is how old an instance, Node or NodeClaim must be before it can be
	// garbage, as lists of the cloud lag behind.
	GarbageGrace = time.Minute
)

// The defaults of Options.
const (
	DefaultRepairShare         = 0.2
	DefaultLaunchTimeout       = nodeclaim.DefaultLaunchTimeout
	DefaultRegistrationTimeout = nodeclaim.DefaultRegistrationTimeout
	DefaultMaxSteps            = 2_000_000
	DefaultMaxNodes            = 25
	DefaultMinimumScore        = 0.5
	DefaultSpotFloor           = 15
)

// withDefaults is a copy in which every field means what it says: a duration of
// zero is none, and for ever is negative.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.Lifecycle.LaunchTimeout, DefaultLaunchTimeout)
	setDefault(&out.Lifecycle.RegistrationTimeout, DefaultRegistrationTimeout)
	setDefault(&out.Lifecycle.InitializationTimeout, -1)
	if out.Repair.Share == 0 || !finite(out.Repair.Share) {
		out.Repair.Share = DefaultRepairShare
	}
	out.Repair.Share = min(max(out.Repair.Share, 0), 1)
	out.setSearchDefaults()
	return out
}

// setSearchDefaults does the same for the options of the search.
func (o *Options) setSearchDefaults() {
	if o.Consolidation.MaxSteps == 0 {
		o.Consolidation.MaxSteps = DefaultMaxSteps
	}
	o.Consolidation.MaxSteps = max(o.Consolidation.MaxSteps, 0)
	if o.Consolidation.MaxNodes <= 0 {
		o.Consolidation.MaxNodes = DefaultMaxNodes
	}
	o.Consolidation.MaxNodes = min(o.Consolidation.MaxNodes, command.MaxSources)
	if !(o.Consolidation.MinimumSaving > 0) { // also what is not a number
		o.Consolidation.MinimumSaving = 0
	}
	switch {
	case o.Consolidation.MinimumScore == 0 || !finite(o.Consolidation.MinimumScore):
		o.Consolidation.MinimumScore = DefaultMinimumScore
	case o.Consolidation.MinimumScore < 0:
		o.Consolidation.MinimumScore = 0
	}
	if o.Consolidation.SpotFloor == 0 {
		o.Consolidation.SpotFloor = DefaultSpotFloor
	}
	o.Consolidation.SpotFloor = max(o.Consolidation.SpotFloor, 0)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Validate returns an error that joins all faults of the options, those of
// Options.Provisioning included; nil options have none. Observe and Propose list
// the same faults and go on: what is not a number, or infinite, or negative where
// no comment says what that means, counts as left out, and what is above its upper
// bound as it is or as that bound. Only Consolidation.MinimumSaving may be infinite: then nothing
// is removed to save money. Groups and Policies are judged by budgets.ValidateGroups and
// budgets.Compile.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	c := &optionCheck{}
	c.number("Repair.Share", o.Repair.Share, "a share of the nodes of a pool, from 0 to 1")
	if !(o.Consolidation.MinimumSaving >= 0) {
		c.add("Consolidation.MinimumSaving is %v; use an amount of USD per hour, or 0", o.Consolidation.MinimumSaving)
	}
	c.number("Consolidation.MinimumScore", o.Consolidation.MinimumScore, "a score such as 0.5, 0 for the default, or a negative number for none")
	if o.Consolidation.MaxNodes < 0 || o.Consolidation.MaxNodes > command.MaxSources {
		c.add("Consolidation.MaxNodes is %d; use 1 to %d, or 0 for the default", o.Consolidation.MaxNodes, command.MaxSources)
	}
	if o.Provisioning != nil {
		if err := o.Provisioning.Validate(); err != nil {
			for _, e := range state.Joined(err) {
				c.add("Provisioning.%w", e)
			}
		}
	}
	return errors.Join(c.list...)
}

type optionCheck struct{ list []error }

func (c *optionCheck) add(format string, args ...any) {
	c.list = append(c.list, fmt.Errorf(format, args...))
}

// number asks that an option is a finite number.
func (c *optionCheck) number(name string, x float64, remedy string) {
	if !finite(x) {
		c.add("%s is %v; use %s", name, x, remedy)
	}
}

// addOptionFaults adds what is wrong with options.
func addOptionFaults(l *state.Faults, o *Options) {
	if err := o.Validate(); err != nil {
		for _, e := range state.Joined(err) {
			l.List = append(l.List, &provisioning.InputError{Object: "Options", Err: e})
		}
	}
}
