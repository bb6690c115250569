package budgets

import "time"

// Policy is what the budgets of a NodePool cannot say. The zero value, and nil,
// add nothing.
type Policy struct {
	// Rules bound disruption further. All hold, together with the budgets.
	Rules []Rule
	// ExpiryUnderBudgets holds expiry to the budgets: those that apply to all
	// reasons, and those that name Drifted, for an expired node is replaced as
	// a drifted one is. Without it budgets have no say in expiry, as with
	// Karpenter. Rules apply to expiry in any case, unless their reasons leave
	// it out.
	ExpiryUnderBudgets bool
	// SeparateReasons takes off a budget or rule that names reasons only those
	// disrupted nodes of Counts.By that are disrupted for one of them, and
	// those whose reason is not known. Without it every disrupted node counts
	// against every budget, as with Karpenter.
	SeparateReasons bool
}

// Rule is one of Rate, Only, Freeze and Keep. In each of them Reasons are what
// it applies to, nil being all, Expired included, and an empty list none.
type Rule interface{ rule() }

// Rate bounds how many disruptions may begin in any stretch of time of the
// given length: "at most 30% in ten minutes", "one a day". Counts.History is
// what it counts; nodes that are on their way out are not taken off it a second
// time.
type Rate struct {
	// Nodes is a count such as "1", or a percentage of Counts.Nodes such as
	// "30%", rounded up. Required.
	Nodes string
	// Per is the length of the stretch. A disruption counts from the instant
	// it begins until before that instant plus Per. Required, positive.
	Per time.Duration
	// Reasons are what the rule applies to, and which disruptions count.
	Reasons []Reason
}

// Only allows disruption in windows, and none outside of them.
type Only struct {
	// Openings are when disruption is allowed. Several are taken together. None
	// is a fault.
	Openings []Opening
	// Reasons are what the rule applies to.
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

// Freeze is a bound for one stretch of time, such as the days of a sale.
type Freeze struct {
	// From is the first instant, and To the first one after. To must be later
	// than From.
	From, To time.Time
	// Nodes is a count or percentage as in a budget. Default "0".
	Nodes string
	// Reasons are what the rule applies to.
	Reasons []Reason
}

// Keep is a floor: so many nodes stay undisturbed. With "1", a pool of one node
// is not lost to a budget of 10%, which is rounded up to one.
type Keep struct {
	// Nodes is a count or a percentage of Counts.Nodes, rounded up. Required.
	// The nodes kept are those that Counts.Consuming does not count.
	Nodes string
	// Reasons are what the rule applies to.
	Reasons []Reason
}

func (Rate) rule()   {}
func (Only) rule()   {}
func (Freeze) rule() {}
func (Keep) rule()   {}
