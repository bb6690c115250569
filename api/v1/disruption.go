package v1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Disruption says when nodes of a pool may be removed for a reason of the
// autoscaler's own, and how many at a time.
type Disruption struct {
	// ConsolidateAfter is how long a node must have seen no pod come or go
	// before consolidation looks at it. Default 0s; Never turns consolidation
	// off. Ignored by static pools.
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitzero"`
	// ConsolidationPolicy says which nodes consolidation looks at. Default
	// WhenEmptyOrUnderutilized. Ignored by static pools.
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// Budgets bound how many nodes may be on their way out at once; the
	// strictest one that applies wins. At most 50. Nil is defaulted to one
	// budget of 10%. An empty list is not: it means no bound at all, and is
	// therefore kept as it is when the object is written.
	Budgets []Budget `json:"budgets,omitzero"`
}

// Budget bounds how many nodes of a pool may be disrupted at once, for some
// reasons or all, during a recurring window or always.
type Budget struct {
	// Reasons are the disruptions that the budget applies to. Nil is all of
	// them. A list that is empty but not nil applies to none, so the budget
	// does nothing.
	Reasons []DisruptionReason `json:"reasons,omitzero"`
	// Nodes is a count ("5", "0") or a share of the pool's nodes, rounded up
	// ("10%", 0% to 100%). Default 10%.
	Nodes string `json:"nodes,omitempty"`
	// Schedule is when the window opens: five cron fields (minute, hour, day of
	// month, month, day of week) or one of @annually, @yearly, @monthly,
	// @weekly, @daily, @midnight and @hourly. The time zone is UTC unless
	// CRON_TZ=<zone> or TZ=<zone>, which Karpenter does not know, stands in front
	// of the five fields; the time zone database of the process must have it. Set
	// together with Duration, or not at all.
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the window stays open from each time the schedule
	// hits, in whole minutes. Set together with Schedule, or not at all: then
	// the budget is always active.
	Duration *metav1.Duration `json:"duration,omitempty"`
}

// MarshalJSON writes a window of no length as 0m, where a duration would write
// 0s, which the API server refuses.
func (b Budget) MarshalJSON() ([]byte, error) {
	type plain Budget
	if b.Duration == nil || b.Duration.Duration != 0 {
		return json.Marshal(plain(b))
	}
	return json.Marshal(struct {
		plain
		Duration string `json:"duration"`
	}{plain(b), "0m"})
}

// ConsolidationPolicy says which nodes consolidation may remove.
type ConsolidationPolicy string

// The consolidation policies.
const (
	// ConsolidationPolicyWhenEmpty removes only nodes without workload pods.
	ConsolidationPolicyWhenEmpty ConsolidationPolicy = "WhenEmpty"
	// ConsolidationPolicyWhenEmptyOrUnderutilized removes empty nodes, and nodes
	// whose pods fit elsewhere for less money. The default.
	ConsolidationPolicyWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	// ConsolidationPolicyBalanced is WhenEmptyOrUnderutilized that asks each
	// move to save enough for the pods it disturbs.
	ConsolidationPolicyBalanced ConsolidationPolicy = "Balanced"
)

// DisruptionReason is why a node is disrupted, as budgets name it.
type DisruptionReason string

// The reasons that a budget may name.
const (
	// DisruptionReasonUnderutilized is a node whose pods fit elsewhere for less.
	DisruptionReasonUnderutilized DisruptionReason = "Underutilized"
	// DisruptionReasonEmpty is a node without workload pods.
	DisruptionReasonEmpty DisruptionReason = "Empty"
	// DisruptionReasonDrifted is a node that no longer matches its pool or
	// NodeClass.
	DisruptionReasonDrifted DisruptionReason = "Drifted"
	// DisruptionReasonUnhealthy is a node with a condition that asks for
	// repair.
	DisruptionReasonUnhealthy DisruptionReason = "Unhealthy"
)

// DisruptionReasons returns the reasons that a budget may name, sorted. The
// slice is the caller's.
func DisruptionReasons() []DisruptionReason {
	return []DisruptionReason{
		DisruptionReasonDrifted,
		DisruptionReasonEmpty,
		DisruptionReasonUnderutilized,
		DisruptionReasonUnhealthy,
	}
}
