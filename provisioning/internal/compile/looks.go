package compile

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// tolerateAll tolerates every taint.
var tolerateAll = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

// InPlace returns the options that may be in a domain.
func (p *Problem) InPlace(key, domain int) bitset.Set { return p.Finder.inPlace[key][domain] }

// LookedAt returns the options whose nodes a spread rule may look at, or is
// certain to. The result must not be changed.
func (p *Problem) LookedAt(rule *DomainRule, certain bool) bitset.Set {
	return p.Admission.cache.looks.of(p.looksKeyOf(rule, certain), func() bitset.Set { return p.looksOf(rule, certain) })
}

// SpreadLooks lists the ways in which topology spread constraints, over domains and over
// nodes, look at nodes: of those that look at them alike the first.
func (p *Problem) SpreadLooks() (out []DomainRule) {
	known := map[looksKey]bool{}
	add := func(rule *DomainRule) {
		if id := p.looksKeyOf(rule, false); !known[id] {
			known[id] = true
			out = append(out, *rule)
		}
	}
	for i := range p.Rules.Domain {
		if rule := &p.Rules.Domain[i]; rule.Rule.Key >= 0 && rule.Kind == topology.Spread {
			add(rule)
		}
	}
	hosts := p.HostSpreads()
	for i := range hosts {
		add(&hosts[i])
	}
	return out
}

func (p *Problem) looksKeyOf(rule *DomainRule, certain bool) looksKey {
	return looksKey{p.Admission.asks[rule.Like], rule.Term.HonorAffinity, rule.Term.HonorTaint, strings.Join(rule.Spans, "\x00"), certain}
}

func (p *Problem) looksOf(rule *DomainRule, certain bool) bitset.Set {
	like := &p.Classes[rule.Like]
	out := bitset.New(p.Admission.Domains.Total)
	for _, alt := range like.Asked {
		asked := *like
		if !rule.Term.HonorTaint {
			asked.Tolerations = tolerateAll
		}
		if !rule.Term.HonorAffinity {
			alt = requirements.Alternative{}
		}
		if workload.AdmitsNewNode(alt) {
			p.Admission.addMatching(out, &asked, alt, certain)
		}
	}
	for _, key := range rule.Spans {
		out.And(p.Finder.admitting(requirements.Exists(p.Vocabulary.NormalizeKey(key))))
	}
	return out
}
