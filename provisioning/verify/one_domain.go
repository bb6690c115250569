package verify

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// checkOneDomain reports new nodes with several possible domains of a label over which a hard
// constraint counts one of their pods, or has one of them as its owner. Such a node has to be in
// one domain, so that its options do not change what the constraint counts. Nodes of a NodePool
// with minValues are exempt, because minValues may demand several domains.
func (r *referee) checkOneDomain() {
	for _, s := range r.sites {
		if s.fresh == nil || r.countsValues(s.fresh.pool) {
			continue
		}
		seen := map[*keyView]bool{}
		for _, p := range slices.Concat(s.placed, s.family.always, s.family.perhaps) {
			for _, c := range slices.Concat(p.constraints(), r.counters.of(p).counters) {
				rule, views := c.about()
				for _, g := range views {
					if g.key == corev1.LabelHostname || seen[g] {
						continue
					}
					seen[g] = true
					if v := r.view(g, s); len(v.values) > 0 && !v.sure {
						r.report(rule, s.name, p.key.String(), "a constraint over %s counts the pod, so the node has to be in one domain of it, but its options leave open: %s",
							g.key, strings.Join(v.values, ", "))
					}
				}
			}
		}
	}
}

// constraints are the hard constraints of a pod over topology domains.
func (p *podInfo) constraints() (all []podCounter) {
	for _, w := range p.wants {
		all = append(all, w.spreadCounter)
	}
	for _, g := range p.companies {
		all = append(all, g)
	}
	for _, t := range p.apart {
		all = append(all, t)
	}
	return all
}
