package podlife

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Health has the fields of a PodDisruptionBudget that decide, in addition to its selector, which
// pods it protects.
type Health struct {
	AlwaysAllow      bool // the policy for unhealthy pods is AlwaysAllow
	Healthy, Desired int  // status.currentHealthy and status.desiredHealthy
}

// HealthOf reads a PodDisruptionBudget.
func HealthOf(b *policyv1.PodDisruptionBudget) Health {
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return Health{AlwaysAllow: policy != nil && *policy == policyv1.AlwaysAllow,
		Healthy: int(b.Status.CurrentHealthy), Desired: int(b.Status.DesiredHealthy)}
}

// Budgeted reports whether the eviction API asks budgets about a pod at all: it does not
// about pods that are Pending, or have ended.
func Budgeted(phase corev1.PodPhase) bool {
	return phase != corev1.PodPending && phase != corev1.PodSucceeded && phase != corev1.PodFailed
}

// Protects reports whether the eviction of a Budgeted pod that the budget selects has to
// wait until the budget allows a disruption. ready is the status of the condition Ready of
// the pod. One that is not ready goes at once if the policy is AlwaysAllow, or if as many
// pods are healthy as the budget wants and it wants any.
func (h Health) Protects(ready corev1.ConditionStatus) bool {
	return ready == corev1.ConditionTrue || !h.AlwaysAllow && (h.Desired <= 0 || h.Healthy < h.Desired)
}

// ReadyStatus returns the status of the condition Ready of a pod, empty if it has none.
func ReadyStatus(pod *corev1.Pod) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status
		}
	}
	return ""
}
