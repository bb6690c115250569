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

func TestAdmits(t *testing.T) {
	const none = "kubernetes.io/no-provisioner"
	fast, local := classOf("fast", ebs, allowed("zone", "a")), classOf("local", none)
	on1 := func(c *corev1.PersistentVolumeClaim) { c.Annotations[chosen] = "n1" }
	inTree := func(v *corev1.PersistentVolume) {
		v.Spec.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	}
	migrated := csiNodeOf("n1")
	migrated.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/cinder,kubernetes.io/aws-ebs"}
	data := claimOf("data", "fast", boundTo("v"))
	const driverZone = "topology.ebs.csi.aws.com/zone"
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		yes, no []string // labels of node n1
	}{
		"volume in a zone": {podOf("data"), []any{data, volumeOf("v", "fast", on("zone = a"))},
			[]string{"zone=a"}, []string{"zone=b", "", "oldz=a"}},
		"old name of the zone": {podOf("data"), []any{data, volumeOf("v", "fast", on("oldz = a"))},
			[]string{"oldz=a"}, []string{"zone=a"}},
		"volume on a host": {podOf("data"), []any{data, volumeOf("v", "fast", on("host = n1"))},
			[]string{"host=n1"}, []string{"host=n2", ""}},
		"zone label": {podOf("data"), []any{data, volumeOf("v", "fast", labelled(zoneKey, "a__b"))},
			[]string{"zone=a", "zone=b,region=r", "x=y", ""}, []string{"zone=c", "region=r", "oldz=a"}},
		"old zone label": {podOf("data"), []any{data, volumeOf("v", "fast", labelled(corev1.LabelFailureDomainBetaZone, "a"))},
			[]string{"zone=a", "oldz=a", "oldz=a,zone=b", ""}, []string{"oldz=b,zone=a", "region=r"}},
		"fields do not count": {podOf("data"), []any{data, volumeOf("v", "fast", fieldOnly)},
			[]string{"", "zone=a"}, nil},
		"to be made": {podOf("data"), []any{fast, claimOf("data", "fast")},
			[]string{"zone=a"}, []string{"zone=b", ""}},
		"to be made, or there": {podOf("data"), []any{fast, claimOf("data", "fast"), volumeOf("v", "fast", on("zone = b"))},
			[]string{"zone=a", "zone=b"}, []string{"zone=c"}},
		"made on this node":     {podOf("data"), []any{fast, claimOf("data", "fast", on1)}, []string{"zone=a"}, []string{"zone=b"}},
		"chosen passes volumes": {podOf("data"), []any{fast, claimOf("data", "fast", on1), volumeOf("v", "fast", on("zone = b"))}, []string{"zone=a"}, []string{"zone=b"}},
		"made on another node":  {podOf("data"), []any{fast, claimOf("data", "fast", func(c *corev1.PersistentVolumeClaim) { c.Annotations[chosen] = "n2" })}, nil, []string{"zone=a"}},
		"smallest volume first": {podOf("x", "y"), []any{local, claimOf("x", "local", sized("5Gi")), claimOf("y", "local", sized("10Gi")), volumeOf("v", "local", capacity("10Gi")), volumeOf("w", "local", on("zone = a"), capacity("5Gi"))}, []string{"zone=a"}, []string{"zone=b"}},
		"smallest claim first": {podOf("large", "small"), []any{local, claimOf("large", "local", sized("9Gi")),
			claimOf("small", "local", sized("5Gi"), func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "hot"}}
			}), volumeOf("v", "local", labelled("tier", "hot")), volumeOf("w", "local", capacity("20Gi"), on("zone = a"))},
			[]string{"zone=a"}, []string{"zone=b"}},
		"kube-scheduler tries one way": {podOf("large", "small"), []any{local, claimOf("small", "local", sized("5Gi")),
			claimOf("large", "local", sized("9Gi"), func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "hot"}}
			}), volumeOf("v", "local", labelled("tier", "hot"), on("zone in (a, b)")), volumeOf("w", "local", capacity("20Gi"))},
			nil, []string{"zone=a", ""}},
		"one volume, two claims": {podOf("x", "y"), []any{local, claimOf("x", "local"), claimOf("y", "local"), volumeOf("v", "local", on("zone = a")), volumeOf("w", "local", on("zone in (a, b)"))}, []string{"zone=a"}, []string{"zone=b"}},
		"not migrated": {podOf("data"), []any{csiNodeOf("n1"), data, volumeOf("v", "fast", inTree, on("zone = a"))},
			[]string{"zone=a"}, []string{driverZone + "=a"}},
		"migrated": {podOf("data"), []any{migrated, data, volumeOf("v", "fast", inTree, on("zone = a"))},
			[]string{driverZone + "=a"}, []string{"zone=a"}},
		"migrated from the old name": {podOf("data"), []any{migrated, data, volumeOf("v", "fast", inTree, on("oldz = a, oldr = r"))},
			[]string{driverZone + "=a,region=r"}, []string{driverZone + "=a", "oldz=a"}},
		"migrated by its label": {podOf("data"), []any{migrated, data, volumeOf("v", "fast", inTree, labelled(zoneKey, "a__b"))},
			[]string{driverZone + "=a", driverZone + "=b,zone=b"}, []string{"zone=a", driverZone + "=c", ""}},
		"migrated by its old label": {podOf("data"), []any{migrated, data, volumeOf("v", "fast", inTree, on("host = n1"), labelled(corev1.LabelFailureDomainBetaZone, "a"))},
			[]string{"host=n1," + driverZone + "=a"}, []string{"host=n1", driverZone + "=a"}},
		"migrated without a zone": {podOf("data"), []any{migrated, data, volumeOf("v", "fast", inTree)},
			[]string{"", "zone=a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, tc.objects...)
			n := needsOf(t, x, tc.pod)
			for _, labels := range tc.yes {
				require.True(t, x.Admits(&n, "n1", labelsOf(labels), false), labels)
			}
			for _, labels := range tc.no {
				require.False(t, x.Admits(&n, "n1", labelsOf(labels), false), labels)
			}
		})
	}
}

func fieldOnly(v *corev1.PersistentVolume) {
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n2"}}},
	}}}}
}

func TestNodeName(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("data", "fast", func(c *corev1.PersistentVolumeClaim) { c.Annotations[chosen] = "n1" }))
	n := needsOf(t, x, podOf("data"))
	require.Equal(t, "n1", n.NodeName)
	require.True(t, x.Admits(&n, "n1", nil, false))
	require.False(t, x.Admits(&n, "n2", nil, false))
}

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
