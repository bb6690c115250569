package manifest

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// addClaims makes the claims that pending pods of StatefulSets get from its
// templates, where they are not in the input. Claims outlive their pods, so one
// that is there is used, whatever the template says by now.
func (r *reader) addClaims() {
	c := r.cluster
	sets := map[string]*appsv1.StatefulSet{}
	for _, s := range r.found.statefulSets {
		sets[s.namespace+"/"+s.name] = s.value
	}
	for _, pod := range c.Pods {
		ref := metav1.GetControllerOf(pod)
		if ref == nil || ref.Kind != "StatefulSet" {
			continue
		}
		set := sets[pod.Namespace+"/"+ref.Name]
		if set == nil {
			continue
		}
		for i := range set.Spec.VolumeClaimTemplates {
			template := &set.Spec.VolumeClaimTemplates[i]
			name := template.Name + "-" + pod.Name
			if r.seen["PersistentVolumeClaim "+pod.Namespace+"/"+name] == nil {
				c.Volumes.Claims = append(c.Volumes.Claims, newClaim(template, pod.Namespace, name))
			}
		}
	}
	slices.SortFunc(c.Volumes.Claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// newClaim makes a claim that no volume has been bound to.
func newClaim(from *corev1.PersistentVolumeClaim, namespace, name string) *corev1.PersistentVolumeClaim {
	claim := from.DeepCopy()
	claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	claim.Namespace, claim.Name = namespace, name
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	return claim
}

// markBound gives a claim that is bound by its status the annotation that says so to a
// scheduler. Tools that tidy up manifests leave annotations out.
func markBound(claim *corev1.PersistentVolumeClaim) {
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" || metav1.HasAnnotation(claim.ObjectMeta, v1.BindCompletedAnnotationKey) {
		return
	}
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, v1.BindCompletedAnnotationKey, "yes")
}
