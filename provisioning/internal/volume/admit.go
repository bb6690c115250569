package volume

import (
	corev1 "k8s.io/api/core/v1"
)

// Admits says whether a node that exists has the name and the labels that the
// Needs ask for. The labels are all there are and are compared as they stand,
// which is what kube-scheduler does; so a node that has not started, and has no
// labels of CSI drivers yet, may be refused by Admits although it will do once
// it is ready. The Alternatives tell.
//
// Limits of attachments, Exclusive claims and Disks are not looked at.
//
// The Needs must be from the same Index. The name of the node finds its CSINode,
// which tells whether old types of volumes are served by CSI drivers there.
func (x *Index) Admits(n *Needs, node string, labels map[string]string) bool {
	if n.NodeName != "" && n.NodeName != node {
		return false
	}
	for i := range n.bound {
		b := &n.bound[i]
		at := &b.affinity
		if b.migrated.on(x.nodes[node]) {
			at = &b.migrated.affinity
		}
		if !at.matches(labels) {
			return false
		}
	}
	return zonesMatch(n.zones, labels) && serve(n.unbound, labels)
}

// serve says whether a node can have a volume for each claim, as kube-scheduler
// goes about it: from the smallest claim to the largest each takes the smallest
// free volume in reach, and one that finds none gets a new one if its class
// makes volumes there.
func serve(claims []unbound, labels map[string]string) bool {
	taken := map[*corev1.PersistentVolume]bool{}
	for i := range claims {
		u := &claims[i]
		found := false
		for _, c := range u.candidates {
			if !taken[c.volume] && c.matches(labels) {
				taken[c.volume] = true
				found = true
				break
			}
		}
		if !found && (u.made == nil || !u.made.matches(labels)) {
			return false
		}
	}
	return true
}
