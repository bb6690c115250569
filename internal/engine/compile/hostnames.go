package compile

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Hostnames are the values of kubernetes.io/hostname that several nodes have. These nodes are one
// domain to kube-scheduler, but rules over nodes count each separately here. So such a node takes
// no pod of a class that a spread or an anti-affinity over that label concerns.
type Hostnames struct {
	shared map[string]bool // nil if no class is concerned
	about  bitset.Set      // classes that such a rule concerns
}

// findHostnames finds the shared hostnames among staying and terminating nodes.
func (p *Problem) findHostnames(staying, leaving []model.Existing) Hostnames {
	about := bitset.New(len(p.Classes))
	for c := range p.Rules.ByClass {
		for _, part := range p.Rules.ByClass[c].All {
			rule := &p.Rules.Node[part.Rule]
			if rule.pods >= 0 && (rule.Spread && part.Owners > 0 || rule.Kind == pack.Apart) {
				about.Add(c)
			}
		}
	}
	if about.Empty() {
		return Hostnames{}
	}
	seen, shared := map[string]bool{}, map[string]bool{}
	for _, list := range [][]model.Existing{staying, leaving} {
		for i := range list {
			name, named := list[i].Standing.Labels[corev1.LabelHostname]
			if !named || name == model.NewHostname {
				continue
			}
			if seen[name] {
				shared[name] = true
			}
			seen[name] = true
		}
	}
	if len(shared) == 0 {
		return Hostnames{}
	}
	return Hostnames{shared: shared, about: about}
}

// sharesName says whether a node takes no pods of a class because another node has the same value
// of kubernetes.io/hostname.
func (h *Hostnames) sharesName(c int, n *model.Existing) bool {
	return h.shared != nil && h.about.Has(c) && h.shared[n.Standing.Labels[corev1.LabelHostname]]
}
