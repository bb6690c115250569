package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

const (
	// nodeOfClaim is where kube-scheduler writes down which node it has
	// chosen for a claim that has no volume yet.
	nodeOfClaim = "volume.kubernetes.io/selected-node"
	// noProvisioner makes no volumes; somebody makes them beforehand.
	noProvisioner = "kubernetes.io/no-provisioner"
)

// judgeVolumes asks whether each volume of a pod can be had on the site, whatever
// it turns out to be.
func (r *referee) judgeVolumes(s *targetNode, p *podInfo, note noteFunc) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	var taken []*corev1.PersistentVolume
	claims := r.storage.claimsOf(p)
	for i := range claims {
		c := &claims[i]
		if c.fault != "" {
			note(RuleVolumes, "its claim %s %s", c.key.name, c.fault)
			continue
		}
		if c.alone() && len(r.storage.users[c.key]) > 0 {
			note(RuleVolumes, "its claim %s may be used by one pod only, and has one", c.key.name)
		}
		if c.claim.Spec.VolumeName != "" {
			r.judgeBound(s, c, note)
			continue
		}
		found, fault := r.provide(s, c, taken)
		if fault != "" {
			note(RuleVolumes, "its claim %s %s", c.key.name, fault)
		}
		taken = append(taken, found...)
	}
}

// useVolumes notes that a pod has come to a site.
func (r *referee) useVolumes(s *targetNode, p *podInfo) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	st := &r.storage
	claims := st.claimsOf(p)
	for i := range claims {
		c := &claims[i]
		if c.claim == nil {
			continue
		}
		if c.fault == "" && c.claim.Spec.VolumeName == "" && len(st.users[c.key]) == 0 {
			found, _ := r.provide(s, c, nil)
			for _, volume := range found {
				st.lent[volume.Name] = c.key
			}
			st.loans[c.key] = found
		}
		st.users[c.key] = append(st.users[c.key], s)
	}
}

// judgeBound is for a claim that has a volume.
func (r *referee) judgeBound(s *targetNode, c *volumeClaim, note noteFunc) {
	volume := r.storage.volumes[c.claim.Spec.VolumeName]
	if volume == nil {
		note(RuleVolumes, "its claim %s has volume %s, which is not in the input", c.key.name, c.claim.Spec.VolumeName)
		return
	}
	if ref := volume.Spec.ClaimRef; ref != nil && (objectKey{ref.Namespace, ref.Name}) != c.key {
		note(RuleVolumes, "its claim %s has volume %s, which belongs to claim %s/%s", c.key.name, volume.Name, ref.Namespace, ref.Name)
		return
	}
	if node := r.outOfReach(s, volume); node != nil {
		note(RuleVolumes, "volume %s of its claim %s cannot be reached from the node, which may have %s",
			volume.Name, c.key.name, r.volumeLabels(volume, node))
	}
}

// outOfReach is a node that a site may turn out to be and that a volume cannot be
// attached to; nil if there is none.
func (r *referee) outOfReach(s *targetNode, volume *corev1.PersistentVolume) *corev1.Node {
	if selection := r.reachOf(volume); selection != nil {
		for _, node := range r.outcomes(s, selection.Mentions) {
			if !selection.Accepts(node) {
				return node
			}
		}
	}
	zones := r.zonesOf(volume)
	if len(zones) == 0 {
		return nil
	}
	for _, node := range r.outcomes(s, r.zoneMentions(zones)) {
		if !r.inZones(node, zones) {
			return node
		}
	}
	return nil
}

// reachOf is the node selection of a volume; nil if every node will do.
func (r *referee) reachOf(volume *corev1.PersistentVolume) *nodefit.Selection {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	return r.selections.OfNodes(volume.Spec.NodeAffinity.Required)
}

func (r *referee) volumeLabels(volume *corev1.PersistentVolume, node *corev1.Node) string {
	if selection := r.reachOf(volume); selection != nil && !selection.Accepts(node) {
		return selection.Mentions.Text(node)
	}
	return r.zoneMentions(r.zonesOf(volume)).Text(node)
}

// zonesOf are the zones and regions that the labels of a volume name.
func (*referee) zonesOf(volume *corev1.PersistentVolume) map[string][]string {
	var zones map[string][]string
	for _, key := range zoneKeys() {
		value, labelled := volume.Labels[key]
		values := strings.Split(value, "__")
		if !labelled || slices.Contains(values, "") {
			continue
		}
		if zones == nil {
			zones = map[string][]string{}
		}
		zones[key] = values
	}
	return zones
}

func zoneKeys() []string {
	return []string{
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	}
}

func (r *referee) zoneMentions(zones map[string][]string) nodefit.Mentions {
	mentions := nodefit.Mentions{}
	for _, key := range zoneKeys() {
		mentions[key] = append([]string{}, zones[key]...)
	}
	return mentions
}

// inZones is true of a node without zones: there is one for all then.
func (r *referee) inZones(node *corev1.Node, zones map[string][]string) bool {
	anywhere := true
	for _, key := range zoneKeys() {
		if _, present := node.Labels[key]; present {
			anywhere = false
		}
	}
	if anywhere {
		return true
	}
	for key, values := range zones {
		value, present := node.Labels[key]
		if !present {
			value, present = node.Labels[r.stableKey(key)]
		}
		if !present || !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

func (*referee) stableKey(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return key
}

// provide is for a claim without a volume: it says which volumes the claim would
// be bound to, one for each node that the site may be, or why it gets none. A
// claim for which a volume will be made gets none, and no fault.
func (r *referee) provide(s *targetNode, c *volumeClaim, taken []*corev1.PersistentVolume) (found []*corev1.PersistentVolume, fault string) {
	class := r.storage.classes[r.storage.classOf(c.claim)]
	switch {
	case r.storage.classOf(c.claim) == "":
		return nil, "has neither a volume nor a storage class"
	case class == nil:
		return nil, "has no volume, and its storage class " + r.storage.classOf(c.claim) + " is not in the input"
	case class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return nil, "has no volume yet, and its storage class does not wait for a pod to make one"
	}
	chosen, forced := c.claim.Annotations[nodeOfClaim]
	if forced && (s.node == nil || s.node.Node.Name != chosen) {
		return nil, "waits for its volume on node " + chosen
	}
	if len(r.storage.loans[c.key]) > 0 {
		return nil, r.follow(s, c)
	}
	for _, node := range r.outcomes(s, r.claimMentions(c, class)) {
		if volume := r.staticFor(s, c, node, taken); volume != nil && !forced {
			found = append(found, volume)
			continue
		}
		switch {
		case class.Provisioner == "" || class.Provisioner == noProvisioner:
			return found, "has no volume that the node can reach, and its storage class makes none"
		case !r.mayProvision(class, node):
			return found, "has no volume, and its storage class makes none where the node may be"
		}
	}
	return found, r.apartFrom(s, c)
}

// follow is for a claim that gets a volume for the sake of an earlier pod.
func (r *referee) follow(s *targetNode, c *volumeClaim) string {
	for _, volume := range r.storage.loans[c.key] {
		if r.outOfReach(s, volume) != nil {
			return "gets volume " + volume.Name + ", which cannot be reached from the node"
		}
	}
	return ""
}

// apartFrom says whether a volume that is made for an earlier pod may be where the
// site cannot reach it. Those that only one node may use at a time are taken to be
// in one zone.
func (r *referee) apartFrom(s *targetNode, c *volumeClaim) string {
	if c.shared() {
		return ""
	}
	zone := r.glanceAt(corev1.LabelTopologyZone)
	here := r.view(zone, s)
	for _, other := range r.storage.users[c.key] {
		if other == s {
			continue
		}
		if there := r.view(zone, other); !here.sure || !there.sure || here.values[0] != there.values[0] {
			return "gets its volume where an earlier pod is, which may be in another zone"
		}
	}
	return ""
}

// claimMentions are the labels that decide which volume a claim gets.
func (r *referee) claimMentions(c *volumeClaim, class *storagev1.StorageClass) nodefit.Mentions {
	mentions := nodefit.Mentions{}
	for _, term := range class.AllowedTopologies {
		for _, want := range term.MatchLabelExpressions {
			mentions[want.Key] = append(mentions[want.Key], want.Values...)
		}
	}
	for _, volume := range r.storage.static[class.Name] {
		if !r.suits(c, volume) {
			continue
		}
		if selection := r.reachOf(volume); selection != nil {
			for key, values := range selection.Mentions {
				mentions[key] = append(mentions[key], values...)
			}
		}
	}
	for key, values := range mentions {
		slices.Sort(values)
		mentions[key] = slices.Compact(values)
	}
	return mentions
}

func (r *referee) mayProvision(class *storagev1.StorageClass, node *corev1.Node) bool {
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

// staticFor is the volume that kube-scheduler would bind a claim to on a node:
// the one that is set aside for it, or the smallest that suits.
func (r *referee) staticFor(s *targetNode, c *volumeClaim, node *corev1.Node, taken []*corev1.PersistentVolume) *corev1.PersistentVolume {
	var smallest *corev1.PersistentVolume
	for _, volume := range r.storage.static[r.storage.classOf(c.claim)] {
		_, lent := r.storage.lent[volume.Name]
		if lent || slices.Contains(taken, volume) || !r.suits(c, volume) {
			continue
		}
		selection := r.reachOf(volume)
		reached := selection == nil || selection.Accepts(node)
		if volume.Spec.ClaimRef != nil {
			if !reached {
				return nil
			}
			return volume
		}
		if reached && smallest == nil {
			smallest = volume
		}
	}
	return smallest
}

// suits says whether a volume is what a claim asks for, wherever it is.
func (r *referee) suits(c *volumeClaim, volume *corev1.PersistentVolume) bool {
	spec := &c.claim.Spec
	if ref := volume.Spec.ClaimRef; ref != nil && (objectKey{ref.Namespace, ref.Name}) != c.key {
		return false
	}
	asked, size := spec.Resources.Requests[corev1.ResourceStorage], volume.Spec.Capacity[corev1.ResourceStorage]
	if size.Cmp(asked) < 0 || volume.DeletionTimestamp != nil || r.mode(spec.VolumeMode) != r.mode(volume.Spec.VolumeMode) {
		return false
	}
	if r.text(spec.VolumeAttributesClassName) != r.text(volume.Spec.VolumeAttributesClassName) {
		return false
	}
	if volume.Spec.ClaimRef != nil {
		return true
	}
	if spec.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
		if err != nil || !selector.Matches(labels.Set(volume.Labels)) {
			return false
		}
	}
	for _, mode := range spec.AccessModes {
		if !slices.Contains(volume.Spec.AccessModes, mode) {
			return false
		}
	}
	return volume.Status.Phase == corev1.VolumeAvailable
}

func (*referee) mode(mode *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if mode == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *mode
}

func (*referee) text(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// migratedPlugins is where a CSINode lists the volume plugins of Kubernetes that
// drivers have taken over from.
const migratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins"

// attachments are the volumes of a site, by driver and their own name.
type attachments map[string]map[string]bool

// checkAttachments counts the volumes of each node that gets more of them.
func (r *referee) checkAttachments() {
	for _, s := range r.sites {
		if slices.ContainsFunc(s.placed, func(p *podInfo) bool { return len(p.Spec.Volumes) > 0 }) {
			r.judgeAttachments(s, s.placed, func(rule Rule, format string, args ...any) {
				r.report(rule, s.name, "", format, args...)
			})
		}
	}
}

// judgeAttachments asks whether volumes of pods that come to a site can be
// attached beside those that are.
func (r *referee) judgeAttachments(s *targetNode, coming []*podInfo, note noteFunc) {
	present, added := attachments{}, attachments{}
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

func (r *referee) attach(to attachments, s *targetNode, pods []*podInfo) {
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
func (r *referee) migrated(s *targetNode, legacy string) bool {
	if s.node == nil || s.node.Node.Name == nodefit.NewNodeName {
		return true
	}
	csi := r.storage.csi[s.node.Node.Name]
	return csi != nil && slices.Contains(strings.Split(csi.Annotations[migratedPlugins], ","), legacy)
}

// attachLimit is how many volumes of a driver can be attached to a site, at least.
// Where the driver is not there yet, the instance type has the say.
func (r *referee) attachLimit(s *targetNode, driver string) (limit int64, limited bool) {
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
	if csi := r.storage.csi[s.node.Node.Name]; csi != nil {
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
	for _, t := range r.in.InstanceTypes[s.node.Pool] {
		if t != nil && t.Name == s.node.Node.Labels[corev1.LabelInstanceTypeStable] {
			least(t.VolumeAttachmentLimits)
		}
	}
	return limit, limited
}
