package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
)

func gce(name string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
}

func TestDisks(t *testing.T) {
	require.Empty(t, volume.Disks(nil))
	require.Len(t, volume.Disks(inlinePod(gce("d", true), gce("d", true), gce("e", true))), 2)
}

func onePod(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

func TestExclusiveAndUnbound(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("b", "fast", onePod), claimOf("a", "fast", onePod, boundTo("v")),
		claimOf("c", "fast"), volumeOf("v", "fast"), claimOf("web-scratch", "fast", onePod, ownedBy("web")))
	pod := podOf("c", "b", "a", "b")
	pod.Spec.Volumes = append(pod.Spec.Volumes, ephemeralPod("web", "fast").Spec.Volumes...)
	n := needsOf(t, x, pod)
	require.Equal(t, []string{"shop/a", "shop/b"}, n.Exclusive)
	require.Equal(t, []string{"shop/b", "shop/c"}, n.Unbound)
	require.Equal(t, []string{"shop/a", "shop/b", "shop/c"}, volume.Claims(pod))
	require.Empty(t, volume.Claims(nil))
}

func TestFaultyPodKeepsTheRest(t *testing.T) {
	x := indexOf(t, claimOf("data", "fast", boundTo("v"), onePod), volumeOf("v", "fast", csi(ebs, "vol-1")))
	n, err := x.Of(podOf("data", "missing"))
	require.Error(t, err)
	require.Equal(t, []volume.Attachment{{Driver: ebs, Shared: []string{ebs + "/vol-1"}}}, n.Attach)
	require.Equal(t, []string{"shop/data"}, n.Exclusive)
}

// Pods of a StatefulSet come to the same once it is known that nobody else has
// their volumes.
func TestPrivate(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("data-0", "fast", onePod), claimOf("data-1", "fast", onePod),
		claimOf("all", "fast", boundTo("v")), volumeOf("v", "fast", csi(ebs, "vol-1")))
	pods := []*corev1.Pod{podOf("data-0", "all"), podOf("data-1", "all")}
	for i, p := range pods {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "d", VolumeSource: gce([]string{"d0", "d1"}[i], false)})
	}
	count := map[string]int{}
	var needs []volume.Needs
	for _, p := range pods {
		n := needsOf(t, x, p)
		for _, name := range n.Names() {
			count[name]++
		}
		needs = append(needs, n)
	}
	require.NotEqual(t, needs[0].Key(), needs[1].Key())
	shared := func(name string) bool { return count[name] > 1 }
	before := needs[0].Key()
	a, b := needs[0].Private(shared), needs[1].Private(shared)
	require.Equal(t, a.Key(), b.Key())
	require.Equal(t, before, needs[0].Key(), "the Needs themselves stay")
	require.Equal(t, []volume.Attachment{
		{Driver: ebs, Own: 1, Shared: []string{ebs + "/vol-1"}},
		{Driver: "pd.csi.storage.gke.io", Own: 1, Shared: []string{}},
	}, a.Attach)
	require.Empty(t, a.Exclusive)
	require.Empty(t, a.Unbound)
	require.Empty(t, a.Disks)
	require.Equal(t, needs[0].Key(), new(needs[0].Private(func(string) bool { return true })).Key())
}

func TestHolds(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("data", "fast"))
	pod := podOf("data")
	n := needsOf(t, x, pod)
	require.Equal(t, n.Names(), x.Holds(pod))
	require.Equal(t, []string{ebs + "/claim/shop/data", "shop/data"}, x.Holds(pod))
	pod.Status.Phase = corev1.PodFailed
	require.Empty(t, x.Holds(pod))
	require.Empty(t, x.Holds(nil))
}

func TestKey(t *testing.T) {
	x := indexOf(t, classOf("fast", ebs), claimOf("api-scratch", "fast", ownedBy("api")))
	a, b := ephemeralPod("web-1", "fast"), ephemeralPod("web-2", "fast")
	require.Equal(t, x.Key(a), x.Key(b), "made from one template")
	na := needsOf(t, x, a)
	nb := needsOf(t, x, b)
	require.Equal(t, na.Key(), nb.Key())
	require.NotEqual(t, x.Key(a), x.Key(ephemeralPod("api", "fast")), "its claim is there")
	require.NotEqual(t, x.Key(a), x.Key(ephemeralPod("web-1", "slow")))
	require.Equal(t, x.Key(podOf("data")), x.Key(podOf("data")))
	require.NotEqual(t, x.Key(podOf("data")), x.Key(podOf("log")))
	require.NotEqual(t, x.Key(inlinePod(gce("d", true))), x.Key(inlinePod(gce("d", false))))
	noTemplate := ephemeralPod("web-1", "fast")
	noTemplate.Spec.Volumes[0].Ephemeral.VolumeClaimTemplate = nil
	require.NotEqual(t, x.Key(a), x.Key(noTemplate))
	require.Empty(t, x.Key(podOf()))
	require.NotEmpty(t, x.Key(nil), "a nil pod is no pod without volumes")
}
