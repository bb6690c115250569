// Package inventory says what a snapshot holds: which workload a pod is of, what a node offers
// and what is used of it.
package inventory

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Workload identifies what a pod belongs to: a Deployment, a Job, a buffer, or
// the pod itself if nothing controls it.
type Workload struct{ Kind, Namespace, Name string }

// String is "Deployment shop/web".
func (w Workload) String() string { return w.Kind + " " + w.Path() }

// Path is "shop/web".
func (w Workload) Path() string { return w.Namespace + "/" + w.Name }

// WorkloadOf finds what a pod belongs to. A ReplicaSet whose name ends in the
// hash of its pods' template is one of a Deployment's, and stands for it.
func WorkloadOf(pod *corev1.Pod) Workload {
	if namespace, name, ok := provisioning.BufferOf(pod); ok {
		return Workload{"Buffer", namespace, name}
	}
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return Workload{"Pod", pod.Namespace, pod.Name}
	}
	w := Workload{ref.Kind, pod.Namespace, ref.Name}
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; ref.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(ref.Name, "-"+hash); ok && name != "" {
			w.Kind, w.Name = "Deployment", name
		}
	}
	return w
}
