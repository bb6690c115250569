package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// drawCSI adds CSIDrivers, storage capacities, and attached volumes that pods use or have used.
func (p *problem) drawCSI() {
	for _, name := range drivers() {
		d := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if publishes := p.chance(40); p.chance(80) {
			d.Spec.StorageCapacity = &publishes
		}
		if prevents := p.chance(40); p.chance(80) {
			d.Spec.PreventPodSchedulingIfMissing = &prevents
		}
		if p.chance(70) {
			p.in.Volumes.CSIDrivers = append(p.in.Volumes.CSIDrivers, d)
		}
	}
	for i := range p.between(1, 8) {
		p.drawCapacity(i)
	}
	for i, c := range p.in.Volumes.Claims {
		if c.Spec.VolumeName == "" && len(c.Spec.Resources.Requests) == 0 && p.chance(40) {
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: quantity(pick(p.source, []string{"1Gi", "5Gi", "1500m"}))}
		}
		if len(p.in.Nodes) > 0 && p.chance(30) {
			p.drawAttachment(i, c.Spec.VolumeName)
		}
	}
}

// drawCapacity adds the storage capacity that a driver has left somewhere, by zone, host or other
// labels.
func (p *problem) drawCapacity(number int) {
	c := &storagev1.CSIStorageCapacity{
		ObjectMeta:       metav1.ObjectMeta{Namespace: "kube-system", Name: fmt.Sprintf("left-%d", number)},
		StorageClassName: pick(p.source, []string{"waits", "waits", "zonal", "files"}),
	}
	size := func() *resource.Quantity {
		q := quantity(pick(p.source, []string{"2Gi", "10Gi", "100Gi", "1200m"}))
		return &q
	}
	if p.chance(90) {
		c.Capacity = size()
	}
	if p.chance(30) {
		c.MaximumVolumeSize = size()
	}
	in := func(op metav1.LabelSelectorOperator, key string, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	switch n := p.below(100); {
	case n < 45:
		c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: pick(p.source, zones())}}
	case n < 60:
		c.NodeTopology = in(metav1.LabelSelectorOpIn, corev1.LabelTopologyZone, some(p.source, 1, zones())...)
	case n < 75 && len(p.in.Nodes) > 0:
		c.NodeTopology = in(metav1.LabelSelectorOpIn, corev1.LabelHostname, pick(p.source, p.in.Nodes).Name())
	case n < 85:
		c.NodeTopology = in(metav1.LabelSelectorOpNotIn, corev1.LabelTopologyZone, pick(p.source, zones()))
	case n < 95:
		c.NodeTopology = &metav1.LabelSelector{}
	}
	p.in.Volumes.CSIStorageCapacities = append(p.in.Volumes.CSIStorageCapacities, c)
}

// drawAttachment attaches a volume to some node, whether or not a pod there uses it.
func (p *problem) drawAttachment(number int, volume string) {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("attached-%d", number)}}
	a.Spec.Attacher, a.Spec.NodeName = pick(p.source, drivers()), pick(p.source, p.in.Nodes).Name()
	for _, v := range p.in.Volumes.Volumes {
		if v.Name == volume && v.Spec.CSI != nil && p.chance(90) {
			a.Spec.Attacher = v.Spec.CSI.Driver
		}
	}
	if volume != "" {
		a.Spec.Source.PersistentVolumeName = &volume
	}
	p.in.Volumes.VolumeAttachments = append(p.in.Volumes.VolumeAttachments, a)
}
