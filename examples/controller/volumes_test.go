package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// member returns a pod of a StatefulSet.
func member(name, uid string) *corev1.Pod {
	p := pod(name, "1")
	yes := true
	p.UID, p.GenerateName = types.UID(uid), "db-"
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "db", Controller: &yes}}
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name}}}}
	return p
}

// volumeIn returns a volume in a zone, with the claim of a pod on it.
func volumeIn(zone, pod string) []client.Object {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "of-" + pod, UID: types.UID("of-" + pod)}}
	v.Spec.StorageClassName, v.Spec.ClaimRef = "disks", &corev1.ObjectReference{Namespace: "shop", Name: "data-" + pod, UID: types.UID("data-" + pod)}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-" + pod, UID: types.UID("data-" + pod)}}
	c.Spec.StorageClassName, c.Spec.VolumeName = new(v.Spec.StorageClassName), v.Name
	c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	return []client.Object{v, c}
}

// zoneOf is where the nodes are that a pod has tolerations for.
func (c *cluster) zoneOf(name string) (zones []string) {
	c.Helper()
	stored := &corev1.Pod{}
	c.must(c.Get(c.Context(), client.ObjectKey{Namespace: "shop", Name: name}, stored))
	for _, t := range stored.Spec.Tolerations {
		for _, n := range c.nodes() {
			if t.Key == nomination.TaintKey && slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return taint.Value == t.Value }) {
				zones = append(zones, n.Labels[corev1.LabelTopologyZone])
			}
		}
	}
	return zones
}

// Two pods of a StatefulSet have their volumes in two zones, and both nodes go. Whichever comes
// back first is let onto the node in the zone of its volume.
func TestStatefulSetsReturnToTheirZones(t *testing.T) {
	where := map[string]string{"db-0": "us-east-1b", "db-1": "us-east-1a"}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}} // lets none go by itself
	budget.Spec.Selector = &metav1.LabelSelector{}
	objects := []client.Object{general(), budget, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disks"}, Provisioner: "disks.example.com"}}
	for name, zone := range where {
		objects = append(objects, volumeIn(zone, name)...)
		objects = append(objects, member(name, "first-"+name))
	}
	c := newCluster(t, objects...)
	c.settle()
	require.Len(t, c.nodes(), 2, "one for each zone")
	before := c.claims()
	for i := range before {
		c.must(c.Delete(t.Context(), &before[i]))
	}
	for range 10 {
		c.pass(1)
		c.boot()
	}
	for name := range where {
		c.must(c.Delete(t.Context(), member(name, "")))
	}
	for _, name := range []string{"db-1", "db-0"} {
		c.must(c.Create(t.Context(), member(name, "second-"+name)))
		c.pass(2)
		require.Equal(t, []string{where[name]}, c.zoneOf(name), name)
	}
}
