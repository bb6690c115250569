package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bindCompleted marks a claim that the volume controller has bound to its volume.
const bindCompleted = "pv.kubernetes.io/bind-completed"

func drivers() []string { return []string{"disk.csi.example.com", "file.csi.example.com"} }

func classNames() []string { return []string{"waits", "zonal", "files", "now", "no-such-class"} }

// drawVolumes gives workloads claims in all states, and nodes limits on what
// they can attach.
func (p *problem) drawVolumes() {
	p.drawClasses()
	for i, pods := range p.someWorkloads(18) {
		shared := p.chance(25)
		for j, pod := range pods {
			name := fmt.Sprintf("data-%d", i)
			if !shared {
				name = fmt.Sprintf("%s-%d", name, j)
			}
			if !shared || j == 0 {
				p.drawClaim(pod.Namespace, name)
			}
			mount(pod, name)
		}
		if p.chance(15) {
			class := pick(p.source, classNames())
			for _, pod := range pods {
				pod.Spec.Volumes = append(pod.Spec.Volumes, scratch(class))
			}
		}
	}
	for i, pod := range p.bound() {
		if p.chance(20) {
			name := fmt.Sprintf("settled-%d", i)
			p.drawClaim(pod.Namespace, name)
			mount(pod, name)
		}
	}
	p.drawAttachLimits()
	p.drawDisks()
}

// drawDisks gives workloads, bound pods and DaemonSets disks without claims.
func (p *problem) drawDisks() {
	for _, pods := range p.someWorkloads(10) {
		disk, own := p.drawDisk(), p.chance(30)
		for i, pod := range pods {
			v := *disk.DeepCopy()
			if own && v.GCEPersistentDisk != nil {
				v.GCEPersistentDisk.PDName = fmt.Sprintf("own-%d", i)
			}
			pod.Spec.Volumes = append(pod.Spec.Volumes, v)
		}
	}
	for _, pod := range append(p.bound(), p.in.DaemonSetPods...) {
		if p.chance(6) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, p.drawDisk())
		}
	}
}

// drawDisk returns one of a few disks, usually for writing.
func (p *problem) drawDisk() corev1.Volume {
	v := corev1.Volume{Name: "disk"}
	name, readOnly := fmt.Sprintf("disk-%d", p.below(2)), p.chance(40)
	switch p.below(5) {
	case 0:
		v.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-" + name, ReadOnly: readOnly}
	case 1:
		v.ISCSI = &corev1.ISCSIVolumeSource{IQN: name, ReadOnly: readOnly}
	case 2:
		v.RBD = &corev1.RBDVolumeSource{CephMonitors: some(p.source, 1, []string{"mon-a", "mon-b"}), RBDPool: "rbd", RBDImage: name, ReadOnly: readOnly}
	default:
		v.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}
	}
	return v
}

func (p *problem) drawClasses() {
	waits, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	class := func(name, driver string, mode *storagev1.VolumeBindingMode, topologies ...corev1.TopologySelectorTerm) {
		p.in.Volumes.Classes = append(p.in.Volumes.Classes, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driver, VolumeBindingMode: mode, AllowedTopologies: topologies,
		})
	}
	class("waits", drivers()[0], &waits)
	class("files", drivers()[1], &waits)
	class("now", drivers()[0], &now)
	var terms []corev1.TopologySelectorTerm
	for range p.between(1, 2) {
		terms = append(terms, corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelTopologyZone, Values: some(p.source, 1, zones())},
		}})
	}
	class("zonal", drivers()[0], &waits, terms...)
}

// drawClaim adds a claim. In half of the cases it is bound to a volume of its own; a few are in a
// state that no pod can use.
func (p *problem) drawClaim(namespace, name string) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Status.Phase = corev1.ClaimPending
	class := pick(p.source, []string{"waits", "waits", "waits", "zonal", "zonal", "zonal", "files", "files", "now", "no-such-class"})
	c.Spec.StorageClassName = &class
	if class == "files" {
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	}
	if p.chance(50) {
		pv := p.drawVolume(namespace + "-" + name)
		pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}
		p.in.Volumes.Volumes = append(p.in.Volumes.Volumes, pv)
		c.Spec.VolumeName = pv.Name
		c.Status.Phase = corev1.ClaimBound
		c.Annotations = map[string]string{bindCompleted: "yes"}
	}
	switch n := p.below(100); {
	case n < 3:
		c.Status.Phase = corev1.ClaimLost
	case n < 6:
		c.DeletionTimestamp = deletedAt()
	case n < 9:
		c.Annotations = nil
	case n < 12:
		c.Spec.VolumeName = "no-such-volume"
	case n < 15:
		return // a pod that is ahead of its claim
	case n < 20:
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	p.in.Volumes.Claims = append(p.in.Volumes.Claims, c)
}

func (p *problem) drawVolume(name string) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Status.Phase = corev1.VolumeBound
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: pick(p.source, drivers()), VolumeHandle: name}
	term := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values},
		}}
	}
	var terms []corev1.NodeSelectorTerm
	switch n := p.below(100); {
	case n < 50:
		terms = append(terms, term(corev1.LabelTopologyZone, pick(p.source, append(zones(), onlyNodes))))
	case n < 65:
		terms = append(terms, term(corev1.LabelTopologyZone, zones()[0]), term(corev1.LabelTopologyZone, zones()[1:]...))
	case n < 75:
		host := "no-such-node"
		if machines := p.machines(); len(machines) > 0 {
			host = p.in.Nodes[pick(p.source, machines)].Name()
		}
		pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt"}}
		terms = append(terms, term(corev1.LabelHostname, host))
	}
	if len(terms) > 0 {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	return pv
}

func mount(pod *corev1.Pod, claim string) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: fmt.Sprintf("volume-%d", len(pod.Spec.Volumes)),
		VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		},
	})
}

func scratch(class string) corev1.Volume {
	return corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			},
		}},
	}}
}

func (p *problem) drawAttachLimits() {
	limits := map[string]map[string]int64{} // by type, as pools share them
	for _, t := range p.catalog {
		if p.chance(40) {
			limits[t.Name] = map[string]int64{drivers()[0]: int64(p.below(4))}
		}
	}
	for _, t := range p.types() {
		if limit, ok := limits[t.Name]; ok {
			t.VolumeAttachmentLimits = map[string]int64{drivers()[0]: limit[drivers()[0]]}
		}
	}
	for _, i := range p.machines() {
		if n := &p.in.Nodes[i]; n.Node != nil && p.chance(50) {
			node := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Node.Name}}
			for _, driver := range some(p.source, 0, drivers()) {
				d := storagev1.CSINodeDriver{Name: driver, NodeID: n.Node.Name}
				if p.chance(80) {
					count := int32(p.below(4))
					d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
				}
				node.Spec.Drivers = append(node.Spec.Drivers, d)
			}
			p.in.Volumes.CSINodes = append(p.in.Volumes.CSINodes, node)
		}
	}
}
