package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// presence requires a driver on a node. If plugin is set, it applies only where the driver serves
// that in-tree plugin.
type presence struct{ driver, plugin string }

// want records that a node must have the driver of a volume, if the driver excludes pods from nodes without it.
func (g *gatherer) want(p presence) {
	d := g.x.drivers[p.driver]
	excludes := g.x.kubernetes.After(minors.MissingDrivers) && d != nil &&
		d.Spec.PreventPodSchedulingIfMissing != nil && *d.Spec.PreventPodSchedulingIfMissing
	if excludes && !slices.Contains(g.needs.present, p) {
		g.needs.present = append(g.needs.present, p)
	}
}

// pluginOf returns the in-tree plugin of a claim's volume, "" if it has none.
func (x *Index) pluginOf(c *corev1.PersistentVolumeClaim) string {
	if v := x.volumes[c.Spec.VolumeName]; v != nil {
		if s, ok := volumeSource(&v.Spec.PersistentVolumeSource); ok && v.Spec.CSI == nil {
			return plugins[s.plugin].name
		}
		return ""
	}
	class := x.classes[x.claimClass(c)]
	for _, p := range plugins {
		if class != nil && class.Provisioner == p.name {
			return p.name
		}
	}
	return ""
}

// lacks says whether a node lacks a required driver.
func (n csiNode) lacks(p presence) bool {
	if p.plugin != "" && !slices.Contains(n.migrated, p.plugin) {
		return false
	}
	_, has := n.limits[p.driver]
	return !has
}

// setAttached indexes the CSI volumes attached to each node.
func (x *Index) setAttached(list []*storagev1.VolumeAttachment) {
	x.attached = map[string][]attached{}
	for _, a := range list {
		name := a.Spec.Source.PersistentVolumeName
		if a.Spec.Attacher == "" || name == nil {
			continue
		}
		v := x.volumes[*name]
		if v == nil || v.Spec.CSI == nil {
			continue
		}
		on := attached{a.Spec.Attacher, v.Spec.CSI.VolumeHandle}
		if node := a.Spec.NodeName; !slices.Contains(x.attached[node], on) {
			x.attached[node] = append(x.attached[node], on)
		}
	}
}

// Lingering counts, by driver, the volumes that VolumeAttachments name for a node and that none of
// its pods uses. kube-scheduler counts them against the limits of the node, and once more for a pod
// that will use one of them.
func (x *Index) Lingering(node string, pods ...*corev1.Pod) map[string]int64 {
	if len(x.attached[node]) == 0 {
		return nil
	}
	used := map[attached]bool{}
	for a := range x.attachedBy(pods) {
		used[a] = true
	}
	out := map[string]int64{}
	for _, a := range x.attached[node] {
		if !used[a] {
			out[a.driver]++
		}
	}
	return out
}
