package provisioning

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// addPorts makes rules of the host ports of classes, and of their disks: two pods
// that clash may not be on one node. A port for all addresses clashes with every
// use of its number; one for a single address with the uses of that address too. A
// disk that is written clashes with every use of it, so that there is nothing to
// say of one that is read.
func (r *rules) addPorts(p *Problem, bound []hostPort) {
	r.firstPort = len(r.node)
	wanted := slices.Clone(bound)
	for c := range p.classes {
		wanted = append(wanted, p.classes[c].ports...)
	}
	slices.SortFunc(wanted, compareHostPorts)
	r.ports = slices.Compact(wanted)
	for range r.ports {
		r.node = append(r.node, nodeRule{Rule: pack.Rule{Kind: pack.Apart}, pods: -1})
	}
	for c := range p.classes {
		for _, part := range r.portParts(p.classes[c].ports) {
			r.duties[c].parts = addPart(r.duties[c].parts, part.Rule, part.Owners, part.Members, part.Both)
		}
	}
}

// portParts is what a pod with some ports counts for.
func (r *rules) portParts(ports []hostPort) []pack.Membership {
	var out []pack.Membership
	if len(ports) == 0 {
		return nil
	}
	for i, p := range r.ports {
		owner, member := 0, 0
		for _, q := range ports {
			if q == p && !p.reads {
				owner = 1
			}
			if !p.reads && q.number == p.number && q.protocol == p.protocol && (p.address == "" || q.address == p.address) {
				member = 1
			}
		}
		if owner+member > 0 {
			out = append(out, pack.Membership{Rule: r.firstPort + i, Owners: owner, Members: member, Both: min(owner, member)})
		}
	}
	return out
}
