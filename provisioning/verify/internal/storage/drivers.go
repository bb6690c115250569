package storage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// noProvisioner makes no volumes; they have to be created beforehand.
const noProvisioner = "kubernetes.io/no-provisioner"

// NotMade says why no volume that a node can reach is made for a claim, "" if one is made.
func (s *Index) NotMade(c *Claim, class *storagev1.StorageClass, node *corev1.Node) string {
	switch {
	case class.Provisioner == "" || class.Provisioner == noProvisioner:
		return "has no volume that the node can reach, and its storage class makes none"
	case !mayProvision(class, node):
		return "has no volume, and its storage class makes none where the node may be"
	case s.publishes(class) && !s.hasRoom(c, class, node):
		return "has no volume, and its driver publishes no room for one where the node may be"
	}
	return ""
}

// mayProvision says whether a class makes volumes that a node can reach.
func mayProvision(class *storagev1.StorageClass, node *corev1.Node) bool {
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	return slices.ContainsFunc(class.AllowedTopologies, func(term corev1.TopologySelectorTerm) bool {
		for _, want := range term.MatchLabelExpressions {
			value, present := node.Labels[want.Key]
			if !present || !slices.Contains(want.Values, value) {
				return false
			}
		}
		return len(term.MatchLabelExpressions) > 0
	})
}

// publishes says whether the driver of a class publishes where it has room.
func (s *Index) publishes(class *storagev1.StorageClass) bool {
	driver := s.drivers[class.Provisioner]
	return driver != nil && valueOr(driver.Spec.StorageCapacity, false)
}

// publishedBy lists what the driver of a class publishes for it.
func (s *Index) publishedBy(class *storagev1.StorageClass) (all []*storagev1.CSIStorageCapacity) {
	for _, capacity := range s.capacities {
		if s.publishes(class) && capacity != nil && capacity.StorageClassName == class.Name && capacity.NodeTopology != nil {
			all = append(all, capacity)
		}
	}
	return all
}

// hasRoom says whether a driver publishes room for the volume of a claim on a node.
func (s *Index) hasRoom(c *Claim, class *storagev1.StorageClass, node *corev1.Node) bool {
	size, asks := c.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return !asks || slices.ContainsFunc(s.publishedBy(class), func(capacity *storagev1.CSIStorageCapacity) bool {
		limit := capacity.Capacity
		if capacity.MaximumVolumeSize != nil {
			limit = capacity.MaximumVolumeSize
		}
		selector, err := metav1.LabelSelectorAsSelector(capacity.NodeTopology)
		return limit != nil && s.within(size, *limit) && err == nil && selector.Matches(labels.Set(node.Labels))
	})
}

// within compares sizes as all kube-scheduler versions in question do: in whole bytes, exactly, or
// both.
func (s *Index) within(size, limit resource.Quantity) bool {
	if s.kubernetes.Before(minors.StorageCapacities) && limit.Value() < size.Value() {
		return false
	}
	return !s.kubernetes.After(minors.StorageCapacities) || quantity.Compare(size, limit) <= 0
}

// Missing returns the driver of a claim's volume if the CSINode of a node lacks it and the driver
// excludes pods from such nodes; "" otherwise.
func (s *Index) Missing(c *Claim, node string) string {
	name, _, legacy := s.Attachment(c)
	driver := s.drivers[name]
	if driver == nil || !s.kubernetes.After(minors.MissingDrivers) || !valueOr(driver.Spec.PreventPodSchedulingIfMissing, false) ||
		legacy != "" && !s.Migrated(node, legacy) {
		return ""
	}
	if csi := s.csi[node]; csi != nil && slices.ContainsFunc(csi.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == name }) {
		return ""
	}
	return name
}

// Attached are the volumes that a node has attached, by driver and name.
type Attached map[string]map[string]bool

func (a Attached) add(driver, name string) {
	if a[driver] == nil {
		a[driver] = map[string]bool{}
	}
	a[driver][name] = true
}

// Attach adds the volumes of a pod. On an existing node, drivers that replace in-tree plugins count
// only if they do so there. node is "" for any other node.
func (s *Index) Attach(to Attached, pod *corev1.Pod, node string) {
	claims := s.ClaimsOf(pod)
	for i := range claims {
		if claims[i].Claim == nil {
			continue
		}
		driver, name, legacy := s.Attachment(&claims[i])
		if driver != "" && (legacy == "" || node == "" || s.Migrated(node, legacy)) {
			to.add(driver, name)
		}
	}
}

// addAttachment records a VolumeAttachment, if kube-scheduler counts it.
func (s *Index) addAttachment(a *storagev1.VolumeAttachment) {
	volume := s.Volumes[valueOr(a.Spec.Source.PersistentVolumeName, "")]
	if a.Spec.Attacher == "" || volume == nil || volume.Spec.CSI == nil {
		return
	}
	if s.attached[a.Spec.NodeName] == nil {
		s.attached[a.Spec.NodeName] = Attached{}
	}
	s.attached[a.Spec.NodeName].add(a.Spec.Attacher, "volume "+volume.Spec.CSI.VolumeHandle)
}

// Lingering returns the number of volumes of a driver that VolumeAttachments name for a node and
// that used does not contain.
func (s *Index) Lingering(node, driver string, used Attached) (count int) {
	for name := range s.attached[node][driver] {
		if !used[driver][name] {
			count++
		}
	}
	return count
}
