package volume_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// scene is all that a question needs, so that whole objects can be fuzzed as
// JSON.
type scene struct {
	Claims   []*corev1.PersistentVolumeClaim
	Volumes  []*corev1.PersistentVolume
	Classes  []*storagev1.StorageClass
	CSINodes []*storagev1.CSINode
	Pod      *corev1.Pod
	Labels   map[string]string
}

func (s *scene) objects() volume.Objects {
	return volume.Objects{Claims: s.Claims, Volumes: s.Volumes, Classes: s.Classes, CSINodes: s.CSINodes}
}

func seeds(f *testing.F) {
	add := func(s scene) {
		data, err := json.Marshal(s)
		require.NoError(f, err)
		f.Add(data)
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		o := randomObjects(r)
		add(scene{o.Claims, o.Volumes, o.Classes, []*storagev1.CSINode{csiNodeOf("n1", counted(ebs, 3))}, randomPod(r), labelsOf("zone=a,host=n1")})
	}
	migrated := csiNodeOf("n1", counted(ebs, 1))
	migrated.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs,,"}
	old := volumeOf("v", "fast", on("oldz = a"), labelled(corev1.LabelFailureDomainBetaZone, "a__b"))
	old.Spec.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://a/vol-1"}
	o := objects(claimOf("data", "fast", boundTo("v"), onePod), old, classOf("fast", ebs, standard), migrated)
	add(scene{o.Claims, o.Volumes, o.Classes, o.CSINodes, podOf("data"), labelsOf("oldz=a")})
	add(scene{nil, nil, o.Classes, nil, ephemeralPod("web", ""), nil})
	add(scene{Pod: inlinePod(gce("d", true), gce("d", false), corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}}})})
	f.Add([]byte(`{"Pod":{"spec":{"volumes":[{"ephemeral":{}},{"persistentVolumeClaim":{}},{"azureDisk":{"kind":"Shared"}}]}}}`))
	f.Add([]byte(`{"Claims":[{"metadata":{"name":"a"},"spec":{"resources":{"requests":{"storage":"1e40"}}}}],"Pod":{"spec":{"volumes":[{"persistentVolumeClaim":{"claimName":"a"}}]}}}`))
}

// FuzzOf reads objects as they come.
func FuzzOf(f *testing.F) {
	seeds(f)
	// Kubernetes itself does not come to an end with quantities such as
	// 1e-2147483647 when it decodes them.
	exponent := regexp.MustCompile(`[eE][+-]?[0-9]{4}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if exponent.Match(data) {
			t.Skip()
		}
		check(t, data)
	})
}

// FuzzFields puts odd values into fields of objects that make sense, which
// chance alone seldom arrives at.
func FuzzFields(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 6))
		o := randomObjects(r)
		pod := randomPod(r)
		pod.Spec.Volumes = append(pod.Spec.Volumes, ephemeralPod("web", "fast").Spec.Volumes...)
		pod.Spec.Volumes = append(pod.Spec.Volumes, inlinePod(gce("d", true)).Spec.Volumes...)
		data, err := json.Marshal(scene{o.Claims, o.Volumes, o.Classes, []*storagev1.CSINode{csiNodeOf("n1", counted(ebs, 3))}, pod, labelsOf("zone=a")})
		require.NoError(t, err)
		var tree any
		require.NoError(t, json.Unmarshal(data, &tree))
		for range 1 + r.IntN(4) {
			tree = disturb(r, tree)
		}
		data, err = json.Marshal(tree)
		require.NoError(t, err)
		check(t, data)
	})
}

// disturb changes one value somewhere in a tree of JSON.
func disturb(r *rand.Rand, tree any) any {
	if r.IntN(12) == 0 {
		return pick[any](r, nil, "", "a", "c0", "web-scratch", "10Gi", "-1", "1e30", "a__", "aws://", true, 0, -1, 1e18, []any{}, map[string]any{}, []any{nil})
	}
	switch tree := tree.(type) {
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(tree)); len(keys) > 0 {
			key := pick(r, keys...)
			tree[key] = disturb(r, tree[key])
		}
	case []any:
		if len(tree) > 0 {
			i := r.IntN(len(tree))
			tree[i] = disturb(r, tree[i])
			if r.IntN(8) == 0 {
				return append(tree, tree[i])
			}
		}
	}
	return tree
}

// check asks all questions about a scene, and that the answers hold together.
func check(t *testing.T, data []byte) {
	var s, kept scene
	if json.Unmarshal(data, &s) != nil || json.Unmarshal(data, &kept) != nil {
		t.Skip()
	}
	x, err := volume.New(s.objects(), nil, minors.Range{})
	if err != nil {
		require.Equal(t, &volume.Index{}, x)
		return
	}
	n, err := x.Of(s.Pod)
	if err != nil {
		require.NotContains(t, err.Error(), "\n")
	}
	again, errAgain := x.Of(s.Pod)
	require.Equal(t, n.Key(), again.Key())
	require.Equal(t, err, errAgain)
	for _, a := range n.Alternatives {
		require.False(t, a.Impossible())
	}
	x.Attached(s.Pod)
	x.Admits(&n, "n1", s.Labels, false)
	none := n.Private(func(string) bool { return false })
	require.Empty(t, none.Names())
	x.Holds(s.Pod)
	sameKey(t, x, s.Pod, n, err)
	require.Equal(t, kept, s, "the objects are read only")
}

// sameKey asks for a pod of another name.
func sameKey(t *testing.T, x *volume.Index, pod *corev1.Pod, n volume.Needs, err error) {
	if pod == nil {
		return
	}
	twin := pod.DeepCopy()
	twin.Name = strings.ToUpper(pod.Name) + "-twin"
	twin.UID = "twin"
	if x.Key(twin) != x.Key(pod) {
		return
	}
	other, otherErr := x.Of(twin)
	require.Equal(t, n.Key(), other.Key())
	require.Equal(t, err, otherErr)
}
