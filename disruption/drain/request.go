package drain

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Eviction returns the request to evict a pod of NodePlan.Evict with its own grace, if it still has
// the observed UID. It is nil for all others.
//
// Of the answers, not found (404) and conflict (409) mean that the pod is gone; too many requests
// (429) that a budget was used up meanwhile: call Plan again later.
func (s PodPlan) Eviction() *policyv1.Eviction {
	if s.Code != "" || s.Grace > 0 {
		return nil
	}
	return &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: s.preconditions()},
	}
}

// DeleteOptions returns the options to delete a pod of NodePlan.Delete, and nil for all others.
func (s PodPlan) DeleteOptions() *metav1.DeleteOptions {
	if s.Grace <= 0 {
		return nil
	}
	return &metav1.DeleteOptions{GracePeriodSeconds: new(int64(s.Grace / time.Second)), Preconditions: s.preconditions()}
}

func (s PodPlan) preconditions() *metav1.Preconditions {
	if s.UID == "" {
		return nil
	}
	return &metav1.Preconditions{UID: new(s.UID)}
}
