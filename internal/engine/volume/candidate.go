package volume

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// candidate is an existing volume that a claim may still be bound to.
type candidate struct {
	volume *corev1.PersistentVolume
	size   resource.Quantity
	affinity
	place string // text of the affinity; equal for volumes in the same place
}

func (x *Index) newCandidate(v *corev1.PersistentVolume) *candidate {
	c := &candidate{volume: v, size: v.Spec.Capacity[corev1.ResourceStorage], affinity: volumeAffinity(v, x.vocabulary)}
	c.place = c.affinity.text()
	return c
}

// compareCandidates sorts by size, the smallest first, because a claim takes the smallest volume
// that matches. Kubernetes does not define which of equally large ones it takes; here it is the
// first by name.
func compareCandidates(a, b *candidate) int {
	return cmp.Or(quantity.Compare(a.size, b.size), cmp.Compare(a.volume.Name, b.volume.Name))
}

// candidates lists the volumes to which a claim may be bound, the smallest first. If volumes are
// reserved for the claim, it takes one of these or none, whatever their labels and access modes.
// The error is that of a label selector that cannot be read.
func (x *Index) candidates(c *corev1.PersistentVolumeClaim) (list []*candidate, err error) {
	selector := labels.Everything()
	if c.Spec.Selector != nil {
		if selector, err = metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil {
			return nil, err
		}
	}
	class := x.claimClass(c)
	for _, v := range x.reserved[key(c.Namespace, c.Name)] {
		ref := v.volume.Spec.ClaimRef
		if (ref.UID == "" || ref.UID == c.UID) && volumeClass(v.volume) == class && fits(c, v) {
			list = append(list, v)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	for _, v := range x.available[class] {
		if fits(c, v) && selector.Matches(labels.Set(v.volume.Labels)) && offersModes(c, v.volume) {
			list = append(list, v)
		}
	}
	return list, nil
}

// fits says whether a volume is large enough for a claim and has the same volume mode and
// attributes class.
func fits(c *corev1.PersistentVolumeClaim, v *candidate) bool {
	return quantity.Compare(v.size, requested(c)) >= 0 &&
		volumeMode(c.Spec.VolumeMode) == volumeMode(v.volume.Spec.VolumeMode) &&
		deref(c.Spec.VolumeAttributesClassName) == deref(v.volume.Spec.VolumeAttributesClassName)
}

// offersModes says whether a volume has all access modes that a claim requests.
func offersModes(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) bool {
	for _, mode := range c.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, mode) {
			return false
		}
	}
	return true
}

func requested(c *corev1.PersistentVolumeClaim) resource.Quantity {
	return c.Spec.Resources.Requests[corev1.ResourceStorage]
}

func volumeMode(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if m == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *m
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
