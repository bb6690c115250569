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

// podEventEvery is the least difference between two stored values of status.lastPodEventTime, so
// that a node that fills up is not written for each pod.
const podEventEvery = 5 * time.Second

// LastPodEvent returns when a pod was last bound to a node or began to be deleted: consolidateAfter
// counts from it. Pods of DaemonSets do not count. It is the latest of
//
//   - status.lastPodEventTime of the claim;
//   - for each pod, the instant at which its condition PodScheduled became True and, if it is being
//     deleted, that of the request to delete it;
//   - now, if a pod in before is not in pods, or has finished since.
//
// before are the pods of the last call, nil for the first one. After a restart only the removal of
// a pod during the restart is missed. Instants after now count as now. The result is zero if there
// was never an event.
func LastPodEvent(now time.Time, claim *v1.NodeClaim, before, pods []*corev1.Pod) time.Time {
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

// EditPodEvent returns a NodeClaim with the result of LastPodEvent in status.lastPodEventTime, in
// whole seconds. The claim is returned itself if it has the instant already, if the instant is
// zero, or if it is less than five seconds after the stored one; so use the later of the two for
// consolidateAfter. A nil claim stays nil.
func EditPodEvent(claim *v1.NodeClaim, last time.Time) *v1.NodeClaim {
	if claim == nil || last.IsZero() || last.Sub(claim.Status.LastPodEventTime.Time) < podEventEvery {
		return claim
	}
	out := claim.DeepCopy()
	out.Status.LastPodEventTime = metav1.NewTime(last.Truncate(time.Second))
	return out
}

// EditConsolidatable returns a NodeClaim with the condition Consolidatable if consolidateAfter has
// passed at now, and without it otherwise. It counts from last, the result of LastPodEvent, or from
// the condition Initialized if that is zero. A claim that is not initialized is not consolidatable,
// and no claim is if consolidateAfter is Never.
//
// The claim given is not changed, and returned itself where there is nothing to change. A
// nil claim stays nil.
func EditConsolidatable(now time.Time, claim *v1.NodeClaim, after v1.NillableDuration, last time.Time) *v1.NodeClaim {
	if claim == nil || !isTrue(claim, v1.ConditionTypeInitialized) || after.Duration == nil {
		return without(claim, v1.ConditionTypeConsolidatable)
	}
	if last.IsZero() {
		last = status.Find(claim.Status.Conditions, v1.ConditionTypeInitialized).LastTransitionTime.Time
	}
	if last.Add(*after.Duration).After(now) {
		return without(claim, v1.ConditionTypeConsolidatable)
	}
	return Condition{Type: v1.ConditionTypeConsolidatable, Status: metav1.ConditionTrue, Reason: v1.ConditionTypeConsolidatable}.EditClaim(now, claim)
}

// EditDrifted returns a NodeClaim with the condition Drifted for a reason, a word such as
// NodePoolDrifted, and detail, a sentence; without the condition if the reason is empty.
// disruption.Cluster.Drifts has both. The given claim is not changed, and is returned itself if
// there is nothing to change. A nil claim stays nil.
func EditDrifted(now time.Time, claim *v1.NodeClaim, reason, detail string) *v1.NodeClaim {
	if claim == nil || reason == "" {
		return without(claim, v1.ConditionTypeDrifted)
	}
	return Condition{Type: v1.ConditionTypeDrifted, Status: metav1.ConditionTrue, Reason: reason, Message: detail}.EditClaim(now, claim)
}

// without returns a claim without a condition.
func without(claim *v1.NodeClaim, kind string) *v1.NodeClaim {
	if claim == nil || status.Find(claim.Status.Conditions, kind) == nil {
		return claim
	}
	out := claim.DeepCopy()
	out.Status.Conditions = slices.DeleteFunc(out.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	return out
}
