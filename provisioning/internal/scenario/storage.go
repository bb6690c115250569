package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Driver is the CSI driver of storage that names no other.
const Driver = "csi.example.com"

// bindCompleted marks a claim that the volume controller has bound to its volume.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// Volumes are storage objects. The fields are those of provisioning.Volumes,
// to which it can be converted.
type Volumes struct {
	Claims   []*corev1.PersistentVolumeClaim
	Volumes  []*corev1.PersistentVolume
	Classes  []*storagev1.StorageClass
	CSINodes []*storagev1.CSINode

	CSIDrivers           []*storagev1.CSIDriver
	CSIStorageCapacities []*storagev1.CSIStorageCapacity
	VolumeAttachments    []*storagev1.VolumeAttachment
}

// addClass reads a StorageClass. It waits for the first consumer unless the
// text says otherwise.
func (b *builder) addClass(bl block) error {
	waits, immediate := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}, Provisioner: Driver, VolumeBindingMode: &waits}
	err := each(bl, func(l line) error {
		switch l.word {
		case "driver":
			c.Provisioner = l.rest
		case "immediate":
			c.VolumeBindingMode = &immediate
		case "default":
			c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		case "topology":
			term, err := parseTopology(l.rest)
			c.AllowedTopologies = append(c.AllowedTopologies, term)
			return err
		default:
			return unknownOf("driver", "immediate", "default", "topology")
		}
		return nil
	})
	b.world.Volumes.Classes = append(b.world.Volumes.Classes, c)
	return err
}

// parseTopology reads CLAUSES into one of the ORed terms of allowedTopologies.
func parseTopology(text string) (corev1.TopologySelectorTerm, error) {
	var term corev1.TopologySelectorTerm
	reqs, err := plainClauses(text)
	for _, r := range reqs {
		if r.Operator != corev1.NodeSelectorOpIn {
			return term, fmt.Errorf("allowedTopologies list values; %q has none, so write %s in (...)", r.Key, r.Key)
		}
		term.MatchLabelExpressions = append(term.MatchLabelExpressions,
			corev1.TopologySelectorLabelRequirement{Key: r.Key, Values: r.Values})
	}
	return term, err
}

// addVolume reads a PersistentVolume.
func (b *builder) addVolume(bl block) error {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: bl.rest}
	pv.Status.Phase = corev1.VolumeBound
	err := each(bl, func(l line) (err error) {
		switch l.word {
		case "driver":
			if pv.Spec.CSI == nil {
				return fmt.Errorf("a local volume has no driver; leave out one of the two")
			}
			pv.Spec.CSI.Driver = l.rest
		case "local":
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/" + pv.Name}}
		case "labels":
			pv.Labels, err = parseLabels(expand(l.rest))
		case "class":
			pv.Spec.StorageClassName = l.rest
		case "term":
			var term corev1.NodeSelectorTerm
			term, err = parseTerm(l.rest)
			if pv.Spec.NodeAffinity == nil {
				pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
			}
			required := pv.Spec.NodeAffinity.Required
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
		case "free":
			pv.Status.Phase = corev1.VolumeAvailable
		case "deleting":
			pv.DeletionTimestamp = deletedAt()
		default:
			err = unknownOf("driver", "local", "labels", "class", "term", "free", "deleting")
		}
		return err
	})
	b.world.Volumes.Volumes = append(b.world.Volumes.Volumes, pv)
	return err
}

// addDriver reads a CSIDriver.
func (b *builder) addDriver(bl block) error {
	d := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	yes := true
	err := each(bl, func(l line) error {
		switch l.word {
		case "publishes-capacity":
			d.Spec.StorageCapacity = &yes
		case "prevents-if-missing":
			d.Spec.PreventPodSchedulingIfMissing = &yes
		default:
			return unknownOf("publishes-capacity", "prevents-if-missing")
		}
		return nil
	})
	b.world.Volumes.CSIDrivers = append(b.world.Volumes.CSIDrivers, d)
	return err
}

// addCapacity reads a CSIStorageCapacity.
func (b *builder) addCapacity(bl block) error {
	c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: bl.rest}}
	err := each(bl, func(l line) (err error) {
		var amount resource.Quantity
		switch l.word {
		case "class":
			c.StorageClassName = l.rest
		case "left":
			amount, err = resource.ParseQuantity(l.rest)
			c.Capacity = &amount
		case "largest":
			amount, err = resource.ParseQuantity(l.rest)
			c.MaximumVolumeSize = &amount
		case "nodes":
			c.NodeTopology, err = parseSelector(expand(l.rest))
		default:
			err = unknownOf("class", "left", "largest", "nodes")
		}
		return err
	})
	b.world.Volumes.CSIStorageCapacities = append(b.world.Volumes.CSIStorageCapacities, c)
	return err
}

// addAttachment reads a VolumeAttachment.
func (b *builder) addAttachment(bl block) error {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: bl.rest}}
	a.Spec.Attacher = Driver
	err := each(bl, func(l line) error {
		switch l.word {
		case "driver":
			a.Spec.Attacher = l.rest
		case "volume":
			a.Spec.Source.PersistentVolumeName = &l.rest
		case "node":
			a.Spec.NodeName = l.rest
		default:
			return unknownOf("driver", "volume", "node")
		}
		return nil
	})
	b.world.Volumes.VolumeAttachments = append(b.world.Volumes.VolumeAttachments, a)
	return err
}

// addClaims reads a PersistentVolumeClaim, or NAME-1 to NAME-COUNT.
func (b *builder) addClaims(bl block) error {
	name, count, many, err := counted(bl.rest)
	if err != nil {
		return bl.fault("claim %s: %w", name, err)
	}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Status.Phase = corev1.ClaimPending
	annotated := true
	err = each(bl, func(l line) error {
		switch l.word {
		case "class":
			c.Spec.StorageClassName = &l.rest
		case "volume":
			c.Spec.VolumeName = l.rest
			c.Status.Phase = corev1.ClaimBound
		case "unannotated":
			annotated = false
		case "size":
			size, err := resource.ParseQuantity(l.rest)
			c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: size}
			return err
		case "selected":
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": l.rest}
		case "lost":
			c.Status.Phase = corev1.ClaimLost
		case "deleting":
			c.DeletionTimestamp = deletedAt()
		case "namespace":
			c.Namespace = l.rest
		case "mode":
			modes := []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}
			if !slices.Contains(modes, l.rest) {
				return fmt.Errorf("%q is not an access mode; use one of %s", l.rest, strings.Join(modes, ", "))
			}
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(l.rest)}
		default:
			return unknownOf("class", "volume", "size", "unannotated", "selected", "lost", "deleting", "namespace", "mode")
		}
		return nil
	})
	if annotated && c.Spec.VolumeName != "" {
		c.Annotations = map[string]string{bindCompleted: "yes"}
	}
	for i := range count {
		one := c.DeepCopy()
		if many {
			one.Name = fmt.Sprintf("%s-%d", name, i+1)
			one.Spec.VolumeName = strings.ReplaceAll(c.Spec.VolumeName, "*", fmt.Sprint(i+1))
		}
		b.world.Volumes.Claims = append(b.world.Volumes.Claims, one)
	}
	return err
}
