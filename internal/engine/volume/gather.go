package volume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// bound is a claim bound to its volume.
type bound struct {
	affinity
	migrated *migrated
}

// unbound is a claim that is bound when the pod is placed.
type unbound struct {
	id         string
	claim      string // as namespace/name, if other pods can use it
	many       bool   // several nodes may use the volume at once
	size       resource.Quantity
	candidates []*candidate // existing volumes that match, smallest first
	made       *affinity    // where the class can make a volume; nil if it makes none
}

// gatherer collects the requirements of the volumes of a pod.
type gatherer struct {
	*reasons
	x       *Index
	needs   Needs
	attach  attachments
	factors []factor // requirements of bound claims
	pending []unbound
}

// claim adds the requirements of a claim.
func (g *gatherer) claim(c *corev1.PersistentVolumeClaim, of *corev1.Volume, kind kind) {
	id := call(c.Namespace, c.Name)
	if kind == ephemeral {
		// The name of the claim contains that of the pod, and errors should be equal for all pods
		// that are alike.
		id = fmt.Sprintf("ephemeral volume %q", of.Name)
	}
	v := g.x.volumes[c.Spec.VolumeName]
	_, complete := c.Annotations[bindCompleted]
	switch {
	case c.Spec.VolumeName == "":
		g.unbound(c, id, kind)
	case !complete:
		g.add("%s asks for volume %q and is not bound to it yet; wait for that, or see whether the two match",
			id, c.Spec.VolumeName)
	case v == nil:
		g.add("%s is bound to volume %q, which does not exist; bring the volume back or create the claim anew",
			id, c.Spec.VolumeName)
	default:
		g.bound(v, id, kind)
	}
}

// bound adds the requirements of a volume bound to a claim. The labels of the volume count only if
// the pod names the claim: kube-scheduler does not read those of ephemeral volumes.
func (g *gatherer) bound(v *corev1.PersistentVolume, id string, kind kind) {
	b := bound{volumeAffinity(v, g.x.vocabulary), newMigrated(v, g.x.vocabulary)}
	if b.nowhere() {
		g.add("%s: the node affinity of volume %q admits no node%s; correct the volume", id, v.Name, b.detail())
	}
	f := factor{id: id, sets: b.launch}
	g.needs.bound = append(g.needs.bound, b)
	if kind == named {
		zones := zonesOf(v)
		g.needs.zones = append(g.needs.zones, zones...)
		var asked requirements.Set
		for i := range zones {
			asked = asked.With(zones[i].requirement(g.x.vocabulary))
		}
		f.sets = cross(f.sets, asked)
	}
	g.factors = append(g.factors, f)
}

// unbound adds the requirements of a claim without a volume.
func (g *gatherer) unbound(c *corev1.PersistentVolumeClaim, id string, kind kind) {
	class := g.waitingClass(c, id)
	if class == nil {
		return
	}
	u := unbound{id: id, size: requested(c)}
	node, chosen := c.Annotations[SelectedNode]
	if chosen {
		g.selected(id, node)
	} else {
		var err error
		if u.candidates, err = g.x.candidates(c); err != nil {
			g.add("%s: spec.selector: %s; correct it", id, oneLine(err))
			return
		}
	}
	var room *affinity
	if provisions(class) {
		made := topologyAffinity(class.AllowedTopologies, g.x.vocabulary)
		if room = g.x.withRoom(c, class); room != nil && !made.nowhere() {
			made = made.and(room)
		}
		u.made = &made
	}
	switch {
	case room != nil && room.nowhere() && len(u.candidates) == 0:
		g.add("%s: no CSIStorageCapacity of StorageClass %q has room for a volume of %s on any node; "+
			"ask for less, or wait for driver %s to publish more", id, class.Name, quantity.Text(u.size), class.Provisioner)
	case u.made == nil && chosen:
		g.add("%s was to get a new volume on node %q, but StorageClass %q makes none; remove the annotation %s",
			id, node, class.Name, SelectedNode)
	case u.made == nil && len(u.candidates) == 0:
		g.add("%s: no free volume matches it, and StorageClass %q makes none; create a volume of %s or more that matches",
			id, class.Name, quantity.Text(u.size))
	case u.made != nil && u.made.nowhere() && len(u.candidates) == 0:
		g.add("%s: allowedTopologies of StorageClass %q admit no node%s; correct the class", id, class.Name, u.made.detail())
	}
	if kind == named {
		u.claim, u.many = key(c.Namespace, c.Name), manyNodes(c)
		g.needs.Unbound = append(g.needs.Unbound, u.claim)
	}
	g.pending = append(g.pending, u)
}

// waitingClass returns the StorageClass of a claim without a volume. It returns nil and adds a
// reason if the claim must be bound before the pod can be placed.
func (g *gatherer) waitingClass(c *corev1.PersistentVolumeClaim, id string) *storagev1.StorageClass {
	name := g.x.claimClass(c)
	class := g.x.classes[name]
	switch {
	case name == "" && !namesClass(c):
		g.add("%s names no StorageClass and none is the default; name one, or mark one as the default", id)
	case name == "":
		g.add("%s is not bound, and it asks for no StorageClass that could make a volume; create a volume that matches it", id)
	case class == nil:
		g.add("%s: StorageClass %q is not found; create it or name another", id, name)
	case !waits(class):
		g.add("%s is not bound, and StorageClass %q does not wait for a pod to bind it; see the events of the claim, "+
			"or use a class with volumeBindingMode WaitForFirstConsumer", id, name)
		return nil
	}
	return class
}

// selected restricts the pod to the node that was selected for one of its claims.
func (g *gatherer) selected(id, node string) {
	switch {
	case node == "":
		g.add("%s: the annotation %s names no node; remove it", id, SelectedNode)
	case g.needs.NodeName != "" && g.needs.NodeName != node:
		g.add("%s is to get its volume on node %q, and another claim of the pod on node %q; remove the annotation %s from one",
			id, node, g.needs.NodeName, SelectedNode)
	case g.needs.NodeName == "":
		g.needs.NodeName, g.needs.Selected = node, id
	}
}

// inline adds a volume without a claim.
func (g *gatherer) inline(v *corev1.Volume) {
	s, ok := inlineSource(&v.VolumeSource)
	switch {
	case !ok:
	case s.err != nil:
		g.add("volume %q: %s", v.Name, oneLine(s.err))
	default:
		a := inlineAttachment(s)
		g.attach.addShared(a)
		g.want(presence{a.driver, plugins[s.plugin].name})
	}
}
