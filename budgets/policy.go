package budgets

import "time"

// Policy is what the budgets of a NodePool cannot say. It goes to Compile, or by the name
// of the pool into Options.Policies of package disruption. The zero value, and nil, add
// nothing.
type Policy struct {
	// Only are windows outside of which nothing is disrupted. All hold, together
	// with the budgets.
	Only []Only
	// ExpiryUnderBudgets holds expiry to the budgets: those that apply to all
	// reasons, and those that name Drifted, for an expired node is replaced as
	// a drifted one is. Without it budgets have no say in expiry, as with
	// Karpenter. Only applies to expiry in any case, unless its reasons leave
	// it out.
	ExpiryUnderBudgets bool
	// SeparateReasons takes off a budget that names reasons only those disrupted
	// nodes of Counts.By that are disrupted for one of them, and those whose
	// reason is not known. Without it every disrupted node counts against every
	// budget, as with Karpenter.
	SeparateReasons bool
}

// Only allows disruption in windows, and none outside of them.
type Only struct {
	// Openings are when disruption is allowed. Several are taken together. None
	// is a fault.
	Openings []Opening
	// Reasons are what it applies to: nil is all, Expired included, and an empty
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
