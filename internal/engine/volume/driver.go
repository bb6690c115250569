package volume

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// plugin is a kind of volume that was part of Kubernetes and is now served by a
// CSI driver. It is an index of plugins.
type plugin int

const (
	awsEBS plugin = iota
	gcePD
	azureDisk
	cinder
	portworx
)

var plugins = [...]struct {
	name   string // as the provisioner of a class and in annotations of a CSINode
	driver string
	// topology is the label that the driver has in place of the zone; empty if
	// volumes keep the label that they have.
	topology string
}{
	awsEBS:    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"},
	gcePD:     {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"},
	azureDisk: {"kubernetes.io/azure-disk", "disk.csi.azure.com", ""},
	cinder:    {"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"},
	portworx:  {"kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
}

// uncounted are provisioners of which no volumes are counted: the first makes
// none, and the drivers of the others are not ones that kube-scheduler takes
// their volumes for.
var uncounted = []string{noProvisioner, "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}

// noProvisioner is the provisioner of a class that makes no volumes.
const noProvisioner = "kubernetes.io/no-provisioner"

// attached is a volume as a driver knows it.
type attached struct{ driver, handle string }

// name tells the volume from all others of all drivers.
func (a attached) name() string { return a.driver + "/" + a.handle }

// source is a volume that one of the plugins describes.
type source struct {
	plugin plugin
	handle string
	err    error // why the handle is not known
}

func volumeSource(s *corev1.PersistentVolumeSource) (source, bool) {
	if s.Cinder != nil {
		return source{plugin: cinder, handle: s.Cinder.VolumeID}, true
	}
	return commonSource(s.AWSElasticBlockStore, s.GCEPersistentDisk, s.AzureDisk, s.PortworxVolume)
}

func inlineSource(s *corev1.VolumeSource) (source, bool) {
	if s.Cinder != nil {
		return source{plugin: cinder, handle: s.Cinder.VolumeID}, true
	}
	return commonSource(s.AWSElasticBlockStore, s.GCEPersistentDisk, s.AzureDisk, s.PortworxVolume)
}

// commonSource reads the types that volumes and pods have in common.
func commonSource(
	ebs *corev1.AWSElasticBlockStoreVolumeSource, pd *corev1.GCEPersistentDiskVolumeSource,
	azure *corev1.AzureDiskVolumeSource, px *corev1.PortworxVolumeSource,
) (source, bool) {
	switch {
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

// ebsHandle takes the volume out of forms such as aws://us-east-1a/vol-1.
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

// attachment is how the driver knows the volume of a claim. It is false if the
// volume does not count against any limit. A volume that does not exist yet, or
// is not known, goes by the name of its claim.
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

// volumeAttachment is how the driver knows a volume; a part of it is empty if
// there is no driver.
func volumeAttachment(v *corev1.PersistentVolume) attached {
	if csi := v.Spec.CSI; csi != nil {
		return attached{csi.Driver, csi.VolumeHandle}
	}
	s, ok := volumeSource(&v.Spec.PersistentVolumeSource)
	if !ok {
		return attached{}
	}
	if s.plugin == gcePD && s.handle != "" {
		// The name of a disk is its own within its zone only.
		s.handle = zoneName(v) + "/" + s.handle
	}
	return attached{plugins[s.plugin].driver, s.handle}
}

// zoneName is the label of the zone, or zones, of a volume.
func zoneName(v *corev1.PersistentVolume) string {
	if name := v.Labels[corev1.LabelFailureDomainBetaZone]; name != "" {
		return name
	}
	return v.Labels[corev1.LabelTopologyZone]
}
