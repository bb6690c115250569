package main

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// workload identifies what a pod belongs to: a Deployment, a Job, a buffer, or
// the pod itself if nothing controls it.
type workload struct{ kind, namespace, name string }

// String is "Deployment shop/web".
func (w workload) String() string { return w.kind + " " + w.namespace + "/" + w.name }

// workloadOf finds what a pod belongs to. A ReplicaSet whose name ends in the
// hash of its pods' template is one of a Deployment's, and stands for it.
func workloadOf(pod *corev1.Pod) workload {
	if namespace, name, ok := provisioning.BufferOf(pod); ok {
		return workload{"Buffer", namespace, name}
	}
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return workload{"Pod", pod.Namespace, pod.Name}
	}
	w := workload{ref.Kind, pod.Namespace, ref.Name}
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; ref.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(ref.Name, "-"+hash); ok && name != "" {
			w.kind, w.name = "Deployment", name
		}
	}
	return w
}
