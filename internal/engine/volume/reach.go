package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Reach says how far apart the pods may be that share a claim without a volume,
// if each of them is to have the volume in reach, wherever it is made.
type Reach int

const (
	// ReachNode: on one node. The volume is used by one node at a time, or it
	// may be one that exists and is in reach of some nodes only.
	ReachNode Reach = iota
	// ReachZone: in one zone. Several nodes may use the volume at once, and it
	// is made in the zone of its first pod.
	ReachZone
	// ReachAny: anywhere, as the claim is to have a volume that exists and that
	// every node can reach.
	ReachAny
)

// Reach says how far apart the pods may be that share one of the claims in
// Unbound. Of other claims it says ReachAny.
//
// If a node was selected for the volume already, Needs.NodeName is the place
// for all of them, and nothing else is asked: ReachAny.
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
