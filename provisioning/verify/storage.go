package verify

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// storageIndex are the storage objects of the input, and who uses them so far.
type storageIndex struct {
	claims  map[objectKey]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	static  map[string][]*corev1.PersistentVolume // by class, sorted by size and name
	classes map[string]*storagev1.StorageClass
	csi     map[string]*storagev1.CSINode

	users map[objectKey][]*targetNode              // of claims
	lent  map[string]objectKey                     // volumes that claims will be bound to
	loans map[objectKey][]*corev1.PersistentVolume // the same by claim
}

func (r *referee) newStorage() storageIndex {
	s := storageIndex{
		claims:  map[objectKey]*corev1.PersistentVolumeClaim{},
		volumes: map[string]*corev1.PersistentVolume{},
		static:  map[string][]*corev1.PersistentVolume{},
		classes: map[string]*storagev1.StorageClass{},
		csi:     map[string]*storagev1.CSINode{},
		users:   map[objectKey][]*targetNode{},
		lent:    map[string]objectKey{},
		loans:   map[objectKey][]*corev1.PersistentVolume{},
	}
	for _, claim := range r.in.Volumes.Claims {
		if claim != nil {
			s.claims[objectKey{claim.Namespace, claim.Name}] = claim
		}
	}
	for _, volume := range r.in.Volumes.Volumes {
		if volume == nil {
			continue
		}
		s.volumes[volume.Name] = volume
		class := s.classOfVolume(volume)
		s.static[class] = append(s.static[class], volume)
	}
	for _, volumes := range s.static {
		slices.SortFunc(volumes, func(a, b *corev1.PersistentVolume) int {
			sizeA, sizeB := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
			return cmp.Or(sizeA.Cmp(sizeB), strings.Compare(a.Name, b.Name))
		})
	}
	for _, class := range r.in.Volumes.Classes {
		if class != nil {
			s.classes[class.Name] = class
		}
	}
	for _, node := range r.in.Volumes.CSINodes {
		if node != nil {
			s.csi[node.Name] = node
		}
	}
	return s
}

func (*storageIndex) classOfVolume(volume *corev1.PersistentVolume) string {
	if class, beta := volume.Annotations[corev1.BetaStorageClassAnnotation]; beta {
		return class
	}
	return volume.Spec.StorageClassName
}

func (*storageIndex) classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, beta := claim.Annotations[corev1.BetaStorageClassAnnotation]; beta {
		return class
	}
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}

// volumeClaim is a volume of a pod that a claim stands for.
type volumeClaim struct {
	key       objectKey
	ephemeral bool
	claim     *corev1.PersistentVolumeClaim
	fault     string // why no pod can use it
}

// claimsOf are the claims of a pod, each once, the smallest first. The claim of
// an ephemeral volume that is not there yet is as its template says.
func (s *storageIndex) claimsOf(p *podInfo) []volumeClaim {
	var claims []volumeClaim
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		var c volumeClaim
		switch {
		case v.PersistentVolumeClaim != nil:
			c.key = objectKey{p.Namespace, v.PersistentVolumeClaim.ClaimName}
			c.claim = s.claims[c.key]
		case v.Ephemeral != nil:
			c.key, c.ephemeral = objectKey{p.Namespace, p.Name + "-" + v.Name}, true
			c.claim = s.claims[c.key]
			if c.claim == nil && v.Ephemeral.VolumeClaimTemplate != nil {
				c.claim = &corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: c.key.namespace, Name: c.key.name},
					Spec:       v.Ephemeral.VolumeClaimTemplate.Spec,
				}
			} else if c.claim != nil && p.UID != "" && !metav1.IsControlledBy(c.claim, p.Pod) {
				c.fault = "is not owned by the pod"
			}
		default:
			continue
		}
		switch {
		case c.claim == nil:
			c.fault = "is not in the input"
		case c.claim.Status.Phase == corev1.ClaimLost:
			c.fault = "has lost its volume"
		case c.claim.DeletionTimestamp != nil:
			c.fault = "is being deleted"
		}
		if !slices.ContainsFunc(claims, func(d volumeClaim) bool { return d.key == c.key }) {
			claims = append(claims, c)
		}
	}
	slices.SortStableFunc(claims, func(a, b volumeClaim) int {
		if a.claim == nil || b.claim == nil {
			return 0
		}
		sizeA, sizeB := a.claim.Spec.Resources.Requests[corev1.ResourceStorage], b.claim.Spec.Resources.Requests[corev1.ResourceStorage]
		return sizeA.Cmp(sizeB)
	})
	return claims
}

// alone says that no second pod may use the claim.
func (c *volumeClaim) alone() bool {
	return !c.ephemeral && slices.Contains(c.claim.Spec.AccessModes, corev1.ReadWriteOncePod)
}

// shared says that several nodes may use the claim at once.
func (c *volumeClaim) shared() bool {
	return slices.ContainsFunc(c.claim.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	})
}

// drivers are the CSI drivers that have taken over from those within Kubernetes.
func (*storageIndex) driver(provisioner string) (driver string, migrated bool) {
	switch provisioner {
	case "kubernetes.io/aws-ebs":
		return "ebs.csi.aws.com", true
	case "kubernetes.io/azure-disk":
		return "disk.csi.azure.com", true
	case "kubernetes.io/azure-file":
		return "file.csi.azure.com", true
	case "kubernetes.io/cinder":
		return "cinder.csi.openstack.org", true
	case "kubernetes.io/gce-pd":
		return "pd.csi.storage.gke.io", true
	case "kubernetes.io/portworx-volume":
		return "pxd.portworx.com", true
	case "kubernetes.io/vsphere-volume":
		return "csi.vsphere.vmware.com", true
	}
	return provisioner, false
}

// attachment is the driver that attaches the volume of a claim, and a name that
// is the volume's own. No driver means that nobody counts it. With legacy set the
// driver counts only where it has taken over from that one.
func (s *storageIndex) attachment(c *volumeClaim) (driver, name, legacy string) {
	if volume := s.volumes[c.claim.Spec.VolumeName]; c.claim.Spec.VolumeName != "" && volume != nil {
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
		driver, _ = s.driver(legacy)
		return driver, "volume " + name, legacy
	}
	class := s.classes[s.classOf(c.claim)]
	if class == nil {
		return "", "", ""
	}
	driver, migrated := s.driver(class.Provisioner)
	if migrated {
		legacy = class.Provisioner
	}
	return driver, "claim " + c.key.String(), legacy
}
