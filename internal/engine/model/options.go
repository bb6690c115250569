package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// MinValuesPolicy says what to do when a minValues of a NodePool cannot be met.
type MinValuesPolicy string

// Strict launches no node that misses a minValues, and BestEffort lowers the minValues.
const (
	Strict     MinValuesPolicy = "Strict"
	BestEffort MinValuesPolicy = "BestEffort"
)

// PreferencePolicy says whether soft constraints count.
type PreferencePolicy string

// Respect weighs soft constraints against cost, and Ignore passes them over.
const (
	Respect PreferencePolicy = "Respect"
	Ignore  PreferencePolicy = "Ignore"
)

// ReservedPolicy says what becomes of a pod when reservations are used up.
type ReservedPolicy string

// ReservedFallback launches other capacity, and ReservedStrict names none beside a
// reservation.
const (
	ReservedFallback ReservedPolicy = "Fallback"
	ReservedStrict   ReservedPolicy = "Strict"
)

// CapacityMix divides the pods of each workload between on-demand and spot capacity.
type CapacityMix struct {
	OnDemandBase    int
	OnDemandPercent int
}

// Options are provisioning.Options, valid and with the defaults filled in.
type Options struct {
	MinValues       MinValuesPolicy                   // Strict or BestEffort
	Preferences     PreferencePolicy                  // Respect or Ignore
	PreferenceCost  float64                           // a share of what pods cost, of weight 100
	DefaultSpread   []corev1.TopologySpreadConstraint // of pods that have none
	SchedulerNames  []string                          // empty for all
	Reserved        ReservedPolicy                    // when reservations are used up
	NodeFee         float64                           // USD per hour and node
	CapacityMix     *CapacityMix                      // nil for none
	SpotFlexibility int                               // least number of types of a spot node
	MaxSteps        int                               // patterns built
	NoBounds        bool                              // no lower bounds
	Quick           bool                              // one coarse run
	Kubernetes      minors.Range                      // in which places have to be valid

	Trace *Trace // nil outside tests
}
