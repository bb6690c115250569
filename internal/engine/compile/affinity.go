package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// TogetherOverNodes lists the distinct selections of required affinities over the hostname.
func (p *Problem) TogetherOverNodes() []int {
	var out []int
	for c := range p.Classes {
		for _, t := range p.Rules.ByClass[c].With {
			if !slices.Contains(out, t.Pods) {
				out = append(out, t.Pods)
			}
		}
		for _, s := range p.followed[c] {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// noteMember records, for each selection of an affinity over the hostname, whether any of its pods is
// running, and on which nodes: a pod of the selections members is, or may be, on a node.
func (x *baseline) noteMember(n *model.Existing, index int, members bitset.Set, sure bool) {
	for _, s := range x.together {
		if !members.Has(s) {
			continue
		}
		x.p.Running[s] = true
		_, named := n.Standing.Labels[corev1.LabelHostname]
		if index < 0 || !sure || !named && x.r.selections[s].Claim == "" {
			continue
		}
		if x.p.Beside[s] == nil {
			x.p.Beside[s] = make([]bool, len(x.p.Nodes))
		}
		x.p.Beside[s][index] = true
	}
}

// dropCoveredAffinity removes affinities over other labels from classes that have one to the same
// pods over the hostname: pods on one node are also in one zone.
func (r *Rules) dropCoveredAffinity(d *ClassRules) {
	if len(d.With) == 0 {
		return
	}
	d.Owns = slices.DeleteFunc(d.Owns, func(o int) bool {
		same := func(t workload.Term) bool { return t.Pods == r.Domain[o].Term.Pods }
		return r.Domain[o].Kind == topology.Together && slices.ContainsFunc(d.With, same)
	})
	d.Spans = nil
	for _, o := range d.Owns {
		d.Span(r.Domain[o].Term.Key)
	}
}
