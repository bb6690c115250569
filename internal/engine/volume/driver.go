package volume

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// plugin is a kind of volume that was part of Kubernetes (in-tree) and is now served by a CSI
// driver. Its value is an index in plugins.
type plugin int

const (
	awsEBS plugin = iota
	gcePD
	azureDisk
	cinder
	portworx
)

var plugins = [...]struct {
	name   string // as in the provisioner of a StorageClass and in annotations of a CSINode
	driver string
	// topology is the label that the driver uses instead of the zone label; empty if volumes keep
	// their label.
	topology string
}{
	awsEBS:    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"},
	gcePD:     {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"},
	azureDisk: {"kubernetes.io/azure-disk", "disk.csi.azure.com", ""},
	cinder:    {"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"},
	portworx:  {"kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
}

// uncounted are provisioners whose volumes are not counted: the first makes none, and
// kube-scheduler does not count the volumes of the others for their CSI drivers.
var uncounted = []string{noProvisioner, "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}

// noProvisioner is the provisioner of a class that makes no volumes.
const noProvisioner = "kubernetes.io/no-provisioner"

// attached is a volume as a driver identifies it.
type attached struct{ driver, handle string }

// name returns a name that is unique among all volumes of all drivers.
func (a attached) name() string { return a.driver + "/" + a.handle }

// source is a volume of an in-tree plugin.
type source struct {
	plugin plugin
	handle string
	err    error // why the handle is not known
}

func inlineSource(s *corev1.VolumeSource) (source, bool) {
	if s.Cinder != nil {
		return source{plugin: cinder, handle: s.Cinder.VolumeID}, true
	}
	return volumeSource(&corev1.PersistentVolumeSource{AWSElasticBlockStore: s.AWSElasticBlockStore, GCEPersistentDisk: s.GCEPersistentDisk,
		AzureDisk: s.AzureDisk, PortworxVolume: s.PortworxVolume})
}

func volumeSource(s *corev1.PersistentVolumeSource) (source, bool) {
	ebs, pd, azure, px := s.AWSElasticBlockStore, s.GCEPersistentDisk, s.AzureDisk, s.PortworxVolume
	switch {
	case s.Cinder != nil:
		return source{plugin: cinder, handle: s.Cinder.VolumeID}, true
	case ebs != nil:
		handle, err := ebsHandle(ebs.VolumeID)
		return source{awsEBS, handle, err}, true
	case pd != nil:
		return source{plugin: gcePD, handle: pd.PDName}, true
	case azure != nil:
		if azure.Kind != nil && !strings.EqualFold(string(*azure.Kind), string(corev1.AzureManagedDisk)) {
			return source{plugin: azureDisk, err: fmt.Errorf(
				"azureDisk.kind is %q, which no CSI driver serves; use a managed disk", *azure.Kind)}, true
		}
		return source{plugin: azureDisk, handle: azure.DataDiskURI}, true
	case px != nil:
		return source{plugin: portworx, handle: px.VolumeID}, true
	}
	return source{}, false
}

// ebsHandle extracts the volume ID from forms such as aws://us-east-1a/vol-1.
func ebsHandle(id string) (string, error) {
	rest, ok := strings.CutPrefix(id, "aws://")
	if !ok {
		return id, nil
	}
	_, handle, _ := strings.Cut(rest, "/")
	handle = strings.Trim(handle, "/")
	if !strings.HasPrefix(handle, "vol-") || strings.Contains(handle, "/") {
		return "", fmt.Errorf("awsElasticBlockStore.volumeID is %q, which names no volume; use a form such as vol-0123", id)
	}
	return handle, nil
}

// attachment returns how the driver identifies the volume of a claim. It returns false if the
// volume does not count against any limit. A volume that does not exist yet, or is not known, is
// identified by its claim.
func (x *Index) attachment(c *corev1.PersistentVolumeClaim) (attached, bool) {
	if v := x.volumes[c.Spec.VolumeName]; v != nil {
		a := volumeAttachment(v)
		return a, a.driver != "" && a.handle != ""
	}
	class := x.classes[x.claimClass(c)]
	if class == nil || class.Provisioner == "" || slices.Contains(uncounted, class.Provisioner) {
		return attached{}, false
	}
	driver := class.Provisioner
	for _, p := range plugins {
		if driver == p.name {
			driver = p.driver
		}
	}
	return attached{driver, "claim/" + key(c.Namespace, c.Name)}, true
}

// volumeAttachment returns how the driver identifies a volume; fields are empty if there is no
// driver.
func volumeAttachment(v *corev1.PersistentVolume) attached {
	if csi := v.Spec.CSI; csi != nil {
		return attached{csi.Driver, csi.VolumeHandle}
	}
	s, ok := volumeSource(&v.Spec.PersistentVolumeSource)
	if !ok {
		return attached{}
	}
	if s.plugin == gcePD && s.handle != "" {
		// The name of a disk is unique within its zone only.
		s.handle = zoneName(v) + "/" + s.handle
	}
	return attached{plugins[s.plugin].driver, s.handle}
}

// zoneName returns the zone label of a volume, which may name several zones.
func zoneName(v *corev1.PersistentVolume) string {
	if name := v.Labels[corev1.LabelFailureDomainBetaZone]; name != "" {
		return name
	}
	return v.Labels[corev1.LabelTopologyZone]
}
