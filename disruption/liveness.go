package disruption

import (
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Liveness wants to delete NodeClaims that do not come up, the one whose time
// was up first first, then by name. The first that holds of a claim counts:
//
//  1. LaunchTimeout: it is not registered, and its condition Launched has not
//     been True for Options.LaunchTimeout;
//  2. RegistrationTimeout: its condition Registered has not been True for
//     Options.RegistrationTimeout;
//  3. InitializationTimeout: it is registered, it is not being rebooted, and its
//     condition Initialized has not been True for Options.InitializationTimeout.
//
// The time counts from the last transition of the condition, or from the
// creation of the claim while there is no such condition. If neither is known
// the time does not run; see Fleet.Warnings. Equality is enough. A
// Node with the label karpenter.sh/registered or karpenter.sh/initialized counts
// as such whatever the condition says. Nothing is ever Blocked.
func (f *Fleet) Liveness() Result {
	var r Result
	for _, m := range f.members {
		if !m.managed() || m.marked() {
			continue
		}
		for _, limit := range f.limits(m) {
			if limit.since.IsZero() {
				continue
			}
			due := limit.since.Add(limit.after)
			if due.After(f.now) {
				r.Next = sooner(r.Next, due)
				continue
			}
			a := m.action(limit.reason, Delete)
			a.Since = due
			a.Detail = fmt.Sprintf("condition %s has not been True for %s, since %s", limit.condition, limit.after, instant(limit.since))
			r.Actions = append(r.Actions, a)
			break
		}
	}
	sortActions(r.Actions)
	return r
}

// timeLimit is how long a condition may take to become True.
type timeLimit struct {
	reason    Reason
	condition string
	since     time.Time // zero if it is not known
	after     time.Duration
}

// limits are those that a claim has to keep now, in the order in which they are
// held against it.
func (f *Fleet) limits(m *member) []timeLimit {
	var all []timeLimit
	ask := func(reason Reason, condition string, after time.Duration) {
		if after < 0 || m.isTrue(condition) {
			return
		}
		since := m.NodeClaim.CreationTimestamp.Time
		if c := m.condition(condition); c != nil && !c.LastTransitionTime.IsZero() {
			since = c.LastTransitionTime.Time
		}
		all = append(all, timeLimit{reason, condition, since, after})
	}
	switch {
	case !m.isTrue(v1.ConditionTypeRegistered) && !m.registered():
		ask(LaunchTimeout, v1.ConditionTypeLaunched, f.opts.LaunchTimeout)
		ask(RegistrationTimeout, v1.ConditionTypeRegistered, f.opts.RegistrationTimeout)
	case !m.initialized() && !m.rebooting():
		ask(InitializationTimeout, v1.ConditionTypeInitialized, f.opts.InitializationTimeout)
	}
	return all
}
