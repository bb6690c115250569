package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// Labels renders the labels of a node because of which it cannot reach a volume.
func (s *Index) Labels(volume *corev1.PersistentVolume, node *corev1.Node) string {
	if selection := s.Reach(volume); selection != nil && !selection.Accepts(node) {
		return selection.Mentions.Text(node)
	}
	return ZoneMentions(Zones(volume)).Text(node)
}

// Zones returns, by label key, the zones and regions that the labels of a volume name.
func Zones(volume *corev1.PersistentVolume) map[string][]string {
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

// ZoneMentions returns the labels that decide whether nodes are in zones.
func ZoneMentions(zones map[string][]string) nodefit.Mentions {
	mentions := nodefit.Mentions{}
	for _, key := range zoneKeys() {
		mentions[key] = append([]string{}, zones[key]...)
	}
	return mentions
}

// InZones says whether a node is in one of some zones. It is true for a node without zone labels,
// because its cluster has one zone.
func InZones(node *corev1.Node, zones map[string][]string) bool {
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
			value, present = node.Labels[stableKey(key)]
		}
		if !present || !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

func stableKey(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return key
}

// Reach returns the node selection of a volume, nil if every node can reach it.
func (s *Index) Reach(volume *corev1.PersistentVolume) *nodefit.Selection {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	required := volume.Spec.NodeAffinity.Required
	if slices.ContainsFunc(required.NodeSelectorTerms, asksField) {
		required = required.DeepCopy()
		for i := range required.NodeSelectorTerms {
			term := &required.NodeSelectorTerms[i]
			if !asksField(*term) {
				continue
			}
			if len(term.MatchExpressions) == 0 {
				return nil
			}
			term.MatchFields = nil
		}
	}
	return s.selections.OfNodes(required)
}

// asksField says whether a term of a volume's node affinity has valid requirements on fields.
// kube-scheduler compares these terms with labels only, so every node satisfies requirements on
// fields.
func asksField(term corev1.NodeSelectorTerm) bool {
	return len(term.MatchFields) > 0 && !slices.ContainsFunc(term.MatchFields, func(f corev1.NodeSelectorRequirement) bool {
		return f.Operator != corev1.NodeSelectorOpIn && f.Operator != corev1.NodeSelectorOpNotIn || len(f.Values) != 1
	})
}

// Mentions returns the labels that decide which volume a claim gets.
func (s *Index) Mentions(c *Claim, class *storagev1.StorageClass) nodefit.Mentions {
	mentions := nodefit.Mentions{}
	for _, term := range class.AllowedTopologies {
		for _, want := range term.MatchLabelExpressions {
			mentions[want.Key] = append(mentions[want.Key], want.Values...)
		}
	}
	s.mentionRoom(class, mentions)
	for _, volume := range s.Static[class.Name] {
		if !c.suits(volume) {
			continue
		}
		if selection := s.Reach(volume); selection != nil {
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

// StaticFor returns the free volume to which kube-scheduler would bind a claim on a node: the one
// reserved for the claim, or the smallest that suits; nil if there is none.
func (s *Index) StaticFor(c *Claim, node *corev1.Node, free func(*corev1.PersistentVolume) bool) *corev1.PersistentVolume {
	var smallest *corev1.PersistentVolume
	for _, volume := range s.Static[s.ClassOf(c.Claim)] {
		if !free(volume) || !c.suits(volume) {
			continue
		}
		selection := s.Reach(volume)
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

// suits says whether a volume satisfies the requirements of a claim, apart from where it is.
func (c *Claim) suits(volume *corev1.PersistentVolume) bool {
	spec := &c.Claim.Spec
	if ref := volume.Spec.ClaimRef; ref != nil && (Key{ref.Namespace, ref.Name}) != c.Key {
		return false
	}
	asked, size := spec.Resources.Requests[corev1.ResourceStorage], volume.Spec.Capacity[corev1.ResourceStorage]
	if quantity.Compare(size, asked) < 0 || volume.DeletionTimestamp != nil || valueOr(spec.VolumeMode, corev1.PersistentVolumeFilesystem) != valueOr(volume.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) {
		return false
	}
	if valueOr(spec.VolumeAttributesClassName, "") != valueOr(volume.Spec.VolumeAttributesClassName, "") {
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
