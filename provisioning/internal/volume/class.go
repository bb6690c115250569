package volume

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

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
