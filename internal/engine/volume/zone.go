package volume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// zoneLabels are the zone and region labels of a volume, each with the current label that nodes may
// have instead.
var zoneLabels = []struct{ key, current string }{
	{corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone},
	{corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion},
	{corev1.LabelTopologyZone, corev1.LabelTopologyZone},
	{corev1.LabelTopologyRegion, corev1.LabelTopologyRegion},
}

// zone is the requirement of one label of a volume on the node.
type zone struct {
	key, current string
	values       []string // sorted
}

// zonesOf reads the zone and region labels of a volume. A label may list several zones, separated
// by two underscores. A label with an empty zone name in the list is ignored.
func zonesOf(v *corev1.PersistentVolume) []zone {
	var out []zone
	for _, l := range zoneLabels {
		value, ok := v.Labels[l.key]
		if !ok {
			continue
		}
		values := strings.Split(value, "__")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if slices.Contains(values, "") {
			continue
		}
		slices.Sort(values)
		out = append(out, zone{l.key, l.current, slices.Compact(values)})
	}
	return out
}

// requirement returns the requirement on a new node, for the label that new nodes have.
func (z *zone) requirement(v *requirements.Vocabulary) requirements.Requirement {
	key := v.NormalizeKey(z.current)
	values := make([]string, len(z.values))
	for i, value := range z.values {
		values[i] = v.NormalizeValue(key, value)
	}
	return requirements.In(key, values...)
}

// zonesMatch says whether the labels of a node satisfy all zones. A node without any such label
// does: its cluster has one zone only.
func zonesMatch(zones []zone, labels map[string]string) bool {
	labelled := slices.ContainsFunc(zoneLabels, func(l struct{ key, current string }) bool {
		_, ok := labels[l.key]
		return ok
	})
	if !labelled {
		return true
	}
	for i := range zones {
		value, ok := labels[zones[i].key]
		if !ok {
			value, ok = labels[zones[i].current]
		}
		if _, found := slices.BinarySearch(zones[i].values, value); !ok || !found {
			return false
		}
	}
	return true
}
