package volume_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	zoneKey = corev1.LabelTopologyZone
	ebs     = "ebs.csi.aws.com"
	bind    = "pv.kubernetes.io/bind-completed"
	chosen  = "volume.kubernetes.io/selected-node"
)

// claimOf makes a claim in namespace shop for 10Gi, read and written by one
// node. An empty class is left unset.
func claimOf(name, class string, edits ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{}}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	if class != "" {
		c.Spec.StorageClassName = &class
	}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

// boundTo binds a claim completely.
func boundTo(name string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = name
		c.Annotations[bind] = "yes"
	}
}

func sized(size string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	}
}

// volumeOf makes a free volume of 10Gi.
func volumeOf(name, class string, edits ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.StorageClassName = class
	v.Status.Phase = corev1.VolumeAvailable
	for _, edit := range edits {
		edit(v)
	}
	return v
}

// on gives a volume a node affinity: terms in the notation of requirements.
func on(terms ...string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		for _, text := range terms {
			var term corev1.NodeSelectorTerm
			for _, r := range requirements.MustParse(expand(text)).NodeSelectorRequirements() {
				e := corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
				if e.Operator == "Gte" { // which only NodePools know
					n, _ := strconv.Atoi(r.Values[0])
					e.Operator, e.Values = corev1.NodeSelectorOpGt, []string{strconv.Itoa(n - 1)}
				}
				term.MatchExpressions = append(term.MatchExpressions, e)
			}
			s := v.Spec.NodeAffinity.Required
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, term)
		}
	}
}

func labelled(key, value string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Labels[key] = value }
}

func capacity(size string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse(size) }
}

func csi(driver, handle string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
	}
}

func reservedFor(name string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: name}
	}
}

// expand writes zone, host and the like in full.
func expand(text string) string {
	if strings.Contains(text, "/") {
		return text
	}
	return strings.NewReplacer(
		"zone", zoneKey, "host", corev1.LabelHostname, "region", corev1.LabelTopologyRegion, "oldz", corev1.LabelFailureDomainBetaZone,
		"oldr", corev1.LabelFailureDomainBetaRegion,
	).Replace(text)
}

// contract undoes expand.
func contract(text string) string {
	return strings.NewReplacer(
		zoneKey, "zone", corev1.LabelHostname, "host", corev1.LabelTopologyRegion, "region",
	).Replace(text)
}

// classOf makes a class that waits for the first consumer.
func classOf(name, provisioner string, edits ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}, Provisioner: provisioner}
	c.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func immediate(c *storagev1.StorageClass) {
	c.VolumeBindingMode = new(storagev1.VolumeBindingImmediate)
}

func standard(c *storagev1.StorageClass) {
	c.Annotations["storageclass.kubernetes.io/is-default-class"] = "true"
}

// allowed gives a class a term of topologies, as pairs of key and values.
func allowed(key string, values ...string) func(*storagev1.StorageClass) {
	return func(c *storagev1.StorageClass) {
		c.AllowedTopologies = append(c.AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: expand(key), Values: values}},
		})
	}
}

// podOf makes pod shop/web with a volume for each claim.
func podOf(claims ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web-uid"}}
	for _, name := range claims {
		source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{
			Name: "v-" + name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source},
		})
	}
	return p
}

// ephemeralPod makes a pod with ephemeral volume scratch of a class.
func ephemeralPod(name, class string) *corev1.Pod {
	t := claimOf("", class)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name + "-uid")}}
	p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: t.Spec}},
	}}}
	return p
}

func inlinePod(sources ...corev1.VolumeSource) *corev1.Pod {
	p := podOf()
	for _, s := range sources {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: s})
	}
	return p
}

func csiNodeOf(name string, drivers ...storagev1.CSINodeDriver) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: drivers}}
}

func counted(driver string, n int32) storagev1.CSINodeDriver {
	return storagev1.CSINodeDriver{Name: driver, Allocatable: &storagev1.VolumeNodeResources{Count: &n}}
}

// objects sorts storage objects into their lists, and ties volumes to the
// claims that are bound to them.
func objects(list ...any) volume.Objects {
	var o volume.Objects
	for _, object := range list {
		switch object := object.(type) {
		case *corev1.PersistentVolumeClaim:
			o.Claims = append(o.Claims, object)
		case *corev1.PersistentVolume:
			o.Volumes = append(o.Volumes, object)
		case *storagev1.StorageClass:
			o.Classes = append(o.Classes, object)
		case *storagev1.CSINode:
			o.CSINodes = append(o.CSINodes, object)
		}
	}
	for _, c := range o.Claims {
		for _, v := range o.Volumes {
			if v.Name == c.Spec.VolumeName && v.Spec.ClaimRef == nil {
				v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: c.Namespace, Name: c.Name, UID: c.UID}
				v.Status.Phase = corev1.VolumeBound
			}
		}
	}
	return o
}

func indexOf(t testing.TB, list ...any) *volume.Index {
	t.Helper()
	x, err := volume.New(objects(list...), nil, minors.Range{})
	require.NoError(t, err)
	return x
}

func needsOf(t testing.TB, x *volume.Index, pod *corev1.Pod) volume.Needs {
	t.Helper()
	n, err := x.Of(pod)
	require.NoError(t, err)
	return n
}

// text renders alternatives, one a line.
func text(sets []requirements.Set) string {
	var lines []string
	for _, s := range sets {
		lines = append(lines, contract(s.String()))
	}
	return strings.Join(lines, "\n")
}

// labelsOf reads labels such as "zone=a,host=n1".
func labelsOf(text string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			out[expand(key)] = value
		}
	}
	return out
}
