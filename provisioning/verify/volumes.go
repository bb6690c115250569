package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// storageUse are the storage objects of the input, and which nodes use them so far.
type storageUse struct {
	*storage.Index
	users map[objectKey][]*site                    // by claim: the nodes of its users
	lent  map[string]objectKey                     // by volume: the claim that will be bound to it
	loans map[objectKey][]*corev1.PersistentVolume // by claim: the volumes to which it will be bound
}

func (r *referee) newStorage() storageUse {
	return storageUse{
		Index: storage.New(r.in.Volumes, &r.selections, r.kubernetes),
		users: map[objectKey][]*site{},
		lent:  map[string]objectKey{},
		loans: map[objectKey][]*corev1.PersistentVolume{},
	}
}

// nodeOfClaim is the annotation that names the node which kube-scheduler has selected for a claim
// without a volume.
const nodeOfClaim = "volume.kubernetes.io/selected-node"

// judgeVolumes checks that a site can have each volume of a pod, whichever option is launched.
func (r *referee) judgeVolumes(s *site, p *podInfo, note faultFunc) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	var taken []*corev1.PersistentVolume
	claims := r.storage.ClaimsOf(p.Pod)
	for i := range claims {
		c := &claims[i]
		if c.Fault != "" {
			note(RuleVolumes, p, "its claim %s %s", c.Key.Name, c.Fault)
			continue
		}
		if c.Alone() && len(r.storage.users[c.Key]) > 0 {
			note(RuleVolumes, p, "its claim %s may be used by one pod only, and has one", c.Key.Name)
		}
		if s.node != nil && !s.node.Starting {
			if driver := r.storage.Missing(c, s.node.Node.Name); driver != "" {
				note(RuleVolumes, p, "its claim %s is of driver %s, which keeps pods from nodes without it, and the node does not have it", c.Key.Name, driver)
			}
		}
		if c.Claim.Spec.VolumeName != "" {
			r.judgeBound(s, p, c, note)
			continue
		}
		found, fault := r.provide(s, c, taken)
		if fault != "" {
			note(RuleVolumes, p, "its claim %s %s", c.Key.Name, fault)
		}
		taken = append(taken, found...)
	}
}

// useVolumes records that a pod is bound to a site.
func (r *referee) useVolumes(s *site, p *podInfo) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	st := &r.storage
	claims := st.ClaimsOf(p.Pod)
	for i := range claims {
		c := &claims[i]
		if c.Claim == nil {
			continue
		}
		if c.Fault == "" && c.Claim.Spec.VolumeName == "" && len(st.users[c.Key]) == 0 {
			found, _ := r.provide(s, c, nil)
			for _, volume := range found {
				st.lent[volume.Name] = c.Key
			}
			st.loans[c.Key] = found
		}
		st.users[c.Key] = append(st.users[c.Key], s)
	}
}

// judgeBound checks a claim that has a volume.
func (r *referee) judgeBound(s *site, p *podInfo, c *storage.Claim, note faultFunc) {
	volume := r.storage.Volumes[c.Claim.Spec.VolumeName]
	if volume == nil {
		note(RuleVolumes, p, "its claim %s has volume %s, which is not in the input", c.Key.Name, c.Claim.Spec.VolumeName)
		return
	}
	if ref := volume.Spec.ClaimRef; ref != nil && (objectKey{Namespace: ref.Namespace, Name: ref.Name}) != c.Key {
		note(RuleVolumes, p, "its claim %s has volume %s, which belongs to claim %s/%s", c.Key.Name, volume.Name, ref.Namespace, ref.Name)
		return
	}
	reach := r.storage.Reach(volume)
	if node := r.outOfReach(s, reach); node != nil {
		note(RuleVolumes, p, "volume %s of its claim %s cannot be reached from the node, which may have %s",
			volume.Name, c.Key.Name, reach.Text(node))
	}
}

// outOfReach returns a node that a site may turn out to be and that cannot reach a volume; nil if
// there is none.
func (r *referee) outOfReach(s *site, reach storage.Reach) *corev1.Node {
	nodes := r.outcomes(s, reach.Mentions())
	if at := slices.IndexFunc(nodes, func(node *corev1.Node) bool { return !reach.Admits(node) }); at >= 0 {
		return nodes[at]
	}
	return nil
}

// provide returns the volumes to which a claim without one would be bound, one for each node that
// the site may be, or why it would get none. A claim for which a volume will be made has neither
// volumes nor a fault.
func (r *referee) provide(s *site, c *storage.Claim, taken []*corev1.PersistentVolume) (found []*corev1.PersistentVolume, fault string) {
	class := r.storage.Classes[r.storage.ClassOf(c.Claim)]
	switch {
	case r.storage.ClassOf(c.Claim) == "":
		return nil, "has neither a volume nor a storage class"
	case class == nil:
		return nil, "has no volume, and its storage class " + r.storage.ClassOf(c.Claim) + " is not in the input"
	case class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return nil, "has no volume yet, and its storage class does not wait for a pod to make one"
	}
	chosen, forced := c.Claim.Annotations[nodeOfClaim]
	if forced && (s.node == nil || s.node.Node.Name != chosen) {
		return nil, "waits for its volume on node " + chosen
	}
	if loans := r.storage.loans[c.Key]; len(loans) > 0 {
		for _, volume := range loans {
			if r.outOfReach(s, r.storage.Reach(volume)) != nil {
				return nil, "gets volume " + volume.Name + ", which cannot be reached from the node"
			}
		}
		return nil, ""
	}
	free := func(volume *corev1.PersistentVolume) bool {
		_, lent := r.storage.lent[volume.Name]
		return !lent && !slices.Contains(taken, volume)
	}
	for _, node := range r.outcomes(s, r.storage.Mentions(c, class)) {
		if volume := r.storage.StaticFor(c, node, free); volume != nil && !forced {
			found = append(found, volume)
			continue
		}
		if fault := r.storage.NotMade(c, class, node); fault != "" {
			return found, fault
		}
	}
	return found, r.apartFrom(s, c)
}

// apartFrom returns a fault if a volume made for an earlier pod may be where the site cannot reach
// it. A volume for one node at a time is assumed to be in one zone.
func (r *referee) apartFrom(s *site, c *storage.Claim) string {
	if c.Shared() {
		return ""
	}
	for _, other := range r.storage.users[c.Key] {
		if other != s && !r.sameZone(s, other) {
			return "gets its volume where an earlier pod is, which may be in another zone"
		}
	}
	return ""
}

// judgeAttachments checks that the volumes of pods that go to a site can be attached in addition to
// those attached already.
func (r *referee) judgeAttachments(s *site, there, coming []*podInfo, note faultFunc) {
	if !slices.ContainsFunc(coming, func(p *podInfo) bool { return len(p.Spec.Volumes) > 0 }) {
		return
	}
	present, running, added := storage.Attached{}, storage.Attached{}, storage.Attached{}
	r.attach(present, s, s.present())
	r.attach(running, s, s.bound)
	r.attach(added, s, slices.Concat(there, coming))
	for _, driver := range slices.Sorted(maps.Keys(added)) {
		more := 0
		for name := range added[driver] {
			if !present[driver][name] {
				more++
			}
		}
		limit, limited := r.attachLimit(s, driver)
		total := len(present[driver]) + more
		if s.node != nil {
			total += r.storage.Lingering(s.node.Node.Name, driver, running)
		}
		if limited && more > 0 && int64(total) > limit {
			note(RuleVolumes, nil, "its pods use %d volumes of driver %s, but it can attach %d", total, driver, limit)
		}
	}
}

func (r *referee) attach(to storage.Attached, s *site, pods []*podInfo) {
	node := ""
	if s.node != nil && s.node.Node.Name != nodefit.NewNodeName {
		node = s.node.Node.Name
	}
	for _, p := range pods {
		r.storage.Attach(to, p.Pod, node)
	}
}

// attachLimit returns the least number of volumes of a driver that can be attached to a site. If
// the driver does not run yet, it is the limit of the instance type.
func (r *referee) attachLimit(s *site, driver string) (limit int64, limited bool) {
	least := func(limits map[string]int64) {
		if own, known := limits[driver]; known && (!limited || own < limit) {
			limit, limited = own, true
		}
	}
	if s.node == nil {
		for _, i := range s.family.options {
			least(s.family.pool.stock.options[i].InstanceType.VolumeAttachmentLimits)
		}
		return limit, limited
	}
	if limit, limited, known := r.storage.Limit(s.node.Node.Name, driver); known {
		return limit, limited
	}
	if t := r.typeOf(s.node); t != nil {
		least(t.VolumeAttachmentLimits)
	}
	return limit, limited
}
