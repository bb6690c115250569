// Package nodeindex finds the Node of a NodeClaim.
package nodeindex

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Index finds the Nodes of NodeClaims. New makes it.
type Index struct{ byName, byID map[string]*corev1.Node }

// New returns an index of Nodes. It passes over nil.
func New(nodes []*corev1.Node) Index {
	x := Index{map[string]*corev1.Node{}, map[string]*corev1.Node{}}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		x.byName[n.Name] = n
		if id := n.Spec.ProviderID; id != "" && (x.byID[id] == nil || n.Name < x.byID[id].Name) {
			x.byID[id] = n
		}
	}
	return x
}

// Of returns the Node of a NodeClaim, or nil. It is the Node with the provider ID of the claim; of several
// such Nodes the one that status.nodeName names, or else the first by name. If no Node has that ID, it is
// the Node that status.nodeName names, unless that Node has the ID of another machine: the name of
// a Node may be used again while the claim of the machine before is still there.
func (x Index) Of(claim *v1.NodeClaim) *corev1.Node {
	named, same := x.byName[claim.Status.NodeName], (*corev1.Node)(nil)
	if id := claim.Status.ProviderID; id != "" {
		same = x.byID[id]
	}
	if named == nil || OtherMachine(claim, named) || same != nil && named.Spec.ProviderID == "" {
		return same
	}
	return named
}

// OtherMachine says whether a Node is certainly not of the machine of a NodeClaim: both have a provider ID,
// and not the same.
func OtherMachine(claim *v1.NodeClaim, node *corev1.Node) bool {
	return claim.Status.ProviderID != "" && node.Spec.ProviderID != "" && claim.Status.ProviderID != node.Spec.ProviderID
}
