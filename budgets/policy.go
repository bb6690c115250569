package budgets

import "time"

// Policy has settings that the budgets of a NodePool cannot express. Pass it to Compile, or by the
// name of the pool in Options.Policies of package disruption. The zero value, and nil, add nothing.
type Policy struct {
	// Only are windows outside of which nothing is disrupted. All entries apply, in addition to the
	// budgets.
	Only []Only
	// ExpiryUnderBudgets applies to expiry the budgets for all reasons and those that name Drifted,
	// because an expired node is replaced like a drifted one. Without it budgets do not bound
	// expiry, as in Karpenter. Only applies to expiry in any case, unless its reasons leave it out.
	ExpiryUnderBudgets bool
	// SeparateReasons counts against a budget with reasons only the nodes of Counts.By that are
	// disrupted for one of them, and those whose reason is not known. Without it every disrupted
	// node counts against every budget, as in Karpenter.
	SeparateReasons bool
}

// Only allows disruption in windows, and none outside of them.
type Only struct {
	// Openings are the windows in which disruption is allowed: any of them suffices. At least one
	// is required.
	Openings []Opening
	// Reasons are the reasons that it applies to: nil means all, including Expired, and an empty
	// list none.
	Reasons []Reason
}

// Opening is [hit, hit+Duration) for each hit of a schedule.
type Opening struct {
	// Schedule is read by ParseSchedule. Required.
	Schedule string
	// Duration is how long the window stays open. Required: whole minutes,
	// positive.
	Duration time.Duration
}
