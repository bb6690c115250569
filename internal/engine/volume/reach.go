package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Reach says how far apart pods that share a claim without a volume may be so that each can reach
// the volume, wherever it is made.
type Reach int

const (
	// ReachNode: on one node. The volume can be used by one node at a time, or it may be an
	// existing one that only some nodes can reach.
	ReachNode Reach = iota
	// ReachZone: in one zone. Several nodes may use the volume at once, and it is made in the zone
	// of its first pod.
	ReachZone
	// ReachAny: anywhere, because the claim gets an existing volume that every node can reach.
	ReachAny
)

// Reach returns how far apart pods that share one of the claims in Unbound may be. For other claims
// it returns ReachAny.
//
// If a node was selected for the volume, Needs.NodeName restricts all these pods, and Reach returns
// ReachAny.
func (n *Needs) Reach(claim string) Reach {
	i := slices.IndexFunc(n.unbound, func(u unbound) bool { return u.claim == claim })
	switch {
	case i < 0 || n.NodeName != "":
		return ReachAny
	case !n.unbound[i].many:
		return ReachNode
	case len(n.unbound[i].candidates) == 0:
		return ReachZone
	}
	all := everywhere()
	anywhere := all.text()
	for _, c := range n.unbound[i].candidates {
		if c.place != anywhere {
			return ReachNode
		}
	}
	return ReachAny
}

// manyNodes says whether several nodes may use the volume of a claim at once.
func manyNodes(c *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(c.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteMany || mode == corev1.ReadOnlyMany
	})
}
