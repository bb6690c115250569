package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// TestReach: how far apart pods may be that share a claim without a volume.
func TestReach(t *testing.T) {
	inZone := &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}},
	}}}}
	for _, c := range []struct {
		name   string
		mode   corev1.PersistentVolumeAccessMode
		chosen bool
		free   []*corev1.VolumeNodeAffinity // of volumes that match
		want   volume.Reach
	}{
		{name: "one node at a time", mode: corev1.ReadWriteOnce, want: volume.ReachNode},
		{name: "many nodes", mode: corev1.ReadWriteMany, want: volume.ReachZone},
		{name: "many nodes, to read", mode: corev1.ReadOnlyMany, want: volume.ReachZone},
		{name: "a volume that every node can reach", mode: corev1.ReadWriteMany, free: []*corev1.VolumeNodeAffinity{nil}, want: volume.ReachAny},
		{name: "a volume that every node can reach, one at a time", mode: corev1.ReadWriteOnce, free: []*corev1.VolumeNodeAffinity{nil}, want: volume.ReachNode},
		{name: "a volume in one zone, or one in all", mode: corev1.ReadWriteMany, free: []*corev1.VolumeNodeAffinity{inZone, nil}, want: volume.ReachNode},
		{name: "the node is chosen", mode: corev1.ReadWriteOnce, chosen: true, want: volume.ReachAny},
	} {
		t.Run(c.name, func(t *testing.T) {
			waits, class := storagev1.VolumeBindingWaitForFirstConsumer, "fast"
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c"}}
			claim.Spec.StorageClassName, claim.Spec.AccessModes = &class, []corev1.PersistentVolumeAccessMode{c.mode}
			if c.chosen {
				claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "node-1"}
			}
			o := volume.Objects{
				Claims:  []*corev1.PersistentVolumeClaim{claim},
				Classes: []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "d", VolumeBindingMode: &waits}},
			}
			for i, affinity := range c.free {
				v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
				v.Spec.StorageClassName, v.Spec.AccessModes, v.Spec.NodeAffinity = class, claim.Spec.AccessModes, affinity
				v.Status.Phase = corev1.VolumeAvailable
				o.Volumes = append(o.Volumes, v)
			}
			index, err := volume.New(o, nil, minors.Range{})
			require.NoError(t, err)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}}
			pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
			}}}
			needs, err := index.Of(pod)
			require.NoError(t, err)
			require.Equal(t, c.want, needs.Reach("n/c"))
			require.Equal(t, volume.ReachAny, needs.Reach("n/other"), "a claim that the pod does not use")
		})
	}
}
