package volume_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestAlternatives(t *testing.T) {
	const none = "kubernetes.io/no-provisioner"
	fast, local := classOf("fast", ebs), classOf("local", none)
	deleted := func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} }
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		want    string
	}{
		"no volumes":         {podOf(), nil, ""},
		"anywhere":           {podOf("data"), []any{fast, claimOf("data", "fast")}, ""},
		"bound anywhere":     {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast")}, ""},
		"bound in a zone":    {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", on("zone = a"))}, "zone = a"},
		"bound by old name":  {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", on("oldz = a"))}, "zone = a"},
		"volume being gone":  {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", on("zone = a"), deleted)}, "zone = a"},
		"terms are merged":   {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", on("zone = a", "zone = b"))}, "zone in (a, b)"},
		"terms that differ":  {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", on("zone = b, x = 1", "zone = a"))}, "zone = a\nzone = b, x = 1"},
		"host stays":         {podOf("data"), []any{claimOf("data", "local", boundTo("v")), volumeOf("v", "local", on("host = n1"))}, "host = n1"},
		"zone label":         {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(zoneKey, "a"))}, "zone = a"},
		"old zone label":     {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(corev1.LabelFailureDomainBetaZone, "a"))}, "zone = a"},
		"region label":       {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(corev1.LabelTopologyRegion, "r"))}, "region = r"},
		"several zones":      {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(zoneKey, "b__ a"))}, "zone in (a, b)"},
		"empty zone in it":   {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(zoneKey, "b__"))}, ""},
		"label and affinity": {podOf("data"), []any{claimOf("data", "fast", boundTo("v")), volumeOf("v", "fast", labelled(zoneKey, "a__b"), on("zone in (b, c)"))}, "zone = b"},

		"topologies":      {podOf("data"), []any{classOf("fast", ebs, allowed("zone", "a", "b"), allowed("region", "r")), claimOf("data", "fast")}, "region = r\nzone in (a, b)"},
		"two claims meet": {podOf("x", "y"), []any{classOf("fast", ebs, allowed("zone", "a", "b")), claimOf("x", "fast"), claimOf("y", "fast", boundTo("v")), volumeOf("v", "fast", on("zone in (b, c)"))}, "zone = b"},
		"class by annotation": {podOf("data"), []any{local, classOf("fast", ebs, allowed("zone", "a")), claimOf("data", "local", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations[corev1.BetaStorageClassAnnotation] = "fast"
		})}, "zone = a"},

		"static volumes":                    {podOf("data"), []any{local, claimOf("data", "local"), volumeOf("v", "local", on("host = n1")), volumeOf("w", "local", on("host = n2"))}, "host in (n1, n2)"},
		"static or made":                    {podOf("data"), []any{classOf("fast", ebs, allowed("zone", "a")), claimOf("data", "fast"), volumeOf("v", "fast", on("host = n1"))}, "host = n1\nzone = a"},
		"two static on one host":            {podOf("x", "y"), []any{local, claimOf("x", "local"), claimOf("y", "local"), volumeOf("v1", "local", on("host = n1")), volumeOf("w1", "local", on("host = n2")), volumeOf("w2", "local", on("host = n2"))}, "host = n2"},
		"one anywhere and one pinned":       {podOf("x", "y"), []any{local, claimOf("x", "local"), claimOf("y", "local"), volumeOf("v1", "local", on("host = n1")), volumeOf("w", "local")}, "host = n1"},
		"reserved":                          {podOf("data"), []any{local, claimOf("data", "local"), volumeOf("v", "local", on("host = n1"), reservedFor("data")), volumeOf("w", "local", on("host = n2"))}, "host = n1"},
		"reserved for another":              {podOf("data"), []any{local, claimOf("data", "local"), volumeOf("v", "local", on("host = n1"), reservedFor("other")), volumeOf("w", "local", on("host = n2"))}, "host = n2"},
		"reserved or made":                  {podOf("data"), []any{classOf("fast", ebs, allowed("zone", "a")), claimOf("data", "fast"), volumeOf("v", "fast", on("host = n1"), reservedFor("data"))}, "host = n1\nzone = a"},
		"ephemeral":                         {ephemeralPod("web", "fast"), []any{classOf("fast", ebs, allowed("zone", "a"))}, "zone = a"},
		"ephemeral, with a volume reserved": {ephemeralPod("web", "local"), []any{local, volumeOf("v", "local", on("host = n1"), reservedFor("web-scratch"))}, "host = n1"},
		"ephemeral and its claim": {ephemeralPod("web", "fast"), []any{volumeOf("v", "fast", on("zone = b"), labelled(zoneKey, "c")),
			claimOf("web-scratch", "fast", boundTo("v"), ownedBy("web"))}, "zone = b"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := indexOf(t, tc.objects...).Of(tc.pod)
			require.NoError(t, err)
			require.Equal(t, tc.want, text(n.Alternatives))
		})
	}
}

func ownedBy(pod string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(pod + "-uid"), Controller: new(true)}}
	}
}

// A volume that differs in any one way is no candidate.
func TestCandidates(t *testing.T) {
	claim := claimOf("data", "local", func(c *corev1.PersistentVolumeClaim) {
		c.UID = "data-uid"
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "hot"}}
		c.Spec.VolumeAttributesClassName = new("gold")
	})
	good := func(edits ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := volumeOf("v", "local", labelled("tier", "hot"), on("host = n1"))
		v.Spec.VolumeAttributesClassName = new("gold")
		v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadOnlyMany)
		for _, edit := range edits {
			edit(v)
		}
		return v
	}
	uid := func(uid types.UID) func(*corev1.PersistentVolume) {
		return func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = uid }
	}
	for name, tc := range map[string]struct {
		volume *corev1.PersistentVolume
		want   bool
	}{
		"good":        {good(), true},
		"larger":      {good(capacity("1Ti")), true},
		"smaller":     {good(capacity("9Gi")), false},
		"other class": {good(func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "fast" }), false},
		"class by note": {good(func(v *corev1.PersistentVolume) {
			v.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "fast"}
		}), false},
		"filesystem":       {good(func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem) }), true},
		"block":            {good(func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }), false},
		"other attributes": {good(func(v *corev1.PersistentVolume) { v.Spec.VolumeAttributesClassName = nil }), false},
		"other access":     {good(func(v *corev1.PersistentVolume) { v.Spec.AccessModes = v.Spec.AccessModes[1:] }), false},
		"other labels":     {good(labelled("tier", "cold")), false},
		"released":         {good(func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased }), false},
		"being deleted":    {good(func(v *corev1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{} }), false},

		"reserved":                 {good(reservedFor("data")), true},
		"reserved by uid":          {good(reservedFor("data"), uid("data-uid")), true},
		"reserved for a namesake":  {good(reservedFor("data"), uid("other")), false},
		"reserved, other labels":   {good(reservedFor("data"), labelled("tier", "cold")), true},
		"reserved, other access":   {good(reservedFor("data"), func(v *corev1.PersistentVolume) { v.Spec.AccessModes = nil }), true},
		"reserved, not available":  {good(reservedFor("data"), func(v *corev1.PersistentVolume) { v.Status.Phase = "" }), true},
		"reserved and too small":   {good(reservedFor("data"), capacity("1Gi")), false},
		"reserved, in other class": {good(reservedFor("data"), func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, classOf("local", "kubernetes.io/no-provisioner"), claim, tc.volume)
			n, err := x.Of(podOf("data"))
			if !tc.want {
				require.ErrorContains(t, err, "no free volume matches it")
				return
			}
			require.NoError(t, err)
			require.Equal(t, "host = n1", text(n.Alternatives))
		})
	}
}

// A provider can name the labels of its driver as other names of the zone.
func TestVocabulary(t *testing.T) {
	v := requirements.DefaultVocabulary().Extend(requirements.Extension{
		Aliases:      map[string]string{"topology.ebs.csi.aws.com/zone": zoneKey},
		ValueAliases: map[string]map[string]string{zoneKey: {"use1-az1": "a"}},
	})
	x, err := volume.New(objects(
		claimOf("data", "fast", boundTo("v")),
		volumeOf("v", "fast", on("topology.ebs.csi.aws.com/zone = use1-az1"), labelled(zoneKey, "use1-az1")),
		classOf("fast", ebs, allowed("topology.ebs.csi.aws.com/zone", "a", "b")), claimOf("log", "fast"),
	), v, minors.Range{})
	require.NoError(t, err)
	n := needsOf(t, x, podOf("data", "log"))
	require.Equal(t, "zone = a", text(n.Alternatives))

	// kube-scheduler knows no other names.
	require.False(t, x.Admits(&n, "n1", labelsOf("zone=use1-az1"), false))
	require.False(t, x.Admits(&n, "n1", labelsOf("zone=use1-az1,topology.ebs.csi.aws.com/zone=a"), false))
	n = needsOf(t, x, podOf("data"))
	require.True(t, x.Admits(&n, "n1", map[string]string{zoneKey: "use1-az1", "topology.ebs.csi.aws.com/zone": "use1-az1"}, false))
}

// A cluster of local disks: the work must not grow with the square of it.
func TestManyLocalDisks(t *testing.T) {
	list := []any{classOf("local", "kubernetes.io/no-provisioner"), claimOf("x", "local"), claimOf("y", "local"), claimOf("z", "local")}
	for i := range 2000 {
		host := "host = n" + strconv.Itoa(i)
		list = append(list, volumeOf("v"+strconv.Itoa(i), "local", on(host)), volumeOf("w"+strconv.Itoa(i), "local", on(host)))
	}
	x := indexOf(t, list...)
	n := needsOf(t, x, podOf("x", "y"))
	require.Len(t, n.Alternatives, 1)
	hosts, ok := n.Alternatives[0].Get(corev1.LabelHostname)
	require.True(t, ok)
	values, _ := hosts.Values()
	require.Len(t, values, 2000)
	_, err := x.Of(podOf("x", "y", "z"))
	require.ErrorContains(t, err, "which no node can have that serves")
}

// Labels of many kinds multiply; the work for one pod has an end.
func TestTooManyCombinations(t *testing.T) {
	list := []any{classOf("local", "kubernetes.io/no-provisioner")}
	var names []string
	for i := range 20 {
		id := strconv.Itoa(i)
		names = append(names, "c"+id)
		list = append(list, claimOf("c"+id, "local"),
			volumeOf("v"+id, "local", on("a"+id+" = 1"), reservedFor("c"+id)), volumeOf("w"+id, "local", on("b"+id+" = 1"), reservedFor("c"+id)))
	}
	x := indexOf(t, list...)
	_, err := x.Of(podOf(names...))
	require.ErrorContains(t, err, "can be served by too many combinations of volumes; give the claims selectors, or volumes of their own")
	n := needsOf(t, x, podOf(names[:8]...))
	require.Len(t, n.Alternatives, 256)
}

// A volume that keeps away from one host can be on any other.
func TestHostExcluded(t *testing.T) {
	x := indexOf(t, classOf("local", "kubernetes.io/no-provisioner"), claimOf("a", "local", boundTo("v")), claimOf("b", "local"),
		volumeOf("v", "local", on("host notin (n1)")), volumeOf("w1", "local", on("host = n1")), volumeOf("w2", "local", on("host = n2")))
	n := needsOf(t, x, podOf("a", "b"))
	require.Equal(t, "host = n2", text(n.Alternatives))
}

// Two names of one label can contradict each other, for new nodes.
func TestAliasesInTopologies(t *testing.T) {
	class := classOf("fast", ebs, allowed("zone", "a"))
	class.AllowedTopologies[0].MatchLabelExpressions = append(class.AllowedTopologies[0].MatchLabelExpressions,
		corev1.TopologySelectorLabelRequirement{Key: corev1.LabelFailureDomainBetaZone, Values: []string{"b"}})
	x := indexOf(t, class, claimOf("data", "fast"))
	_, err := x.Of(podOf("data"))
	require.ErrorContains(t, err, "admit no node; correct the class")
}
