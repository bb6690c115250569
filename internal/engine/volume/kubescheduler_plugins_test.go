package volume_test

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
)

// oracle is a second opinion on whether kube-scheduler lets a pod onto a node,
// as far as labels and volumes go. It goes through the plugins one by one, with
// the code of Kubernetes for selectors, and knows nothing of alternatives.
type oracle struct {
	volume.Objects
}

func (o *oracle) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	for _, c := range o.Claims {
		if c.Namespace == namespace && c.Name == name {
			return c
		}
	}
	return nil
}

func (o *oracle) volume(name string) *corev1.PersistentVolume {
	for _, v := range o.Volumes {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (o *oracle) class(c *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	for _, class := range o.Classes {
		if c.Spec.StorageClassName != nil && class.Name == *c.Spec.StorageClassName {
			return class
		}
	}
	return nil
}

// admits asks all plugins.
func (o *oracle) admits(pod *corev1.Pod, node string, labelled map[string]string) bool {
	var waiting []*corev1.PersistentVolumeClaim
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := o.claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if c == nil || c.DeletionTimestamp != nil || c.Status.Phase == corev1.ClaimLost {
			return false
		}
		if !metav1.HasAnnotation(c.ObjectMeta, bind) || c.Spec.VolumeName == "" {
			class := o.class(c)
			if c.Spec.VolumeName != "" || class == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
				return false
			}
			waiting = append(waiting, c)
			continue
		}
		bound := o.volume(c.Spec.VolumeName)
		if bound == nil || !reaches(bound, labelled) || !inZone(bound, labelled) {
			return false
		}
	}
	return o.bindable(waiting, node, labelled)
}

// bindable finds a volume for each claim that waits, or a way to make one.
func (o *oracle) bindable(waiting []*corev1.PersistentVolumeClaim, node string, labelled map[string]string) bool {
	slices.SortStableFunc(waiting, func(a, b *corev1.PersistentVolumeClaim) int { return size(a).Cmp(*size(b)) })
	var taken []string
	for _, c := range waiting {
		if selected, ok := c.Annotations[chosen]; ok {
			if selected != node || !o.makes(c, labelled) {
				return false
			}
			continue
		}
		if v := o.match(c, labelled, taken); v != nil {
			taken = append(taken, v.Name)
		} else if !o.makes(c, labelled) {
			return false
		}
	}
	return true
}

func size(c *corev1.PersistentVolumeClaim) *resourceQuantity {
	q := c.Spec.Resources.Requests[corev1.ResourceStorage]
	return &q
}

// match returns the smallest volume for a claim.
func (o *oracle) match(c *corev1.PersistentVolumeClaim, labelled map[string]string, taken []string) *corev1.PersistentVolume {
	var best *corev1.PersistentVolume
	for _, v := range o.Volumes {
		capacity := v.Spec.Capacity[corev1.ResourceStorage]
		if slices.Contains(taken, v.Name) || v.Spec.StorageClassName != *c.Spec.StorageClassName || capacity.Cmp(*size(c)) < 0 {
			continue
		}
		if ref := v.Spec.ClaimRef; ref != nil {
			if ref.Namespace != c.Namespace || ref.Name != c.Name {
				continue
			}
			if !reaches(v, labelled) {
				return nil
			}
			return v
		}
		if v.Status.Phase != corev1.VolumeAvailable || !reaches(v, labelled) {
			continue
		}
		if best == nil {
			best = v
			continue
		}
		least := best.Spec.Capacity[corev1.ResourceStorage]
		if d := capacity.Cmp(least); d < 0 || d == 0 && v.Name < best.Name {
			best = v
		}
	}
	return best
}

// makes says whether the class of a claim makes volumes for a node.
func (o *oracle) makes(c *corev1.PersistentVolumeClaim, labelled map[string]string) bool {
	class := o.class(c)
	if class.Provisioner == "kubernetes.io/no-provisioner" {
		return false
	}
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	return slices.ContainsFunc(class.AllowedTopologies, func(t corev1.TopologySelectorTerm) bool {
		for _, e := range t.MatchLabelExpressions {
			r, err := labels.NewRequirement(e.Key, selection.In, e.Values)
			if err != nil || !r.Matches(labels.Set(labelled)) {
				return false
			}
		}
		return len(t.MatchLabelExpressions) > 0
	})
}

func reaches(v *corev1.PersistentVolume, labelled map[string]string) bool {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return true
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labelled}}
	ok, err := nodeaffinity.NewLazyErrorNodeSelector(v.Spec.NodeAffinity.Required).Match(node)
	return ok && err == nil
}

// inZone compares zone labels, of which the random clusters have one kind only.
func inZone(v *corev1.PersistentVolume, labelled map[string]string) bool {
	value, ok := v.Labels[zoneKey]
	return !ok || slices.Contains(strings.Split(value, "__"), labelled[zoneKey])
}
