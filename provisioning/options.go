package provisioning

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// MinValuesPolicy says what Solve does when a minValues of a NodePool cannot be met.
type MinValuesPolicy string

const (
	// Strict refuses to launch a node that misses a minValues. It is the
	// default.
	Strict MinValuesPolicy = "Strict"
	// BestEffort lowers a minValues to the number of values available.
	BestEffort MinValuesPolicy = "BestEffort"
)

// PreferencePolicy says whether soft constraints count: preferred node
// affinity, preferred pod affinity and anti-affinity, topology spread with
// ScheduleAnyway, and taints with PreferNoSchedule.
type PreferencePolicy string

const (
	// Respect weighs soft constraints against cost. It is the default.
	Respect PreferencePolicy = "Respect"
	// Ignore leaves soft constraints to kube-scheduler.
	Ignore PreferencePolicy = "Ignore"
)

// ReservedPolicy says which capacity a pod may use whose reservations are used up.
type ReservedPolicy string

const (
	// ReservedFallback launches other capacity for the pod. It is the default.
	ReservedFallback ReservedPolicy = "Fallback"
	// ReservedStrict gives nodes that use a reservation no options outside of it. A reservation
	// that turns out to be full then fails the launch, and no other capacity is paid for.
	ReservedStrict ReservedPolicy = "Strict"
)

// CapacityMix divides the pods of each group between on-demand and spot capacity, if they may use
// both. Pods are in one group if they have the same requests, node requirements, tolerations,
// preferences and constraints with other pods, and the same constraints count them. Volumes and
// devices make no difference, so the replicas of a StatefulSet are one group wherever their volumes
// are.
type CapacityMix struct {
	// OnDemandBase is how many pods of each group get on-demand (or reserved) capacity first.
	OnDemandBase int
	// OnDemandPercent, 0 to 100, is the share of the other pods of the group that get it too,
	// rounded up.
	OnDemandPercent int
}

// Options adjust the engine. The zero value, and nil, mean the defaults.
type Options struct {
	// MinValues says what Solve does when a minValues cannot be met. Default Strict.
	MinValues MinValuesPolicy

	// Preferences says whether soft constraints count. Default Respect.
	Preferences PreferencePolicy

	// PreferenceCost is what a soft constraint of weight 100 may cost, as a share of the cost of
	// its pods without it, in the heaviest pools that can take them. Lighter soft constraints may
	// cost less in proportion. The cost of a pod is the price of a node times the share of the node
	// that the pod uses. Default and zero: 0.1.
	//
	// The limit applies to whole plans too: a plan, fees for nodes included, costs at most that
	// share more than one without preferences. If all preferences that are worth their cost by pod
	// would exceed it together, those with the highest weight for most pods are satisfied. Pods
	// whose preferences have a total weight above 100 raise the share in proportion. No pod is left
	// pending to save money.
	//
	// If a search has used up MaxSteps, the limit holds by pod only, not for the whole plan.
	//
	// Preferences that only distinguish nodes of one plan cost nothing: soft constraints over the
	// hostname, and preferences among existing nodes. They choose between nodes that exist or are
	// bought anyway.
	PreferenceCost float64

	// DefaultSpread are topology spread constraints for pods that have none of their own, as the
	// defaultConstraints of kube-scheduler's PodTopologySpread plugin. They have no selector.
	//
	// With ScheduleAnyway over zones they give the balance of zones a weight, which costs money;
	// benchmarks/README.md has an example.
	DefaultSpread []corev1.TopologySpreadConstraint

	// SchedulerNames are the schedulers whose pods are placed; pods of other schedulers stay
	// Unplaced with that reason. Default and empty: all.
	SchedulerNames []string

	// Reserved says what capacity pods get when reservations are used up. Default ReservedFallback.
	Reserved ReservedPolicy

	// NodeFee is added to the price of every new node when plans are compared, in USD per hour. It
	// represents what a node costs in addition to its bill (licences, agents, its share of
	// attention). It leads to plans with fewer, larger nodes; a high fee gives the fewest nodes.
	// Plan.Cost does not include it. Default 0, at most cloudprovider.MaxPrice. benchmarks/README.md has an
	// example.
	NodeFee float64

	// CapacityMix, if set, divides pods between on-demand and spot capacity.
	// More on demand costs more; benchmarks/README.md has an example.
	CapacityMix *CapacityMix

	// SpotFlexibility is the least number of distinct instance types among the options of a node
	// that may be launched as spot. A node with fewer is launched as another capacity type if
	// possible. Default 0. A value above what pools have moves all pods off spot.
	SpotFlexibility int

	// MaxSteps bounds the search: the number of patterns built. Default and zero: 1,000,000, far
	// above what ordinary problems need. A plan that ran out of steps is complete and valid, but
	// may be more expensive. With 1 pods are packed once; benchmarks/README.md says what that saves
	// and costs.
	MaxSteps int

	// NoBounds leaves LowerBound, PackingBound and ObjectiveBound of the plan zero. Everything else
	// stays the same. The bounds take up to a third of a Solve, which is worth saving where plans
	// are only compared with each other, as in what-ifs.
	NoBounds bool

	// Quick packs once, by a coarse search and without bounds, as if MaxSteps were 1 and NoBounds
	// set. If pods are left unplaced it packs again, as a full search does. It compares fewer kinds
	// of node for each pattern and computes prices less often. It exchanges no pods, neither to
	// fill a node better nor for preferences among the nodes of the plan, and it removes no new
	// node. Plans are equally valid. Apart from limits, about one pod in 1,500, in problems full of
	// constraints, stays unplaced that a full search would have placed.
	//
	// It takes a tenth to a half of the time and costs 0 to 8% more;
	// benchmarks/README.md has both for each kind of problem. Default false.
	Quick bool

	// Parallel is the number of goroutines that work on a plan, and on a proposal of package disruption
	// with these options. The result is the same for any number, and the goroutines end before the
	// call does. Default and zero: GOMAXPROCS of the runtime, and 4 at most. 1: the goroutine of the
	// caller does all. Below zero is an error.
	Parallel int

	// Kubernetes is the minor version of Kubernetes whose kube-scheduler binds the pods, such as
	// "1.37". The version of a component, such as "v1.37.2", means the same. Default and empty:
	// each place in the plan is valid in every supported minor version, which Plan.Kubernetes
	// lists. docs/design.md lists how the versions differ.
	Kubernetes string

	trace *model.Trace // nil outside tests
}

// defaultMaxSteps bounds the search of a Solve. Ordinary problems take hundreds to thousands of
// steps.
const defaultMaxSteps = 1_000_000

// defaultPreferenceCost is the default of Options.PreferenceCost.
const defaultPreferenceCost = 0.1

// Validate returns an error that joins all faults of the options. Nil options are valid.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var faults []error
	faults = append(faults,
		oneOf("MinValues", o.MinValues, Strict, BestEffort),
		oneOf("Preferences", o.Preferences, Respect, Ignore),
		oneOf("Reserved", o.Reserved, ReservedFallback, ReservedStrict))
	if !(o.PreferenceCost >= 0) || math.IsInf(o.PreferenceCost, 0) {
		faults = append(faults, fmt.Errorf("PreferenceCost is %v; use a share of a pod's cost, such as 0.1", o.PreferenceCost))
	}
	if !(o.NodeFee >= 0 && o.NodeFee <= cloudprovider.MaxPrice) {
		faults = append(faults, fmt.Errorf("NodeFee is %v; use an amount of USD per hour, at most %g, or 0", o.NodeFee, cloudprovider.MaxPrice))
	}
	if o.SpotFlexibility < 0 {
		faults = append(faults, fmt.Errorf("SpotFlexibility is %d; use a number of instance types, or 0", o.SpotFlexibility))
	}
	if m := o.CapacityMix; m != nil && m.OnDemandBase < 0 {
		faults = append(faults, fmt.Errorf("CapacityMix.OnDemandBase is %d; use a number of pods, or 0", m.OnDemandBase))
	}
	if m := o.CapacityMix; m != nil && (m.OnDemandPercent < 0 || m.OnDemandPercent > 100) {
		faults = append(faults, fmt.Errorf("CapacityMix.OnDemandPercent is %d; use 0 to 100", m.OnDemandPercent))
	}
	faults = append(faults, workload.ValidateDefaultSpread(o.DefaultSpread)...)
	if o.MaxSteps < 0 {
		faults = append(faults, fmt.Errorf("MaxSteps is %d; use 0 for the default, or a positive number", o.MaxSteps))
	}
	if o.Parallel < 0 {
		faults = append(faults, fmt.Errorf("%s is %d; use 0 for the default, or a positive number of goroutines", "Parallel", o.Parallel))
	}
	if _, err := minors.Parse(o.Kubernetes); err != nil {
		what := strings.TrimPrefix(err.Error(), strconv.Quote(o.Kubernetes)+" ")
		faults = append(faults, fmt.Errorf("%s is %q: it %s", "Kubernetes", o.Kubernetes, what))
	}
	return errors.Join(faults...)
}

// oneOf returns an error for a policy that is neither of two values nor empty.
func oneOf[P ~string](field string, got, a, b P) error {
	if got == "" || got == a || got == b {
		return nil
	}
	return fmt.Errorf("%s is %q; use %q or %q", field, got, a, b)
}

func (o Options) withDefaults() Options {
	if o.MinValues == "" {
		o.MinValues = Strict
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultMaxSteps
	}
	if o.Quick {
		o.MaxSteps, o.NoBounds = 1, true
	}
	if o.PreferenceCost == 0 {
		o.PreferenceCost = defaultPreferenceCost
	}
	return o
}
