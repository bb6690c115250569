package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
