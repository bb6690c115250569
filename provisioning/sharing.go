package provisioning

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// noCompany says why pods find no node with others that they must be with.
func (p *Problem) noCompany(with []term) *Reason {
	if r := p.sharedVolume(with); r != nil {
		return r
	}
	return &Reason{Cause: CauseAffinity, Detail: fmt.Sprintf(
		"its required pod affinity over %s asks for a node where matching pods are, and no such node has room for it", corev1.LabelHostname)}
}

// sharedVolume says why pods of a class find no place with others that they share a
// claim with, nil if they share none.
func (p *Problem) sharedVolume(terms []term) *Reason {
	i := slices.IndexFunc(terms, func(t term) bool { return t.storage })
	if i < 0 {
		return nil
	}
	claim, where := p.rules.selections[terms[i].pods].claim, "zone"
	if terms[i].key == corev1.LabelHostname {
		where = "node"
	}
	return &Reason{Cause: CauseVolumes, Detail: "claim " + claim + " gets its volume in the " + where +
		" of the other pods that use it, and there is no room for this one; there may be once the claim is bound"}
}
