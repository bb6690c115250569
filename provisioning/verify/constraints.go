package verify

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// faultFunc reports a fault of a pod, or with nil of the node as a whole.
type faultFunc func(rule Rule, p *podInfo, format string, args ...any)

// unreported ignores a fault, for callers that ask only whether there is one.
func unreported(Rule, *podInfo, string, ...any) {}

// constraintKind is a kind of constraint that depends on more than the labels and the room of a
// node, for example on its pods. Its pod, its node or both are set.
type constraintKind struct {
	// rules are the rules that the kind checks. The engine has a kind of the same name for each.
	rules []Rule
	// pod checks a pod when it is bound to a site, after the pods before it.
	pod func(*referee, *site, *podInfo, faultFunc)
	// node checks pods that go to a site in any order, together with the pods of the plan that are
	// there.
	node func(r *referee, s *site, there, coming []*podInfo, note faultFunc)
}

// constraintKinds has all kinds. A new kind is an entry here, its part of needs, and a file of its
// own with the name of its rule.
var constraintKinds = [...]constraintKind{
	{rules: []Rule{RuleSpread}, pod: (*referee).judgeSpread},
	{rules: []Rule{RuleAffinity}, pod: (*referee).judgeAffinity},
	{rules: []Rule{RuleAntiAffinity}, pod: (*referee).judgeAntiAffinity},
	{rules: []Rule{RuleVolumes}, pod: (*referee).judgeVolumes, node: (*referee).judgeAttachments},
	{rules: []Rule{RuleHostPorts, RuleVolumes}, node: (*referee).judgeExclusive},
}

// constrained says whether the place of a pod depends on other pods, or on more than labels and
// room.
func (r *referee) constrained(p *podInfo) bool { return r.needs(p) != "" }

// needs returns a text that is equal for pods that may go to the same nodes, labels and room aside;
// "" for a pod without constraints. The constraints of all pods must have been read.
func (r *referee) needs(p *podInfo) string {
	if p.needs != nil {
		return *p.needs
	}
	all := p.spreadTexts()
	for _, c := range slices.Concat(p.follows, p.avoids, r.counters.excluding(p)) {
		all = append(all, fmt.Sprintf("%p", c))
	}
	if len(p.Spec.Volumes) > 0 {
		all = append(all, "volumes")
		for _, c := range r.storage.ClaimsOf(p.Pod) {
			all = append(all, c.Key.String())
		}
	}
	for _, e := range exclusive.Of(p.Pod) {
		all = append(all, fmt.Sprintf("%s %s %t", e.Name, e.IP, e.Share))
	}
	p.needs = new(string)
	if len(all) > 0 {
		*p.needs = fmt.Sprintf("%s %q %q", p.Namespace, p.Labels, all)
	}
	return *p.needs
}

// judgePod checks the constraints of a pod that is bound to a site now.
func (r *referee) judgePod(s *site, p *podInfo, note faultFunc) {
	if p.constraintsErr != nil {
		note(RuleAffinity, p, "its constraints on other pods cannot be read: %v", p.constraintsErr)
	}
	for _, kind := range constraintKinds {
		if kind.pod != nil {
			kind.pod(r, s, p, note)
		}
	}
}

// judgeNode checks the constraints between pods of a site that do not depend on the order of
// binding.
func (r *referee) judgeNode(s *site, there, coming []*podInfo, note faultFunc) {
	for _, kind := range constraintKinds {
		if kind.node != nil {
			kind.node(r, s, there, coming, note)
		}
	}
}

// reportOn returns a faultFunc that reports faults of a node and its pods.
func (r *referee) reportOn(node string) faultFunc {
	return func(rule Rule, p *podInfo, format string, args ...any) {
		name := ""
		if p != nil {
			name = p.key.String()
		}
		r.report(rule, node, name, format, args...)
	}
}

// admits says whether a pod may be bound to a site after all the others.
func (r *referee) admits(s *site, p *podInfo) bool {
	if !r.constrained(p) {
		return true
	}
	admitted := true
	refuse := func(Rule, *podInfo, string, ...any) { admitted = false }
	r.judgePod(s, p, refuse)
	if !admitted || !r.withClaimSharers(s, p) {
		return false
	}
	r.judgeNode(s, s.placed, []*podInfo{p}, refuse)
	return admitted
}

// checkOneDomain reports new nodes with several possible domains of a label, if a required
// constraint over the label belongs to one of their pods or counts it. Such a node must be in one
// domain, so that its options do not change what the constraint counts. DaemonSet pods matter only
// for constraints that count or belong to some pod of the plan. Nodes of a NodePool with minValues
// are exempt, because minValues may require several domains.
func (r *referee) checkOneDomain() {
	planned := map[*counter]bool{}
	for _, s := range r.sites {
		for _, p := range s.placed {
			for _, c := range r.constraintsOn(p) {
				planned[c] = true
			}
		}
	}
	for _, s := range r.sites {
		if s.fresh == nil || r.wantsValues(s.fresh.pool) {
			continue
		}
		seen := map[*topology]bool{}
		for _, p := range slices.Concat(s.placed, s.present()) {
			for _, c := range r.constraintsOn(p) {
				for i := range c.counts {
					t := c.counts[i].topology
					values := r.domainsOf(t, s).values
					if seen[t] || !planned[c] || t.key == corev1.LabelHostname || len(values) < 2 && !slices.Contains(values, nodefit.OtherValue) {
						continue
					}
					seen[t] = true
					r.report(c.rule, s.name, p.key.String(), "a constraint over %s counts the pod, so the node has to be in one domain of it, but its options leave open: %s",
						t.key, strings.Join(values, ", "))
				}
			}
		}
	}
}

// constraintsOn lists the required constraints over topology domains that belong to a pod or count
// it.
func (r *referee) constraintsOn(p *podInfo) (all []*counter) {
	for _, w := range p.spreads {
		all = append(all, w.counter)
	}
	return slices.Concat(all, p.follows, p.avoids, r.counters.of(p))
}

// spreadTexts returns texts that are equal for topology spreads with the same meaning.
func (p *podInfo) spreadTexts() (texts []string) {
	for _, w := range p.spreads {
		texts = append(texts, fmt.Sprintf("spread %p %d %d", w.counter, w.skew, w.minDomains))
	}
	return texts
}
