package nodeclaim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// HealthRing is how many launches of a NodePool its condition
// NodeRegistrationHealthy looks back on. The pool is unhealthy if half as many
// of them failed.
const HealthRing = 4

// The reasons of the condition NodeRegistrationHealthy. That of a failure is the
// reason of the condition Launched of the NodeClaim, if that is why it failed.
const (
	// RegistrationHealthy (True): most of the last machines joined.
	RegistrationHealthy = "RegistrationHealthy"
	// RegistrationFailed (False): machines were made and did not join.
	RegistrationFailed = "RegistrationFailed"
	// AwaitingReconciliation (Unknown): the pool or its NodeClass has changed,
	// and no machine has joined or failed to since.
	AwaitingReconciliation = "AwaitingReconciliation"
)

// Outcome is a NodeClaim that came up, or that was given up.
type Outcome struct {
	// Claim is the NodeClaim as it was then. One that has no owner reference to
	// the pool counts for nothing, and neither does nil.
	Claim *v1.NodeClaim
	// Failed is whether it was given up: deleted for the reason
	// LaunchTimeout or RegistrationTimeout. Otherwise its Node was registered.
	Failed bool
	// At is when that was known.
	At time.Time
}

// Health is what is remembered of the launches of a NodePool. The
// zero value is what is known of a new pool. It does not change: Next returns
// another.
type Health struct {
	// Failed says of the last launches whether they failed, the oldest first, at
	// most HealthRing.
	Failed []bool
	// Generation is that of the pool, and ClassGeneration that of its NodeClass,
	// that these launches were made with.
	Generation, ClassGeneration int64
}

// HealthReport is what follows from launches of a NodePool.
type HealthReport struct {
	// Health is what to remember. It may be forgotten when the program ends: see
	// RecoverHealth.
	Health Health
	// Condition is the condition NodeRegistrationHealthy of the pool, and
	// ClassGeneration what belongs into status.nodeClassObservedGeneration.
	Condition       metav1.Condition
	ClassGeneration int64
}

// RecoverHealth is what the status of a pool tells of its launches,
// for a program that has forgotten them: one success if its condition
// NodeRegistrationHealthy is True, as many failures as make it unhealthy if it
// is False, and otherwise none. A nil pool tells nothing.
func RecoverHealth(pool *v1.NodePool) Health {
	if pool == nil {
		return Health{}
	}
	h := Health{ClassGeneration: pool.Status.NodeClassObservedGeneration}
	c := status.Find(pool.Status.Conditions, v1.ConditionTypeNodeRegistrationHealthy)
	if c == nil {
		return h
	}
	h.Generation = c.ObservedGeneration
	switch c.Status {
	case metav1.ConditionTrue:
		h.Failed = []bool{false}
	case metav1.ConditionFalse:
		h.Failed = slices.Repeat([]bool{true}, HealthRing/2)
	}
	return h
}

// Unhealthy reports whether at least half of HealthRing launches failed:
// two, however few launches there were.
func (h Health) Unhealthy() bool {
	n := 0
	for _, failed := range h.Failed {
		if failed {
			n++
		}
	}
	return n >= HealthRing/2
}

// Next takes in what became of launches of a pool, each of which is told once.
// In this order:
//
//  1. If the generation of the pool or of its NodeClass is another than that of
//     the launches remembered, these say nothing any more: they are forgotten,
//     and the condition is Unknown (AwaitingReconciliation). So it is if the
//     pool has no such condition yet.
//  2. Outcomes are taken in by time, at the same time by name of the claim. A
//     success makes the condition True unless the pool is unhealthy even so; a
//     failure makes it False if that makes the pool unhealthy and it is not
//     False already.
//
// So a pool that was never seen to work and has failed once stays Unknown, and
// one that has failed twice is False until failures drop out of the ring. The
// condition informs: neither this package nor provisioning looks at it, and the
// pool stays Ready.
//
// The time of transition is kept where the status stays what the pool has; it is
// now otherwise. The pool and the receiver are not changed; a nil pool is one
// that nothing is known of.
func (h Health) Next(now time.Time, pool *v1.NodePool, classGeneration int64, outcomes []Outcome) HealthReport {
	if pool == nil {
		pool = &v1.NodePool{}
	}
	c := metav1.Condition{Type: v1.ConditionTypeNodeRegistrationHealthy, Status: metav1.ConditionUnknown,
		Reason: AwaitingReconciliation, Message: "no machine has joined or failed to since the pool or its NodeClass was changed"}
	before := status.Find(pool.Status.Conditions, v1.ConditionTypeNodeRegistrationHealthy)
	next := Health{Generation: pool.Generation, ClassGeneration: classGeneration}
	if before != nil && h.Generation == pool.Generation && h.ClassGeneration == classGeneration {
		c, next.Failed = *before, slices.Clone(h.Failed)
	}
	for _, o := range sortedOutcomes(pool, outcomes) {
		next.Failed = append(next.Failed, o.Failed)
		next.Failed = next.Failed[max(0, len(next.Failed)-HealthRing):]
		switch {
		case !o.Failed && !next.Unhealthy():
			c.Status, c.Reason, c.Message = metav1.ConditionTrue, RegistrationHealthy, ""
		case o.Failed && next.Unhealthy() && c.Status != metav1.ConditionFalse:
			c.Status = metav1.ConditionFalse
			c.Reason, c.Message = o.why()
		}
	}
	c.ObservedGeneration = pool.Generation
	if before == nil || before.Status != c.Status {
		c.LastTransitionTime = metav1.NewTime(now)
	} else {
		c.LastTransitionTime = before.LastTransitionTime
	}
	return HealthReport{Health: next, Condition: c, ClassGeneration: classGeneration}
}

// sortedOutcomes are those of claims that a pool owns.
func sortedOutcomes(pool *v1.NodePool, outcomes []Outcome) []Outcome {
	var own []Outcome
	for _, o := range outcomes {
		if o.Claim != nil && pool.UID != "" && slices.ContainsFunc(o.Claim.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == pool.UID }) {
			own = append(own, o)
		}
	}
	slices.SortStableFunc(own, func(a, b Outcome) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Claim.Name, b.Claim.Name))
	})
	return own
}

// why is the reason and message of a failure.
func (o Outcome) why() (reason, message string) {
	c := status.Find(o.Claim.Status.Conditions, v1.ConditionTypeLaunched)
	if c != nil && c.Status != metav1.ConditionTrue && c.Reason != "" {
		return c.Reason, c.Message
	}
	if c != nil && c.Status == metav1.ConditionTrue {
		return RegistrationFailed, fmt.Sprintf("the machine of NodeClaim %q was made and did not join the cluster", o.Claim.Name)
	}
	return RegistrationFailed, fmt.Sprintf("no machine was made for NodeClaim %q", o.Claim.Name)
}
