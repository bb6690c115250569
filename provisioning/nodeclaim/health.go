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

// HealthRing is how many of the last launches determine the condition NodeRegistrationHealthy of a
// NodePool. The pool is unhealthy if HealthRing/2 of them failed.
const HealthRing = 4

// The reasons of the condition NodeRegistrationHealthy. If the launch itself failed, the reason is
// that of the condition Launched of the NodeClaim.
const (
	// RegistrationHealthy (True): most of the last machines joined.
	RegistrationHealthy = "RegistrationHealthy"
	// RegistrationFailed (False): machines were made and did not join.
	RegistrationFailed = "RegistrationFailed"
	// AwaitingReconciliation (Unknown): the pool or its NodeClass has changed, and there was no
	// launch since.
	AwaitingReconciliation = "AwaitingReconciliation"
)

// Outcome is a NodeClaim whose node has registered, or that timed out.
type Outcome struct {
	// Claim is the NodeClaim as it was then. A claim without owner reference to the pool is
	// ignored, and so is nil.
	Claim *v1.NodeClaim
	// Failed is whether it was deleted for the reason LaunchTimeout or RegistrationTimeout.
	// Otherwise its Node has registered.
	Failed bool
	// At is when that was known.
	At time.Time
}

// Health has the outcomes of the last launches of a NodePool. The zero value is that of a new pool.
// It is immutable: Next returns another one.
type Health struct {
	// Failed has for each of the last launches whether it failed, the oldest first, at most
	// HealthRing.
	Failed []bool
	// Generation is the generation of the pool, and ClassGeneration that of its NodeClass, at the
	// time of these launches.
	Generation, ClassGeneration int64
}

// HealthReport is the result of Health.Add.
type HealthReport struct {
	// Health is for the next call. It need not be stored: see RecoverHealth.
	Health Health
	// Condition is the condition NodeRegistrationHealthy of the pool, and ClassGeneration the value
	// for status.nodeClassObservedGeneration.
	Condition       metav1.Condition
	ClassGeneration int64
}

// RecoverHealth derives Health from the status of a pool, for a program that was restarted: one
// success if its condition NodeRegistrationHealthy is True, just enough failures to make it
// unhealthy if it is False, and otherwise no launches. For a nil pool it is zero.
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

// Add adds the outcomes of a pool's launches. Pass each outcome once. In this order:
//
//  1. If the generation of the pool or of its NodeClass differs from that of the earlier launches,
//     these are dropped, and the condition is Unknown (AwaitingReconciliation). It is also Unknown
//     if the pool does not have the condition yet.
//  2. Outcomes are added by time, then by name of the claim. A success makes the condition True
//     unless the pool is still unhealthy; a failure makes it False if the pool is unhealthy then
//     and the condition is not False already.
//
// So a pool with one failure and no success stays Unknown, and one with two failures is False until
// failures drop out of the ring. The condition is informational: neither this package nor
// provisioning reads it, and the pool stays Ready.
//
// The time of transition is kept if the status does not change; otherwise it is now. The pool and
// the receiver are not changed; a nil pool counts as a new one.
func (h Health) Add(now time.Time, pool *v1.NodePool, classGeneration int64, outcomes []Outcome) HealthReport {
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

// sortedOutcomes returns the outcomes of claims that a pool owns, in order.
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

// why returns the reason and message of a failure.
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
