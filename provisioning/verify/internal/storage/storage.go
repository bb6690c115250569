package storage

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// Key identifies an object by namespace and name.
type Key struct{ Namespace, Name string }

// String returns namespace/name.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// Compare orders by namespace and name.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, l.Namespace), cmp.Compare(k.Name, l.Name))
}

// Index has the storage objects of an input by name.
type Index struct {
	Claims  map[Key]*corev1.PersistentVolumeClaim
	Volumes map[string]*corev1.PersistentVolume
	Static  map[string][]*corev1.PersistentVolume // by class, sorted by size and name
	Classes map[string]*storagev1.StorageClass

	standard   string // the default class, "" if there is none
	csi        map[string]*storagev1.CSINode
	drivers    map[string]*storagev1.CSIDriver
	capacities []*storagev1.CSIStorageCapacity
	attached   map[string]Attached // by node: volumes that VolumeAttachments name
	kubernetes minors.Range
	selections *nodefit.Parser
}

// New reads storage objects for the kube-schedulers of some versions of Kubernetes. selections
// reads which nodes can reach volumes.
func New(in provisioning.Volumes, selections *nodefit.Parser, kubernetes minors.Range) *Index {
	s := &Index{selections: selections, kubernetes: kubernetes,
		Claims:     ByKey(in.Claims),
		Volumes:    ByName(in.Volumes),
		Static:     map[string][]*corev1.PersistentVolume{},
		Classes:    ByName(in.Classes),
		csi:        ByName(in.CSINodes),
		drivers:    ByName(in.CSIDrivers),
		capacities: in.CSIStorageCapacities,
		standard:   defaultClass(in.Classes),
		attached:   map[string]Attached{},
	}
	for _, volume := range in.Volumes {
		if volume != nil {
			class := classOf(volume, volume.Spec.StorageClassName)
			s.Static[class] = append(s.Static[class], volume)
		}
	}
	for _, volumes := range s.Static {
		slices.SortFunc(volumes, func(a, b *corev1.PersistentVolume) int {
			sizeA, sizeB := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
			return cmp.Or(quantity.Compare(sizeA, sizeB), strings.Compare(a.Name, b.Name))
		})
	}
	for _, attachment := range in.VolumeAttachments {
		if attachment != nil {
			s.addAttachment(attachment)
		}
	}
	return s
}

// named is a pointer to a Kubernetes object.
type named[T any] interface {
	*T
	metav1.Object
}

// ByName returns objects by their names.
func ByName[T any, P named[T]](list []P) map[string]P {
	out := map[string]P{}
	for _, o := range list {
		if o != nil {
			out[o.GetName()] = o
		}
	}
	return out
}

// ByKey returns objects by their namespaces and names.
func ByKey[T any, P named[T]](list []P) map[Key]P {
	out := map[Key]P{}
	for _, o := range list {
		if o != nil {
			out[Key{o.GetNamespace(), o.GetName()}] = o
		}
	}
	return out
}

// classOf returns the class that an object names by annotation, or else field.
func classOf(o metav1.Object, field string) string {
	if class, beta := o.GetAnnotations()[corev1.BetaStorageClassAnnotation]; beta {
		return class
	}
	return field
}

// defaultClass returns the name of the class that Kubernetes gives to claims that name none: the
// newest of the classes marked as default, of equally new ones the first by name; "" if none is
// marked.
func defaultClass(classes []*storagev1.StorageClass) string {
	var marked []*storagev1.StorageClass
	for _, class := range classes {
		if class != nil && slices.Contains([]string{
			class.Annotations["storageclass.kubernetes.io/is-default-class"],
			class.Annotations["storageclass.beta.kubernetes.io/is-default-class"],
		}, "true") {
			marked = append(marked, class)
		}
	}
	if len(marked) == 0 {
		return ""
	}
	return slices.MinFunc(marked, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	}).Name
}

// ClassOf returns the storage class of a claim, "" if it has none.
func (s *Index) ClassOf(claim *corev1.PersistentVolumeClaim) string {
	return classOf(claim, valueOr(claim.Spec.StorageClassName, s.standard))
}

// Claim is a volume of a pod that has a claim.
type Claim struct {
	Key       Key
	Ephemeral bool
	Claim     *corev1.PersistentVolumeClaim
	Fault     string // why no pod can use it, "" if pods can
}

// ClaimsOf returns the distinct claims of a pod, the smallest first. The claim of an ephemeral
// volume that does not exist yet is made from its template.
func (s *Index) ClaimsOf(p *corev1.Pod) []Claim {
	var claims []Claim
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		var c Claim
		switch {
		case v.PersistentVolumeClaim != nil:
			c.Key = Key{p.Namespace, v.PersistentVolumeClaim.ClaimName}
			c.Claim = s.Claims[c.Key]
		case v.Ephemeral != nil:
			c.Key, c.Ephemeral = Key{p.Namespace, p.Name + "-" + v.Name}, true
			c.Claim = s.Claims[c.Key]
			if c.Claim == nil && v.Ephemeral.VolumeClaimTemplate != nil {
				c.Claim = &corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: c.Key.Namespace, Name: c.Key.Name, Annotations: v.Ephemeral.VolumeClaimTemplate.Annotations,
					},
					Spec: v.Ephemeral.VolumeClaimTemplate.Spec,
				}
			} else if c.Claim != nil && p.UID != "" && !metav1.IsControlledBy(c.Claim, p) {
				c.Fault = "is not owned by the pod"
			}
		default:
			continue
		}
		switch {
		case c.Claim == nil:
			c.Fault = "is not in the input"
		case c.Claim.Status.Phase == corev1.ClaimLost:
			c.Fault = "has lost its volume"
		case c.Claim.DeletionTimestamp != nil:
			c.Fault = "is being deleted"
		}
		if !slices.ContainsFunc(claims, func(d Claim) bool { return d.Key == c.Key }) {
			claims = append(claims, c)
		}
	}
	slices.SortStableFunc(claims, func(a, b Claim) int {
		if a.Claim == nil || b.Claim == nil {
			return 0
		}
		sizeA, sizeB := a.Claim.Spec.Resources.Requests[corev1.ResourceStorage], b.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
		return quantity.Compare(sizeA, sizeB)
	})
	return claims
}

// Alone says whether only one pod may use the claim.
func (c *Claim) Alone() bool {
	return !c.Ephemeral && slices.Contains(c.Claim.Spec.AccessModes, corev1.ReadWriteOncePod)
}

// Shared says whether several nodes may use the claim at once.
func (c *Claim) Shared() bool {
	return slices.ContainsFunc(c.Claim.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	})
}

// driverOf returns the CSI driver of a provisioner, and whether it replaces an in-tree plugin.
func driverOf(provisioner string) (driver string, migrated bool) {
	driver, migrated = map[string]string{
		"kubernetes.io/aws-ebs":         "ebs.csi.aws.com",
		"kubernetes.io/azure-disk":      "disk.csi.azure.com",
		"kubernetes.io/azure-file":      "file.csi.azure.com",
		"kubernetes.io/cinder":          "cinder.csi.openstack.org",
		"kubernetes.io/gce-pd":          "pd.csi.storage.gke.io",
		"kubernetes.io/portworx-volume": "pxd.portworx.com",
		"kubernetes.io/vsphere-volume":  "csi.vsphere.vmware.com",
	}[provisioner]
	if migrated {
		return driver, true
	}
	return provisioner, false
}

// Attachment returns the driver that attaches the volume of a claim, and a unique name of the
// volume. Volumes without a driver are not counted. If legacy is set, the driver counts only where
// it replaces that in-tree plugin.
func (s *Index) Attachment(c *Claim) (driver, name, legacy string) {
	if volume := s.Volumes[c.Claim.Spec.VolumeName]; c.Claim.Spec.VolumeName != "" && volume != nil {
		switch {
		case volume.Spec.CSI != nil:
			return volume.Spec.CSI.Driver, "volume " + volume.Spec.CSI.VolumeHandle, ""
		case volume.Spec.AWSElasticBlockStore != nil:
			legacy, name = "kubernetes.io/aws-ebs", volume.Spec.AWSElasticBlockStore.VolumeID
		case volume.Spec.GCEPersistentDisk != nil:
			legacy, name = "kubernetes.io/gce-pd", volume.Spec.GCEPersistentDisk.PDName
		case volume.Spec.AzureDisk != nil:
			legacy, name = "kubernetes.io/azure-disk", volume.Spec.AzureDisk.DataDiskURI
		default:
			return "", "", ""
		}
		driver, _ = driverOf(legacy)
		return driver, "volume " + name, legacy
	}
	class := s.Classes[s.ClassOf(c.Claim)]
	if class == nil {
		return "", "", ""
	}
	driver, migrated := driverOf(class.Provisioner)
	if migrated {
		legacy = class.Provisioner
	}
	return driver, "claim " + c.Key.String(), legacy
}

// migratedPlugins is the annotation of a CSINode that lists the in-tree plugins that drivers
// replace.
const migratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins"

// Migrated says whether a CSI driver replaces an in-tree plugin on a node.
func (s *Index) Migrated(node, legacy string) bool {
	csi := s.csi[node]
	return csi != nil && slices.Contains(strings.Split(csi.Annotations[migratedPlugins], ","), legacy)
}

// Limit returns the number of volumes of a driver that a node publishes as its limit. limited is
// false if there is no limit, and known is false if the node does not publish one.
func (s *Index) Limit(node, driver string) (limit int64, limited, known bool) {
	csi := s.csi[node]
	if csi == nil {
		return 0, false, false
	}
	for _, d := range csi.Spec.Drivers {
		if d.Name != driver {
			continue
		}
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			return int64(*d.Allocatable.Count), true, true
		}
		return 0, false, true
	}
	return 0, false, false
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
