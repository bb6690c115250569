package volume

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/order"
)

// Disk is a disk that a pod names directly, without a claim.
type Disk struct {
	Name     string // starts with the kind of disk
	ReadOnly bool   // the pod only reads it, and the disk supports several readers
}

// Disks lists the disks that two pods on one node may not both use: EBS volumes, GCE persistent
// disks, iSCSI targets, and Ceph images under each of their monitors. They are sorted, without
// duplicates of name and ReadOnly. A nil pod has none.
func Disks(pod *corev1.Pod) []Disk {
	if pod == nil {
		return nil
	}
	var out []Disk
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if d := v.AWSElasticBlockStore; d != nil {
			out = append(out, Disk{Name: diskName("ebs", d.VolumeID)})
		}
		if d := v.GCEPersistentDisk; d != nil {
			out = append(out, Disk{diskName("gce-pd", d.PDName), d.ReadOnly})
		}
		if d := v.ISCSI; d != nil {
			out = append(out, Disk{diskName("iscsi", d.IQN), d.ReadOnly})
		}
		if d := v.RBD; d != nil {
			for _, monitor := range d.CephMonitors {
				out = append(out, Disk{diskName("rbd", monitor, d.RBDPool, d.RBDImage), d.ReadOnly})
			}
		}
	}
	slices.SortFunc(out, func(a, b Disk) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), order.Bools(a.ReadOnly, b.ReadOnly))
	})
	return slices.Compact(out)
}

// diskName joins parts by a byte that no name contains.
func diskName(parts ...string) string { return strings.Join(parts, "\x00") }
