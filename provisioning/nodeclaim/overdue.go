package nodeclaim

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// The reasons to delete a NodeClaim whose node did not start in time.
const (
	// LaunchTimeout: the cloud has not made the machine in time.
	LaunchTimeout v1.DisruptionReason = "LaunchTimeout"
	// RegistrationTimeout: the machine has not joined in time.
	RegistrationTimeout v1.DisruptionReason = "RegistrationTimeout"
	// InitializationTimeout: the Node has not become ready for pods in time.
	InitializationTimeout v1.DisruptionReason = "InitializationTimeout"
)

// The defaults of Timeouts.
const (
	DefaultLaunchTimeout       = 5 * time.Minute
	DefaultRegistrationTimeout = 15 * time.Minute
)

// Timeouts say how long each part of the start of a node may take. Negative means without limit.
type Timeouts struct {
	// Launch is how long a NodeClaim may go without a machine. Default and zero: 5
	// minutes.
	Launch time.Duration
	// Registration is how long a machine may take to join. Default and zero: 15
	// minutes.
	Registration time.Duration
	// Initialization is how long a Node may take to become ready for pods after it joined. Zero
	// means without limit.
	Initialization time.Duration
}

// Deadline is how long a condition of a NodeClaim may take to become True.
type Deadline struct {
	// Reason is why the claim is deleted at the deadline.
	Reason v1.DisruptionReason
	// Condition is the type of the condition.
	Condition string
	// Since is when the time began; zero if that is not known: then the deadline never passes.
	Since time.Time
	// Timeout is the length of the time.
	Timeout time.Duration
}

// At returns the deadline, or zero if Since is zero.
func (d Deadline) At() time.Time {
	if d.Since.IsZero() {
		return time.Time{}
	}
	return d.Since.Add(d.Timeout)
}

// Deadlines returns the deadlines that a NodeClaim has now, in the order in which Overdue checks
// them; node is its Node, nil if there is none:
//
//  1. LaunchTimeout: it is not registered, and its condition Launched is not True;
//  2. RegistrationTimeout: its condition Registered is not True;
//  3. InitializationTimeout: it is registered, it is not being rebooted, and its
//     condition Initialized is not True.
//
// The time counts from the last transition of the condition, or from the creation of the claim
// while there is no such condition. A Node with the label karpenter.sh/registered or
// karpenter.sh/initialized counts as registered or initialized whatever the condition says. A nil
// claim has none. Nil timeouts mean the defaults.
func Deadlines(claim *v1.NodeClaim, node *corev1.Node, t *Timeouts) []Deadline {
	if claim == nil {
		return nil
	}
	if t == nil {
		t = &Timeouts{}
	}
	var all []Deadline
	ask := func(reason v1.DisruptionReason, condition string, timeout, otherwise time.Duration) {
		if timeout == 0 {
			timeout = otherwise
		}
		if timeout < 0 || isTrue(claim, condition) {
			return
		}
		since := claim.CreationTimestamp.Time
		if c := status.Find(claim.Status.Conditions, condition); c != nil && !c.LastTransitionTime.IsZero() {
			since = c.LastTransitionTime.Time
		}
		all = append(all, Deadline{reason, condition, since, timeout})
	}
	initialized := node != nil && node.Labels[v1.NodeInitializedLabelKey] == "true"
	registered := initialized || node != nil && node.Labels[v1.NodeRegisteredLabelKey] == "true"
	switch {
	case !isTrue(claim, v1.ConditionTypeRegistered) && !registered:
		ask(LaunchTimeout, v1.ConditionTypeLaunched, t.Launch, DefaultLaunchTimeout)
		ask(RegistrationTimeout, v1.ConditionTypeRegistered, t.Registration, DefaultRegistrationTimeout)
	case !initialized && !isTrue(claim, v1.ConditionTypeRebooting):
		ask(InitializationTimeout, v1.ConditionTypeInitialized, t.Initialization, -1)
	}
	return all
}

// Overdue returns the first of Deadlines that is at or before now: delete the NodeClaim then, so
// that its pods are planned again. It reports false if there is none; only then next is valid: when
// the first deadline will pass, or zero. Nil timeouts mean the defaults.
func Overdue(now time.Time, claim *v1.NodeClaim, node *corev1.Node, t *Timeouts) (d Deadline, next time.Time, overdue bool) {
	for _, d := range Deadlines(claim, node, t) {
		due := d.At()
		switch {
		case due.IsZero():
		case !due.After(now):
			return d, next, true
		case next.IsZero() || due.Before(next):
			next = due
		}
	}
	return Deadline{}, next, false
}
