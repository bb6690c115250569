package budgets

import "time"

// Policy has settings that the budgets of a NodePool cannot express. Pass it to Compile, or put it
// into disruption.Options.Policies under the name of the pool. The zero value, and nil, add nothing.
type Policy struct {
	// Only are windows outside of which nothing is disrupted. All entries apply, in addition to the
	// budgets.
	Only []Only
	// ExpiryUnderBudgets makes two kinds of budgets bound expiry: those without reasons, and those
	// that name Drifted, because an expired node is replaced like a drifted one. If it is false, no
	// budget bounds expiry, as in Karpenter. The windows of the field Only bound expiry either way,
	// unless their reasons leave it out.
	ExpiryUnderBudgets bool
	// SeparateReasons says which disrupted nodes count against a budget that has reasons: those
	// that Counts.By lists for one of these reasons, and those with an unknown reason. If it is
	// false, every disrupted node counts against every budget, as in Karpenter.
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
