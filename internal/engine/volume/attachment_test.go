package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
)

func TestAttach(t *testing.T) {
	const px, azure, gce, cinder = "pxd.portworx.com", "disk.csi.azure.com", "pd.csi.storage.gke.io", "cinder.csi.openstack.org"
	shared := func(driver string, names ...string) volume.Attachment {
		return volume.Attachment{Driver: driver, Shared: names}
	}
	source := func(s corev1.PersistentVolumeSource) func(*corev1.PersistentVolume) {
		return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeSource = s }
	}
	data := claimOf("data", "fast", boundTo("v"))
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		want    []volume.Attachment
	}{
		"none":         {podOf(), nil, nil},
		"by handle":    {podOf("data"), []any{data, volumeOf("v", "fast", csi(ebs, "vol-1"))}, []volume.Attachment{shared(ebs, ebs+"/vol-1")}},
		"no handle":    {podOf("data"), []any{data, volumeOf("v", "fast", csi(ebs, ""))}, nil},
		"no driver":    {podOf("data"), []any{data, volumeOf("v", "fast")}, nil},
		"to be made":   {podOf("data"), []any{classOf("fast", ebs), claimOf("data", "fast")}, []volume.Attachment{shared(ebs, ebs+"/claim/shop/data")}},
		"old class":    {podOf("data"), []any{classOf("fast", "kubernetes.io/gce-pd"), claimOf("data", "fast")}, []volume.Attachment{shared(gce, gce+"/claim/shop/data")}},
		"static class": {podOf("data"), []any{classOf("fast", "kubernetes.io/no-provisioner"), claimOf("data", "fast"), volumeOf("v", "fast", csi(ebs, "vol-1"))}, nil},
		"azure files":  {podOf("data"), []any{classOf("fast", "kubernetes.io/azure-file"), claimOf("data", "fast")}, nil},
		"one volume, two claims": {podOf("x", "y"), []any{claimOf("x", "fast", boundTo("v")), claimOf("y", "fast", boundTo("w")),
			volumeOf("v", "fast", csi(ebs, "vol-1")), volumeOf("w", "fast", csi(ebs, "vol-1"))}, []volume.Attachment{shared(ebs, ebs+"/vol-1")}},
		"one claim twice": {podOf("data", "data"), []any{data, volumeOf("v", "fast", csi(ebs, "vol-1"))}, []volume.Attachment{shared(ebs, ebs+"/vol-1")}},
		"ephemeral":       {ephemeralPod("web", "fast"), []any{classOf("fast", ebs)}, []volume.Attachment{{Driver: ebs, Own: 1}}},
		"sorted by driver": {podOf("y", "x"), []any{claimOf("x", "fast", boundTo("v")), claimOf("y", "fast", boundTo("w")),
			volumeOf("v", "fast", csi("a", "1")), volumeOf("w", "fast", csi("b", "2"))}, []volume.Attachment{shared("a", "a/1"), shared("b", "b/2")}},
		"EBS":           {podOf("data"), []any{data, volumeOf("v", "fast", source(corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://a/vol-1"}}))}, []volume.Attachment{shared(ebs, ebs+"/vol-1")}},
		"PD":            {podOf("data"), []any{data, volumeOf("v", "fast", labelled(zoneKey, "a"), source(corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}))}, []volume.Attachment{shared(gce, gce+"/a/d")}},
		"PD, old label": {podOf("data"), []any{data, volumeOf("v", "fast", labelled(corev1.LabelFailureDomainBetaZone, "b"), source(corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}))}, []volume.Attachment{shared(gce, gce+"/b/d")}},
		"azure":         {podOf("data"), []any{data, volumeOf("v", "fast", source(corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DataDiskURI: "/d"}}))}, []volume.Attachment{shared(azure, azure+"//d")}},
		"cinder":        {podOf("data"), []any{data, volumeOf("v", "fast", source(corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "d"}}))}, []volume.Attachment{shared(cinder, cinder+"/d")}},
		"portworx":      {podOf("data"), []any{data, volumeOf("v", "fast", source(corev1.PersistentVolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "d"}}))}, []volume.Attachment{shared(px, px+"/d")}},
		"inline": {inlinePod(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
			corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "d"}},
			corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}},
			corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), nil,
			[]volume.Attachment{shared(cinder, cinder+"/d"), shared(ebs, ebs+"/vol-1"), shared(gce, gce+"//d")}},
		"inline CSI is never attached": {inlinePod(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: ebs}}), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, tc.objects...)
			n := needsOf(t, x, tc.pod)
			require.Equal(t, tc.want, n.Attach)
			if name != "ephemeral" { // whose claim is not there yet
				require.Equal(t, tc.want, x.Attached(tc.pod, nil, tc.pod), "bound")
			}
			done := tc.pod.DeepCopy()
			done.Status.Phase = corev1.PodSucceeded
			require.Empty(t, x.Attached(done))
		})
	}
}

func TestAttachedSkipsMissingClaims(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("data", "fast", boundTo("gone")), claimOf("web-scratch", "fast", ownedBy("web")))
	require.Equal(t, []volume.Attachment{{Driver: ebs, Own: 1, Shared: []string{ebs + "/claim/shop/data"}}},
		x.Attached(podOf("data", "missing"), ephemeralPod("web", "fast"), ephemeralPod("api", "fast")))
}

func TestLimit(t *testing.T) {
	x := indexOf(t, csiNodeOf("n1", counted(ebs, 25), storagev1.CSINodeDriver{Name: "free"}, counted("none", -3),
		counted("twice", 5), storagev1.CSINodeDriver{Name: "twice"}, counted("again", 5), counted("again", 6),
		storagev1.CSINodeDriver{Name: "half", Allocatable: &storagev1.VolumeNodeResources{}}))
	for _, tc := range []struct {
		node, driver string
		n            int64
		state        volume.LimitState
	}{
		{"n1", ebs, 25, volume.LimitCounted},
		{"n1", "free", 0, volume.LimitUnbounded},
		{"n1", "half", 0, volume.LimitUnbounded},
		{"n1", "none", 0, volume.LimitCounted},
		{"n1", "twice", 5, volume.LimitCounted},
		{"n1", "again", 6, volume.LimitCounted},
		{"n1", "other", 0, volume.LimitUnpublished},
		{"n2", ebs, 0, volume.LimitUnpublished},
	} {
		n, state := x.Limit(tc.node, tc.driver)
		require.Equal(t, tc.n, n, tc)
		require.Equal(t, tc.state, state, tc)
	}
}
