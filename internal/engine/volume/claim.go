package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of claims.
const (
	// bindCompleted is set once claim and volume are bound to each other.
	bindCompleted = "pv.kubernetes.io/bind-completed"
	// SelectedNode names the node that kube-scheduler has selected for a claim.
	SelectedNode = "volume.kubernetes.io/selected-node"
)

// kind says how a volume of a pod gets its claim.
type kind int

const (
	inline    kind = iota // it has no claim
	named                 // it names a claim
	ephemeral             // Kubernetes makes a claim for it
)

// claimName returns the name of the claim of a pod's volume, and its kind.
func claimName(pod *corev1.Pod, v *corev1.Volume) (string, kind) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, named
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name, ephemeral
	}
	return "", inline
}

// claim returns the claim of a pod's volume, or the claim that Kubernetes will make for it. If
// there is none, it returns nil and adds the reason to r.
func (x *Index) claim(pod *corev1.Pod, v *corev1.Volume, r *reasons) *corev1.PersistentVolumeClaim {
	name, kind := claimName(pod, v)
	c := x.claims[key(pod.Namespace, name)]
	switch {
	case c == nil && kind == named:
		r.add("%s is not found; create it", call(pod.Namespace, name))
		return nil
	case c == nil:
		if v.Ephemeral.VolumeClaimTemplate == nil {
			r.add("volume %q: ephemeral.volumeClaimTemplate is missing; fill it in", v.Name)
			return nil
		}
		t := v.Ephemeral.VolumeClaimTemplate
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, Annotations: t.Annotations},
			Spec:       t.Spec,
		}
	case c.DeletionTimestamp != nil:
		r.add("%s is being deleted; create it anew once it is gone", call(c.Namespace, c.Name))
		return nil
	case c.Status.Phase == corev1.ClaimLost:
		r.add("%s has lost volume %q; bring the volume back or create the claim anew", call(c.Namespace, c.Name), c.Spec.VolumeName)
		return nil
	case kind == ephemeral && !metav1.IsControlledBy(c, pod):
		r.add("%s has the name that the claim of ephemeral volume %q must have, and is not owned by the pod; "+
			"delete the claim or rename the volume", call(c.Namespace, c.Name), v.Name)
		return nil
	}
	return c
}

// call returns the name that errors give a claim.
func call(namespace, name string) string {
	return fmt.Sprintf("PersistentVolumeClaim %q", key(namespace, name))
}

// claimClass returns the name of the StorageClass of a claim: that of the deprecated annotation, or
// else that of its spec. A claim with neither gets the default class; Kubernetes fills it in when
// the claim is created or, if there was no default then, once there is one. The empty name in
// annotation or spec means no class.
func (x *Index) claimClass(c *corev1.PersistentVolumeClaim) string {
	if name, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	if x.standard != nil {
		return x.standard.Name
	}
	return ""
}

// namesClass says whether a claim names a class, including the empty name.
func namesClass(c *corev1.PersistentVolumeClaim) bool {
	_, ok := c.Annotations[corev1.BetaStorageClassAnnotation]
	return ok || c.Spec.StorageClassName != nil
}

// volumeClass returns the name of the StorageClass of a volume.
func volumeClass(v *corev1.PersistentVolume) string {
	if name, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return v.Spec.StorageClassName
}

// waits says whether claims of the class are bound only when a pod that uses them is placed.
// Without a binding mode they are bound at once, as the API server defaults.
func waits(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// provisions says whether the class makes volumes.
func provisions(class *storagev1.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != noProvisioner
}
