package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
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
			n, err := x.Of(tc.pod)
			require.NoError(t, err)
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

func TestExcess(t *testing.T) {
	x := indexOf(t, csiNodeOf("n1", counted("d", 2), storagev1.CSINodeDriver{Name: "free"}))
	have := []volume.Attachment{{Driver: "d", Own: 1, Shared: []string{"d/a"}}, {Driver: "over", Own: 9}}
	own := func(driver string, n int64) []volume.Attachment { return []volume.Attachment{{Driver: driver, Own: n}} }
	for name, tc := range map[string]struct {
		node     string
		added    []volume.Attachment
		fallback map[string]int64
		want     []volume.Excess
	}{
		"one more":                {"n1", own("d", 1), nil, []volume.Excess{{Driver: "d", Count: 3, Limit: 2}}},
		"attached already":        {"n1", []volume.Attachment{{Driver: "d", Shared: []string{"d/a"}}}, nil, nil},
		"attached and new":        {"n1", []volume.Attachment{{Driver: "d", Shared: []string{"d/a", "d/b"}}}, nil, []volume.Excess{{Driver: "d", Count: 3, Limit: 2}}},
		"published wins":          {"n1", own("d", 1), map[string]int64{"d": 9}, []volume.Excess{{Driver: "d", Count: 3, Limit: 2}}},
		"unbounded wins":          {"n1", own("free", 5), map[string]int64{"free": 1}, nil},
		"not published":           {"n1", own("x", 5), nil, nil},
		"fallback":                {"n1", own("x", 5), map[string]int64{"x": 4}, []volume.Excess{{Driver: "x", Count: 5, Limit: 4}}},
		"a node to come":          {"", own("d", 2), map[string]int64{"d": 3}, []volume.Excess{{Driver: "d", Count: 4, Limit: 3}}},
		"nothing new, beyond":     {"n1", own("over", 0), map[string]int64{"over": 1}, nil},
		"exactly as many":         {"n1", own("x", 4), map[string]int64{"x": 4}, nil},
		"two drivers, both named": {"n1", append(own("d", 1), own("x", 1)...), map[string]int64{"x": 0}, []volume.Excess{{Driver: "d", Count: 3, Limit: 2}, {Driver: "x", Count: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, x.Excess(tc.node, have, tc.added, tc.fallback))
		})
	}
}

func TestMerge(t *testing.T) {
	a := []volume.Attachment{{Driver: "a", Own: 1, Shared: []string{"1", "3"}}, {Driver: "c", Own: 2}}
	b := []volume.Attachment{{Driver: "a", Own: 2, Shared: []string{"2", "3"}}, {Driver: "b", Shared: []string{"9"}}}
	want := []volume.Attachment{{Driver: "a", Own: 3, Shared: []string{"1", "2", "3"}}, {Driver: "b", Shared: []string{"9"}}, {Driver: "c", Own: 2}}
	require.Equal(t, want, volume.Merge(a, b))
	require.Equal(t, want, volume.Merge(b, a))
	require.Equal(t, int64(6), want[0].Count())
	require.Equal(t, a, volume.Merge(a, nil))
	merged := volume.Merge(a, nil)
	merged[0].Shared[0] = "changed"
	require.Equal(t, "1", a[0].Shared[0], "the result is the caller's own")
	require.Empty(t, volume.Merge(nil, nil))
}
