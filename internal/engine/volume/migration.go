package volume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// migrated is the affinity of a volume on nodes where its in-tree plugin is served by the CSI
// driver. There kube-scheduler reads the label of the driver instead of the zone label.
type migrated struct {
	plugin string
	affinity
}

// newMigrated returns the migrated affinity, nil for volumes whose affinity does not change.
func newMigrated(v *corev1.PersistentVolume, vocabulary *requirements.Vocabulary) *migrated {
	s, ok := volumeSource(&v.Spec.PersistentVolumeSource)
	if !ok || v.Spec.CSI != nil || plugins[s.plugin].topology == "" {
		return nil
	}
	required := &corev1.NodeSelector{}
	if v.Spec.NodeAffinity != nil && v.Spec.NodeAffinity.Required != nil {
		required = v.Spec.NodeAffinity.Required.DeepCopy()
	}
	zone, region := zoneKeys(required, v.Labels)
	if anyExpression(required, func(r *corev1.NodeSelectorRequirement) bool { return r.Key == zone && len(r.Values) > 0 }) {
		rename(required, zone, plugins[s.plugin].topology)
	} else {
		// The affinity does not mention zones, so the label of the volume decides.
		addZones(required, plugins[s.plugin].topology, v.Labels[zone])
	}
	rename(required, region, corev1.LabelTopologyRegion)
	if len(required.NodeSelectorTerms) == 0 {
		required = nil // an empty selector is refused elsewhere
	}
	return &migrated{plugins[s.plugin].name, selectorAffinity(required, vocabulary)}
}

// zoneKeys returns the keys of zone and region that a volume uses: the current or the deprecated
// ones, as its affinity or else its labels have them.
func zoneKeys(s *corev1.NodeSelector, labels map[string]string) (zone, region string) {
	uses := func(key string) bool {
		return anyExpression(s, func(r *corev1.NodeSelectorRequirement) bool { return r.Key == key })
	}
	_, current := labels[corev1.LabelTopologyZone]
	_, old := labels[corev1.LabelFailureDomainBetaZone]
	switch {
	case uses(corev1.LabelTopologyZone):
	case uses(corev1.LabelFailureDomainBetaZone), !current && old:
		return corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion
	}
	return corev1.LabelTopologyZone, corev1.LabelTopologyRegion
}

func anyExpression(s *corev1.NodeSelector, is func(*corev1.NodeSelectorRequirement) bool) bool {
	for i := range s.NodeSelectorTerms {
		expressions := s.NodeSelectorTerms[i].MatchExpressions
		for j := range expressions {
			if is(&expressions[j]) {
				return true
			}
		}
	}
	return false
}

func rename(s *corev1.NodeSelector, from, to string) {
	for i := range s.NodeSelectorTerms {
		expressions := s.NodeSelectorTerms[i].MatchExpressions
		for j := range expressions {
			if expressions[j].Key == from {
				expressions[j].Key = to
			}
		}
	}
}

// addZones adds a requirement for the zones of a label to every term.
func addZones(s *corev1.NodeSelector, key, label string) {
	var zones []string
	for zone := range strings.SplitSeq(label, "__") {
		if zone = strings.TrimSpace(zone); zone != "" {
			zones = append(zones, zone)
		}
	}
	if len(zones) == 0 {
		return
	}
	if len(s.NodeSelectorTerms) == 0 {
		s.NodeSelectorTerms = make([]corev1.NodeSelectorTerm, 1)
	}
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: zones,
		})
	}
}

// on says whether the plugin is served by its CSI driver on a node.
func (m *migrated) on(n csiNode) bool { return m != nil && slices.Contains(n.migrated, m.plugin) }
