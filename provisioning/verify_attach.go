package provisioning

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// refereeMigrated is where a CSINode lists the volume plugins of Kubernetes that
// drivers have taken over from.
const refereeMigrated = "storage.alpha.kubernetes.io/migrated-plugins"

// refereeAttachments are the volumes of a site, by driver and their own name.
type refereeAttachments map[string]map[string]bool

// checkAttachments counts the volumes of each node that gets more of them.
func (r *referee) checkAttachments() {
	for _, s := range r.sites {
		if slices.ContainsFunc(s.placed, func(p *refereePod) bool { return len(p.Spec.Volumes) > 0 }) {
			r.judgeAttachments(s, s.placed, func(rule Rule, format string, args ...any) {
				r.report(rule, s.name, "", format, args...)
			})
		}
	}
}

// judgeAttachments asks whether volumes of pods that come to a site can be
// attached beside those that are.
func (r *referee) judgeAttachments(s *refereeSite, coming []*refereePod, note refereeNote) {
	present, added := refereeAttachments{}, refereeAttachments{}
	switch {
	case s.node != nil:
		r.attach(present, s, s.node.bound)
		r.attach(present, s, r.comingDaemons(s.node))
	default:
		r.attach(present, s, s.family.always)
		r.attach(present, s, s.family.perhaps)
	}
	r.attach(added, s, coming)
	for _, driver := range slices.Sorted(maps.Keys(added)) {
		more := 0
		for name := range added[driver] {
			if !present[driver][name] {
				more++
			}
		}
		limit, limited := r.attachLimit(s, driver)
		if total := len(present[driver]) + more; limited && more > 0 && int64(total) > limit {
			note(RuleVolumes, "its pods use %d volumes of driver %s, but it can attach %d", total, driver, limit)
		}
	}
}

func (r *referee) attach(to refereeAttachments, s *refereeSite, pods []*refereePod) {
	for _, p := range pods {
		if len(p.Spec.Volumes) == 0 {
			continue
		}
		claims := r.storage.claimsOf(p)
		for i := range claims {
			if claims[i].claim == nil {
				continue
			}
			driver, name, legacy := r.storage.attachment(&claims[i])
			if driver == "" || legacy != "" && !r.migrated(s, legacy) {
				continue
			}
			if to[driver] == nil {
				to[driver] = map[string]bool{}
			}
			to[driver][name] = true
		}
	}
}

// migrated says whether a CSI driver has taken over from a plugin on a node. On
// nodes that are to come it has.
func (r *referee) migrated(s *refereeSite, legacy string) bool {
	if s.node == nil || s.node.node.Name == refereeNewName {
		return true
	}
	csi := r.storage.csi[s.node.node.Name]
	return csi != nil && slices.Contains(strings.Split(csi.Annotations[refereeMigrated], ","), legacy)
}

// attachLimit is how many volumes of a driver can be attached to a site, at least.
// Where the driver is not there yet, the instance type has the say.
func (r *referee) attachLimit(s *refereeSite, driver string) (limit int64, limited bool) {
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
	if csi := r.storage.csi[s.node.node.Name]; csi != nil {
		for _, d := range csi.Spec.Drivers {
			if d.Name != driver {
				continue
			}
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				return int64(*d.Allocatable.Count), true
			}
			return 0, false
		}
	}
	for _, t := range r.in.InstanceTypes[s.node.pool] {
		if t != nil && t.Name == s.node.node.Labels[corev1.LabelInstanceTypeStable] {
			least(t.VolumeAttachmentLimits)
		}
	}
	return limit, limited
}
