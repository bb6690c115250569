package volume

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Objects are the storage objects of a cluster, each list in any order.
type Objects struct {
	Claims  []*corev1.PersistentVolumeClaim
	Volumes []*corev1.PersistentVolume
	Classes []*storagev1.StorageClass

	// CSINodes have the volume limit of each node, by driver.
	CSINodes []*storagev1.CSINode

	CSIDrivers           []*storagev1.CSIDriver          // how drivers require pods to be placed
	CSIStorageCapacities []*storagev1.CSIStorageCapacity // capacity left for new volumes
	VolumeAttachments    []*storagev1.VolumeAttachment   // of volumes to nodes, whichever pods use the volumes
}

// Index answers questions about storage objects. The zero value has no objects.
type Index struct {
	vocabulary *requirements.Vocabulary
	kubernetes minors.Range // versions whose kube-schedulers must accept a placement

	claims  map[string]*corev1.PersistentVolumeClaim // by namespace/name
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
	nodes   map[string]csiNode

	drivers    map[string]*storagev1.CSIDriver
	capacities map[string][]*storagev1.CSIStorageCapacity // by class, sorted by namespace and name
	attached   map[string][]attached                      // by node: distinct CSI volumes that VolumeAttachments name

	// standard is the StorageClass of claims that name none; nil if there is no default.
	standard *storagev1.StorageClass

	// available are the volumes without a claim, by class. reserved are the volumes reserved for a
	// claim, by claim. Both are in the order of compareCandidates.
	available map[string][]*candidate
	reserved  map[string][]*candidate
}

// New indexes storage objects. The error joins a *faults.Fault for every entry that is nil, has no
// name or is listed twice, in the order of the fields of Objects and then by index; the Index then
// has no objects. Other faults of an object concern only the pods that use it, and Index.Of reports
// them.
//
// v normalises keys and values of labels; nil means requirements.DefaultVocabulary. kubernetes are
// the versions whose kube-schedulers must accept a placement.
//
// It takes O(objects) time, plus the time to sort the unbound volumes.
func New(o Objects, v *requirements.Vocabulary, kubernetes minors.Range) (*Index, error) {
	var f faults.List
	x := &Index{
		vocabulary: v,
		kubernetes: kubernetes,
		claims:     index(&f, "Claims", o.Claims, objectKey),
		volumes:    index(&f, "Volumes", o.Volumes, metav1.Object.GetName),
		classes:    index(&f, "Classes", o.Classes, metav1.Object.GetName),
	}
	nodes := index(&f, "CSINodes", o.CSINodes, metav1.Object.GetName)
	x.drivers = index(&f, "CSIDrivers", o.CSIDrivers, metav1.Object.GetName)
	index(&f, "CSIStorageCapacities", o.CSIStorageCapacities, objectKey)
	index(&f, "VolumeAttachments", o.VolumeAttachments, metav1.Object.GetName)
	if err := f.Err(); err != nil {
		return &Index{vocabulary: v}, err
	}
	x.nodes = make(map[string]csiNode, len(nodes))
	for name, n := range nodes {
		x.nodes[name] = newCSINode(n)
	}
	x.standard = defaultClass(o.Classes)
	x.setCandidates(o.Volumes)
	x.setCapacities(o.CSIStorageCapacities)
	x.setAttached(o.VolumeAttachments)
	return x, nil
}

// index returns a map of objects by their keys.
func index[T any, P interface {
	*T
	metav1.Object
}](f *faults.List, list string, objects []P, keyOf func(metav1.Object) string) map[string]P {
	out := make(map[string]P, len(objects))
	wrong := func(i int, field, format string, args ...any) {
		f.Add(fmt.Sprintf("Volumes.%s[%d]", list, i), field, format, args...)
	}
	for i, object := range objects {
		if object == nil {
			wrong(i, "", "is nil; leave it out")
			continue
		}
		id := keyOf(object)
		switch {
		case object.GetName() == "":
			wrong(i, "metadata.name", "is empty; objects are told apart by their names")
		case out[id] != nil:
			wrong(i, "metadata.name", "is %q, which is listed before; list each object once", id)
		default:
			out[id] = object
		}
	}
	return out
}

// key returns namespace/name of an object. Neither part can contain a slash.
func key(namespace, name string) string { return namespace + "/" + name }

func objectKey(o metav1.Object) string { return key(o.GetNamespace(), o.GetName()) }

// setCandidates finds the volumes to which a claim may still be bound.
func (x *Index) setCandidates(volumes []*corev1.PersistentVolume) {
	x.available = map[string][]*candidate{}
	x.reserved = map[string][]*candidate{}
	for _, v := range volumes {
		if v.DeletionTimestamp != nil {
			continue
		}
		if ref := v.Spec.ClaimRef; ref != nil {
			id := key(ref.Namespace, ref.Name)
			// Most volumes of a cluster are bound, or were bound to a claim that is gone. They are
			// not candidates and are not read.
			if c := x.claims[id]; c == nil && ref.UID == "" || c != nil && c.Spec.VolumeName == "" {
				x.reserved[id] = append(x.reserved[id], x.newCandidate(v))
			}
		} else if v.Status.Phase == corev1.VolumeAvailable {
			class := volumeClass(v)
			x.available[class] = append(x.available[class], x.newCandidate(v))
		}
	}
	for _, list := range x.available {
		slices.SortFunc(list, compareCandidates)
	}
	for _, list := range x.reserved {
		slices.SortFunc(list, compareCandidates)
	}
}

// defaultClass returns the StorageClass for claims that name none: the newest of those marked as
// default, of equally new ones the first by name; nil if none is marked.
func defaultClass(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var best *storagev1.StorageClass
	for _, c := range classes {
		if !isDefault(c) {
			continue
		}
		if best == nil || cmp.Or(
			best.CreationTimestamp.Compare(c.CreationTimestamp.Time),
			cmp.Compare(c.Name, best.Name),
		) < 0 {
			best = c
		}
	}
	return best
}

func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
