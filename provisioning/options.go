package provisioning

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// MinValuesPolicy says what to do when a minValues of a NodePool cannot be met.
type MinValuesPolicy string

const (
	// Strict refuses to launch a node that misses a minValues. It is the
	// default.
	Strict MinValuesPolicy = "Strict"
	// BestEffort lowers a minValues to the number of values that can be had.
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

// ReservedPolicy says what becomes of a pod that could run on reserved capacity
// of which nothing is left.
type ReservedPolicy string

const (
	// ReservedFallback launches other capacity for it. It is the default.
	ReservedFallback ReservedPolicy = "Fallback"
	// ReservedStrict makes the nodes that draw on a reservation name nothing
	// else, so that a reservation which turns out to be full fails the launch
	// rather than become a bill.
	ReservedStrict ReservedPolicy = "Strict"
)

// CapacityMix divides the pods of each workload between on-demand and spot
// capacity, where they may use both. Pods are of one group if they request the
// same, ask the same of their nodes and tolerate, prefer and want of other pods the
// same, and the same constraints count them; which volumes and devices they have
// makes no difference, so that the replicas of a StatefulSet are one group wherever
// their volumes are.
type CapacityMix struct {
	// OnDemandBase is how many pods of each group of like pods come on
	// on-demand (or reserved) capacity first.
	OnDemandBase int
	// OnDemandPercent, 0 to 100, is the share of the others that does,
	// rounded up.
	OnDemandPercent int
}

// Options tune the engine. The zero value, and nil, mean the defaults.
type Options struct {
	// MinValues says what to do when a minValues cannot be met. Default
	// Strict.
	MinValues MinValuesPolicy

	// Preferences says whether soft constraints count. Default Respect.
	Preferences PreferencePolicy

	// PreferenceCost is what a soft constraint of weight 100 may cost, as a
	// share of what the pods that have it cost without, in the heaviest pools that
	// can take them; lighter ones may cost in proportion. That is judged on paper,
	// by the share of a node that a pod takes up. Default and zero: 0.1.
	//
	// It holds for whole plans as well: a plan costs at most that share more, the
	// fees for nodes included, than one in which nobody's wish is followed. If all
	// that are worth their price on paper come to more, those are followed that
	// weigh most for most pods. Pods that want several things, of more than weight
	// 100 together, raise the share in proportion. No pod is left pending to save
	// money.
	//
	// A search that has used up MaxSteps keeps to it on paper only.
	//
	// What tells only nodes of one plan apart may cost nothing: soft
	// constraints over the name of the node, and preferences among nodes that
	// exist. They decide between nodes that are there, or bought, anyway.
	PreferenceCost float64

	// DefaultSpread are the topology spread constraints of pods that have
	// none of their own, as the defaultConstraints of kube-scheduler's
	// PodTopologySpread plugin are. They name no selector.
	//
	// With ScheduleAnyway over zones they are a weight on the balance of
	// zones, which is paid for; benchmarks/README.md has an example.
	DefaultSpread []corev1.TopologySpreadConstraint

	// SchedulerNames are the schedulers whose pods are placed; the pods of
	// others stay Unplaced with that reason. Default and empty: all.
	SchedulerNames []string

	// Reserved says what becomes of pods when reservations are used up.
	// Default ReservedFallback.
	Reserved ReservedPolicy

	// NodeFee is added to the price of every new node when plans are compared,
	// in USD per hour. It stands for what a node costs beside its bill
	// (licences, agents, its share of attention), and makes plans with fewer,
	// larger nodes; a high fee gives the fewest nodes. Plan.Cost does not
	// include it. Default 0. benchmarks/README.md has an example.
	NodeFee float64

	// CapacityMix, if set, divides pods between on-demand and spot capacity.
	// More on demand costs more; benchmarks/README.md has an example.
	CapacityMix *CapacityMix

	// SpotFlexibility is the least number of distinct instance types that a
	// node which may be launched as spot names for it; a node that can name
	// fewer is launched as another capacity type if it may. Default 0. A floor
	// above what pools have moves all pods off spot.
	SpotFlexibility int

	// MaxSteps bounds the search: the number of patterns built. Default and
	// zero: 1,000,000, far above what ordinary problems need. A plan that ran
	// out of steps is complete and valid, only dearer than it might be. With 1
	// pods are packed once; benchmarks/README.md says what that saves and costs.
	MaxSteps int

	// NoBounds leaves out the proof of how cheap a plan could be: LowerBound,
	// PackingBound and ObjectiveBound of the plan are zero then. Everything else is
	// the same. The proof takes up to a third of a Solve, which is worth saving where
	// plans are made to be compared with each other, as what-ifs are.
	NoBounds bool

	// Quick packs once, by a coarse search, with no proof of how cheap a plan could
	// be, as if MaxSteps were 1 and NoBounds set; where pods are left over it packs
	// again, as ever. Fewer kinds of node are compared
	// for each pattern, prices are asked for less often, and pods are not exchanged,
	// neither to fill a node better nor to suit their taste among the nodes of the
	// plan, and no node is taken out of it again. Plans are as valid; limits aside, one
	// pod in some fifteen hundred of problems full of constraints is left over that a
	// full search would have placed.
	//
	// It takes a tenth to a half of the time and costs 0 to 8% more;
	// benchmarks/README.md has both for each kind of problem. Default false.
	Quick bool

	// Kubernetes is the minor version of Kubernetes whose kube-scheduler binds the pods, such as
	// "1.37". The version of a component, such as "v1.37.2", says the same. Default and empty:
	// each place in the plan is valid in every supported minor version, which Plan.Kubernetes
	// lists. docs/design.md has what they differ in.
	Kubernetes string

	trace *model.Trace // nil outside tests
}

// defaultMaxSteps bounds the search of a Solve. Ordinary problems take
// hundreds to thousands.
const defaultMaxSteps = 1_000_000

// defaultPreferenceCost is the default of Options.PreferenceCost.
const defaultPreferenceCost = 0.1

// Validate returns an error that joins all faults of the options. Nil options have
// none.
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
	if !(o.NodeFee >= 0) || math.IsInf(o.NodeFee, 0) {
		faults = append(faults, fmt.Errorf("NodeFee is %v; use an amount of USD per hour, or 0", o.NodeFee))
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
	if _, err := minors.Parse(o.Kubernetes); err != nil {
		faults = append(faults, fmt.Errorf("Options.Kubernetes is %w", err))
	}
	return errors.Join(faults...)
}

// oneOf complains of a policy that is neither of two, nor left out.
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
