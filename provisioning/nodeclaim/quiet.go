package nodeclaim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// podEventEvery is the least distance of two instants in status.lastPodEventTime: a node
// that fills up with pods is not written once for each.
const podEventEvery = 5 * time.Second

// LastPodEvent is when a pod last came to a node or began to leave it: what
// consolidateAfter counts from. Pods of DaemonSets do not count. It is the latest of
//
//   - status.lastPodEventTime of the claim, what is on record;
//   - of each pod there is, the instant at which its condition PodScheduled became
//     True and, if it is being deleted, that at which the deletion was asked for;
//   - now, if a pod of before is not among pods, or has finished since.
//
// before are the pods of the last look, nil if there was none. A program that was
// restarted knows from the record and from the pods when one last came, and only of a
// pod that has left meanwhile it knows nothing. Instants after now count as now. The
// result is zero if there was never an event.
func LastPodEvent(claim *v1.NodeClaim, before, pods []*corev1.Pod, now time.Time) time.Time {
	var last time.Time
	later := func(t time.Time) {
		if t.After(now) {
			t = now
		}
		if t.After(last) {
			last = t
		}
	}
	if claim != nil {
		later(claim.Status.LastPodEventTime.Time)
	}
	active := map[types.UID]bool{}
	for _, p := range pods {
		if p == nil || podlife.OfDaemonSet(p) {
			continue
		}
		active[p.UID] = !podlife.Finished(p)
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
				later(c.LastTransitionTime.Time)
			}
		}
		if t := p.DeletionTimestamp; t != nil {
			var grace time.Duration
			if p.DeletionGracePeriodSeconds != nil {
				grace = time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
			}
			later(t.Add(-grace))
		}
	}
	for _, p := range before {
		if p != nil && !podlife.OfDaemonSet(p) && !podlife.Finished(p) && !active[p.UID] {
			later(now)
		}
	}
	return last
}

// EditPodEvent is a NodeClaim with an instant in status.lastPodEventTime, as LastPodEvent
// gives it, in whole seconds. The claim is returned itself if it says so already, if the
// instant is zero, or if it is less than five seconds after the one on record; so whoever
// compares with consolidateAfter takes the later of the two. A nil claim stays nil.
func EditPodEvent(claim *v1.NodeClaim, last time.Time) *v1.NodeClaim {
	if claim == nil || last.IsZero() || last.Sub(claim.Status.LastPodEventTime.Time) < podEventEvery {
		return claim
	}
	out := claim.DeepCopy()
	out.Status.LastPodEventTime = metav1.NewTime(last.Truncate(time.Second))
	return out
}

// EditConsolidatable is a NodeClaim with the condition Consolidatable if consolidateAfter
// has passed at an instant, and without it otherwise. It counts from last, as LastPodEvent
// gives it, or from the condition Initialized where that is zero. A claim that is not
// initialized is not consolidatable, nor is any while consolidateAfter is Never.
//
// The claim given is not changed, and returned itself where there is nothing to change. A
// nil claim stays nil.
func EditConsolidatable(claim *v1.NodeClaim, after v1.NillableDuration, last, now time.Time) *v1.NodeClaim {
	if claim == nil || !isTrue(claim, v1.ConditionTypeInitialized) || after.Duration == nil {
		return without(claim, v1.ConditionTypeConsolidatable)
	}
	if last.IsZero() {
		last = status.Find(claim.Status.Conditions, v1.ConditionTypeInitialized).LastTransitionTime.Time
	}
	if last.Add(*after.Duration).After(now) {
		return without(claim, v1.ConditionTypeConsolidatable)
	}
	return Condition{Type: v1.ConditionTypeConsolidatable, Status: metav1.ConditionTrue, Reason: v1.ConditionTypeConsolidatable}.EditClaim(claim, now)
}

// EditDrifted is a NodeClaim with the condition Drifted for a reason, a word such as
// NodePoolDrifted, and a sentence about it; without the condition if the reason is empty.
// disruption.Cluster.Drifts has both. The claim given is not changed, and returned itself
// where there is nothing to change. A nil claim stays nil.
func EditDrifted(claim *v1.NodeClaim, reason, detail string, now time.Time) *v1.NodeClaim {
	if claim == nil || reason == "" {
		return without(claim, v1.ConditionTypeDrifted)
	}
	return Condition{Type: v1.ConditionTypeDrifted, Status: metav1.ConditionTrue, Reason: reason, Message: detail}.EditClaim(claim, now)
}

// without is a claim that lacks a condition.
func without(claim *v1.NodeClaim, kind string) *v1.NodeClaim {
	if claim == nil || status.Find(claim.Status.Conditions, kind) == nil {
		return claim
	}
	out := claim.DeepCopy()
	out.Status.Conditions = slices.DeleteFunc(out.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	return out
}
