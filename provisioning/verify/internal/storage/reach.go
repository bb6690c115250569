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

// Reach says which nodes can reach a volume: those that its node affinity selects, in its zones.
type Reach struct {
	selection *nodefit.Selection  // nil if the volume has no node affinity
	zones     map[string][]string // by label key: the zones and regions that the labels of the volume name
}

// Reach returns the reach of a volume.
func (s *Index) Reach(volume *corev1.PersistentVolume) Reach {
	r := Reach{selection: s.affinity(volume), zones: map[string][]string{}}
	for key := range stableKeys() {
		value, labelled := volume.Labels[key]
		if values := strings.Split(value, "__"); labelled && !slices.Contains(values, "") {
			r.zones[key] = values
		}
	}
	return r
}

// stableKeys returns, by label key of zones and regions, the key that replaces it.
func stableKeys() map[string]string {
	return map[string]string{
		corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
		corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		corev1.LabelTopologyZone:            corev1.LabelTopologyZone,
		corev1.LabelTopologyRegion:          corev1.LabelTopologyRegion,
	}
}

// Mentions returns the labels that decide whether a node can reach the volume.
func (r Reach) Mentions() nodefit.Mentions {
	if r.selection == nil {
		return r.zoneMentions()
	}
	return nodefit.Join(r.zoneMentions(), r.selection.Mentions)
}

func (r Reach) zoneMentions() nodefit.Mentions {
	mentions := nodefit.Mentions{}
	if len(r.zones) > 0 {
		for key := range stableKeys() {
			mentions[key] = r.zones[key]
		}
	}
	return mentions
}

// Admits says whether a node can reach the volume. A node without zone labels is in every zone,
// because its cluster has one zone.
func (r Reach) Admits(node *corev1.Node) bool {
	if r.selection != nil && !r.selection.Accepts(node) {
		return false
	}
	keys := stableKeys()
	zoned := false
	for key := range keys {
		_, present := node.Labels[key]
		zoned = zoned || present
	}
	for key, values := range r.zones {
		value, present := node.Labels[key]
		if !present {
			value, present = node.Labels[keys[key]]
		}
		if zoned && (!present || !slices.Contains(values, value)) {
			return false
		}
	}
	return true
}

// Text renders the labels of a node that cannot reach the volume.
func (r Reach) Text(node *corev1.Node) string {
	if r.selection != nil && !r.selection.Accepts(node) {
		return r.selection.Mentions.Text(node)
	}
	return r.zoneMentions().Text(node)
}

// affinity returns the node selection of a volume, nil if it has none.
func (s *Index) affinity(volume *corev1.PersistentVolume) *nodefit.Selection {
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
	var all []nodefit.Mentions
	for _, term := range class.AllowedTopologies {
		for _, want := range term.MatchLabelExpressions {
			all = append(all, nodefit.Mentions{want.Key: want.Values})
		}
	}
	for _, capacity := range s.publishedBy(class) {
		for key, value := range capacity.NodeTopology.MatchLabels {
			all = append(all, nodefit.Mentions{key: {value}})
		}
		for _, want := range capacity.NodeTopology.MatchExpressions {
			all = append(all, nodefit.Mentions{want.Key: want.Values})
		}
	}
	for _, volume := range s.Static[class.Name] {
		if selection := s.affinity(volume); selection != nil && c.suits(volume) {
			all = append(all, selection.Mentions)
		}
	}
	return nodefit.Join(all...)
}

// StaticFor returns the free volume to which kube-scheduler would bind a claim on a node: the one
// reserved for the claim, or the smallest that suits; nil if there is none.
func (s *Index) StaticFor(c *Claim, node *corev1.Node, free func(*corev1.PersistentVolume) bool) *corev1.PersistentVolume {
	var smallest *corev1.PersistentVolume
	for _, volume := range s.Static[s.ClassOf(c.Claim)] {
		if !free(volume) || !c.suits(volume) {
			continue
		}
		selection := s.affinity(volume)
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
