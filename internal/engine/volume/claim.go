package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of claims.
const (
	// bindCompleted is there once claim and volume are bound to each other.
	bindCompleted = "pv.kubernetes.io/bind-completed"
	// SelectedNode names the node that kube-scheduler has chosen for a claim.
	SelectedNode = "volume.kubernetes.io/selected-node"
)

// kind says how a volume of a pod comes by its claim.
type kind int

const (
	inline    kind = iota // it has none
	named                 // it names one
	ephemeral             // one is made for it
)

// claimName is the name of the claim behind a volume of a pod.
func claimName(pod *corev1.Pod, v *corev1.Volume) (string, kind) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, named
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name, ephemeral
	}
	return "", inline
}

// claim finds the claim behind a volume of a pod, or the one that Kubernetes
// will make for it. It is nil if there is none, and r says why.
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

// call is how errors name a claim.
func call(namespace, name string) string {
	return fmt.Sprintf("PersistentVolumeClaim %q", key(namespace, name))
}

// claimClass is the name of the class of a claim: that of the old annotation if
// there is one, or else of its spec. A claim that says nothing at all gets the
// default class; Kubernetes fills it in when the claim is made or, if there was
// no default then, as soon as there is. A claim may also ask for no class, by
// the empty name.
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

// namesClass says whether a claim asks for a class, be it for none.
func namesClass(c *corev1.PersistentVolumeClaim) bool {
	_, ok := c.Annotations[corev1.BetaStorageClassAnnotation]
	return ok || c.Spec.StorageClassName != nil
}

// volumeClass is the name of the class of a volume.
func volumeClass(v *corev1.PersistentVolume) string {
	if name, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return v.Spec.StorageClassName
}

// waits says whether claims of the class are bound only when a pod that uses
// them is placed. Without a mode they are bound at once, as the API server has
// it.
func waits(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// provisions says whether the class makes volumes.
func provisions(class *storagev1.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != noProvisioner
}
