package v1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Disruption says when the autoscaler may remove nodes of a pool by its own decision, and how many
// at a time.
type Disruption struct {
	// ConsolidateAfter is how long no pod must have been added to or removed from a node before it
	// can be consolidated. Default 0s; Never turns consolidation off. Ignored by static pools.
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitzero"`
	// ConsolidationPolicy says which nodes can be consolidated. Default WhenEmptyOrUnderutilized.
	// Ignored by static pools.
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// Budgets bound how many nodes may be disrupted at once; the strictest active budget applies.
	// At most 50. Nil defaults to one budget of 10%. An empty list means no bound, and is therefore
	// kept when the object is written.
	Budgets []Budget `json:"budgets,omitzero"`
}

// Budget bounds how many nodes of a pool may be disrupted at once, for some
// reasons or all, during a recurring window or always.
type Budget struct {
	// Reasons are the reasons that the budget applies to. Nil means all. An empty list that is not
	// nil means none, so the budget has no effect.
	Reasons []DisruptionReason `json:"reasons,omitzero"`
	// Nodes is a count ("5", "0") or a share of the pool's nodes, rounded up
	// ("10%", 0% to 100%). Default 10%.
	Nodes string `json:"nodes,omitempty"`
	// Schedule is when the window opens: five cron fields (minute, hour, day of month, month, day
	// of week) or one of @annually, @yearly, @monthly, @weekly, @daily, @midnight and @hourly. The
	// time zone is UTC unless CRON_TZ=<zone> or TZ=<zone>, which Karpenter does not support,
	// precedes the five fields; the time zone database of the process must have it. Set together
	// with Duration, or not at all.
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the window stays open from each time the schedule hits, in whole
	// minutes. Set together with Schedule, or not at all: without both the budget is always active.
	Duration *metav1.Duration `json:"duration,omitempty"`
}

// MarshalJSON writes a zero duration as 0m, because the API server refuses 0s.
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
	// ConsolidationPolicyBalanced is WhenEmptyOrUnderutilized, but each move must save enough for
	// the pods that it evicts.
	ConsolidationPolicyBalanced ConsolidationPolicy = "Balanced"
)

// DisruptionReason is why a node is disrupted, in the words of budgets.
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
	// DisruptionReasonUnhealthy is a node with a condition that requires repair.
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
