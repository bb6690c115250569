package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// MinValuesPolicy says what the engine does when a minValues of a NodePool cannot be met.
type MinValuesPolicy string

// Strict launches no node that misses a minValues. BestEffort lowers the minValues.
const (
	Strict     MinValuesPolicy = "Strict"
	BestEffort MinValuesPolicy = "BestEffort"
)

// PreferencePolicy says whether soft constraints count.
type PreferencePolicy string

// Respect weighs soft constraints against cost. Ignore ignores them.
const (
	Respect PreferencePolicy = "Respect"
	Ignore  PreferencePolicy = "Ignore"
)

// ReservedPolicy says what capacity a pod gets when reservations are used up.
type ReservedPolicy string

// ReservedFallback launches other capacity types. ReservedStrict gives a node that can use a
// reservation no other capacity type.
const (
	ReservedFallback ReservedPolicy = "Fallback"
	ReservedStrict   ReservedPolicy = "Strict"
)

// CapacityMix divides the pods of each workload between on-demand and spot capacity: the first
// OnDemandBase pods, and OnDemandPercent of the others, on demand.
type CapacityMix struct {
	OnDemandBase    int
	OnDemandPercent int
}

// Options are provisioning.Options, validated and with defaults filled in.
type Options struct {
	MinValues       MinValuesPolicy                   // Strict or BestEffort
	Preferences     PreferencePolicy                  // Respect or Ignore
	PreferenceCost  float64                           // cost of breaking a preference of weight 100, as a share of the cost of the pod
	DefaultSpread   []corev1.TopologySpreadConstraint // for pods that have no spread constraint
	SchedulerNames  []string                          // empty means all
	Reserved        ReservedPolicy                    // ReservedFallback or ReservedStrict
	NodeFee         float64                           // USD per hour and node
	CapacityMix     *CapacityMix                      // nil means none
	SpotFlexibility int                               // least number of instance types of a spot node
	MaxSteps        int                               // limit on patterns built
	NoBounds        bool                              // compute no lower bounds
	Quick           bool                              // one coarse run
	Kubernetes      minors.Range                      // versions for which placements must be valid
	Parallel        int                               // number of goroutines; 0 means the default
	Placed          bool                              // the pods run: the problem is for a state.State, and cannot be solved

	Trace *Trace // nil outside tests
}
