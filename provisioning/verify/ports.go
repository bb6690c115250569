package verify

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
)

// judgeExclusive reports pods that take something of a node that another pod has already: host
// ports, and disks named without a claim.
func (r *referee) judgeExclusive(s *site, there, coming []*podInfo, note faultFunc) {
	type holding struct {
		exclusive.Resource
		pod *podInfo
	}
	var had map[string][]holding
	add := func(p *podInfo, e exclusive.Resource) { had[e.Name] = append(had[e.Name], holding{e, p}) }
	for _, p := range coming {
		for _, e := range exclusive.Of(p.Pod) {
			if had == nil {
				had = map[string][]holding{}
				for _, other := range slices.Concat(s.present(), there) {
					for _, e := range exclusive.Of(other.Pod) {
						add(other, e)
					}
				}
			}
			rule := RuleVolumes
			if e.Port {
				rule = RuleHostPorts
			}
			at := slices.IndexFunc(had[e.Name], func(h holding) bool { return h.pod != p && e.Clashes(h.Resource) })
			if at >= 0 {
				note(rule, p, "it asks for %s, which %s has there", e.Name, had[e.Name][at].pod.key)
			}
			add(p, e)
		}
	}
}
