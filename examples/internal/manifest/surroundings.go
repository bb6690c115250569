package manifest

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// surroundings are the objects that pods and workloads refer to, or that
// change what others mean.
type surroundings struct {
	namespaces      []item[*corev1.Namespace]
	services        []item[*corev1.Service]
	priorityClasses []item[*schedulingv1.PriorityClass]
	podTemplates    []item[*corev1.PodTemplate]
	overlays        []item[*v1.NodeOverlay]
	buffers         []item[*capacityBuffer]
	budgets         []item[*policyv1.PodDisruptionBudget]

	volumeClaims   []item[*corev1.PersistentVolumeClaim]
	volumes        []item[*corev1.PersistentVolume]
	storageClasses []item[*storagev1.StorageClass]
	csiNodes       []item[*storagev1.CSINode]

	deviceClaims    []item[*resourcev1.ResourceClaim]
	deviceTemplates []item[*resourcev1.ResourceClaimTemplate]
	deviceClasses   []item[*resourcev1.DeviceClass]
	deviceSlices    []item[*resourcev1.ResourceSlice]
}

// surround hands the surroundings to the cluster.
func (r *reader) surround() {
	c, f := r.cluster, &r.found
	c.Namespaces = values(f.namespaces)
	c.Services = values(f.services)
	c.Overlays = values(f.overlays)
	c.PodDisruptionBudgets = values(f.budgets)
	for _, claim := range f.volumeClaims {
		markBound(claim.value)
	}
	c.Volumes = provisioning.Volumes{
		Claims: values(f.volumeClaims), Volumes: values(f.volumes), Classes: values(f.storageClasses), CSINodes: values(f.csiNodes),
	}
	c.Devices = provisioning.Devices{
		Claims: values(f.deviceClaims), Templates: values(f.deviceTemplates), Classes: values(f.deviceClasses), Slices: values(f.deviceSlices),
	}
	for _, rs := range f.replicaSets {
		r.own(uidOf(rs.value, "ReplicaSet"), rs.value.Spec.Selector)
	}
	for _, s := range f.statefulSets {
		r.own(uidOf(s.value, "StatefulSet"), s.value.Spec.Selector)
	}
	for _, rc := range f.replicationControllers {
		if selects := rc.value.Spec.Selector; len(selects) > 0 {
			r.own(uidOf(rc.value, "ReplicationController"), &metav1.LabelSelector{MatchLabels: selects})
		}
	}
}

// values returns the objects of items, sorted by namespace and name.
func values[T any](items []item[T]) []T {
	var out []T
	for _, i := range byName(items) {
		out = append(out, i.value)
	}
	return out
}

// own adds a controller of pods, if it selects any.
func (r *reader) own(uid types.UID, selector *metav1.LabelSelector) {
	if selector != nil {
		r.cluster.Controllers = append(r.cluster.Controllers, provisioning.Controller{UID: uid, Selector: selector})
	}
}

// withHash is the selector of a ReplicaSet of a Deployment: that of the
// Deployment, and the hash of the template.
func withHash(of *metav1.LabelSelector, hash string) *metav1.LabelSelector {
	if of == nil {
		return nil
	}
	more := *of
	more.MatchLabels = withLabel(of.MatchLabels, hashLabel, hash)
	return &more
}
