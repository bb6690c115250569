package compile

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// tolerateAll tolerates every taint.
var tolerateAll = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

// InPlace returns the options that may be in a domain of a key.
func (p *Problem) InPlace(key, domain int) bitset.Set { return p.Finder.inPlace[key][domain] }

// LookedAt returns the options whose nodes a spread rule may count or, with certain, certainly
// counts. The result must not be changed.
func (p *Problem) LookedAt(rule *DomainRule, certain bool) bitset.Set {
	key := looksKey{p.Admission.asks[rule.Like], rule.Term.HonorAffinity, rule.Term.HonorTaint, strings.Join(rule.Spans, "\x00"), certain}
	return p.Admission.cache.looks.of(key, func() bitset.Set { return p.looksOf(rule, certain) })
}

func (p *Problem) looksOf(rule *DomainRule, certain bool) bitset.Set {
	out := bitset.New(p.Admission.Domains.Total)
	for _, alt := range p.Classes[rule.Like].Asked {
		asked := Ask{Tolerations: p.tolerations(rule), Certain: certain}
		if rule.Term.HonorAffinity {
			asked.Alternative = alt
		}
		out.Or(p.suiting(&asked, Labels))
	}
	for _, key := range rule.Spans {
		out.And(p.satisfying(requirements.NewSet(requirements.Exists(p.Vocabulary.NormalizeKey(key)))))
	}
	return out
}

// tolerations returns the tolerations with which a spread rule looks at nodes.
func (p *Problem) tolerations(rule *DomainRule) []corev1.Toleration {
	if rule.Term.HonorTaint {
		return p.Classes[rule.Like].Tolerations
	}
	return tolerateAll
}

// coverDomains adds, to the domains of each required topology spread, those in which a node for its
// pods could be launched. They are the same for every plan of the problem, so that no plan avoids a
// maxSkew by leaving a domain empty: limits of pools, the size of pods and stock do not matter.
func (p *Problem) coverDomains() {
	known := map[coverKey][]int{} // many constraints have the same domains
	for i := range p.Rules.Domain {
		rule := &p.Rules.Domain[i]
		if rule.Key < 0 || rule.Kind != topology.Spread || rule.Term.Weight > 0 {
			continue
		}
		id := coverKey{p.Admission.asks[rule.Like], rule.Term.HonorTaint, rule.Key, strings.Join(rule.Spans, "\x00"), p.Classes[rule.Like].VolumeKey}
		domains, ok := known[id]
		if !ok {
			domains = p.LaunchableIn(rule)
			known[id] = domains
		}
		for _, d := range domains {
			rule.Counted[d] = true
		}
	}
}

// coverKey identifies the domains without nodes that a spread counts.
type coverKey struct {
	ask     int32
	taint   bool
	key     int
	spans   string
	volumes string // identifies where the volumes of its pods may be
}

// LaunchableIn returns the domains of a spread for which a pool has an offering, sold out or not,
// that its pods' node selection and volumes and its taints policy admit. A label whose values the
// catalog leaves open has only the domains of nodes.
func (p *Problem) LaunchableIn(rule *DomainRule) []int {
	like, tolerations := &p.Classes[rule.Like], p.tolerations(rule)
	key := p.Vocabulary.NormalizeKey(rule.Term.Key)
	var spans []requirements.Requirement
	for _, span := range rule.Spans {
		spans = append(spans, requirements.Exists(p.Vocabulary.NormalizeKey(span)))
	}
	var out []int
	add := func(values []string) {
		for _, v := range values {
			if d, ok := p.Table.Index[rule.Key][v]; ok && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	alternatives := like.Asked
	if like.HasVolumes {
		alternatives = p.Extras.Narrow(alternatives, &workload.VolumeNeed{Needs: like.Volumes}, nil)
	}
	for _, alt := range alternatives {
		if !AdmitsNewNode(alt) {
			continue
		}
		alt.Set = alt.Set.Intersect(requirements.NewSet(spans...))
		for i := range p.Pools {
			if !p.tolerates(i, tolerations) {
				continue
			}
			add(p.Admission.Domains.Offered(i, alt.Set, key))
			add(p.Admission.Domains.SoldOut(i, alt.Set, key))
		}
	}
	return out
}
