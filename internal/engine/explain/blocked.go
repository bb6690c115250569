package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Barrier is a constraint between pods over the values of a label that excludes pods of a class
// from places with room, with its counts under the plan.
type Barrier struct {
	Rule    *compile.DomainRule
	Members []int  // matching pods by value
	Counted []bool // by value: the constraint counts it as a domain
	Open    []int  // values into which the constraint admits one more pod
	Domains int    // number of values that a node certainly has
}

// because explains how a barrier excludes pods of a class. If the barrier admits pods to some
// values, it adds why no node there takes one.
func (e *explainer) because(b *Barrier) *model.Reason {
	if r := e.p.SharedVolume([]workload.Term{b.Rule.Term}); r != nil {
		return r
	}
	out := e.barred(b)
	if len(b.Open) == 0 {
		return out
	}
	at := requirements.NewSet(requirements.In(e.p.Vocabulary.NormalizeKey(b.Rule.Term.Key), e.values(b)...))
	out.Pools = e.poolsWith(requirements.Alternative{Set: at})
	out.ExistingNodes = e.nodes(func(n *model.Existing) bool { return slices.Contains(b.Open, n.At[b.Rule.Key]) })
	return out
}

// poolsWith explains, for each pool, why it refuses pods of the class that require an alternative
// in addition to their own requirements.
func (e *explainer) poolsWith(also requirements.Alternative) (out []model.PoolReason) {
	inside, class := *e, *e.class
	inside.class, class.Alternatives = &class, slices.Clone(class.Alternatives)
	for i := range class.Alternatives {
		class.Alternatives[i] = class.Alternatives[i].Intersect(also)
	}
	for i := range e.p.Pools {
		out = append(out, inside.pool(i))
	}
	return out
}

// IfRequired explains why each pool would refuse pods of a class if their node preference were
// required. planned is, by pool, what the new nodes of the plan use of each limit.
func IfRequired(p *compile.Problem, c int, preferred requirements.Alternative, planned [][]int64) *model.Reason {
	e := &explainer{p: p, c: c, class: &p.Classes[c], request: p.OfResources(p.Requests[c]), planned: planned}
	return &model.Reason{Cause: model.CauseNodePools, Pools: e.poolsWith(preferred)}
}

// barred explains how a barrier excludes pods.
func (e *explainer) barred(b *Barrier) *model.Reason {
	rule, countsOf := b.Rule, counts(e.p, b)
	switch rule.Kind {
	case topology.Spread:
		return &model.Reason{Cause: model.CauseSpread, Detail: fmt.Sprintf(
			"its topology spread constraint over %s with maxSkew %d %s; matching pods by value: %s", rule.Term.Key, rule.Skew, e.leastFilled(b), countsOf)}
	case topology.Together:
		return &model.Reason{Cause: model.CauseAffinity, Detail: fmt.Sprintf(
			"its required pod affinity over %s lets it only where matching pods are, and there it finds no room; matching pods by value: %s",
			rule.Term.Key, countsOf)}
	}
	for _, own := range e.p.Rules.ByClass[e.c].Owns {
		if &e.p.Rules.Domain[own] == rule {
			return &model.Reason{Cause: model.CauseAntiAffinity, Detail: fmt.Sprintf(
				"its required pod anti-affinity over %s keeps it from every value with room; matching pods by value: %s", rule.Term.Key, countsOf)}
		}
	}
	return &model.Reason{Cause: model.CauseAntiAffinity, Detail: fmt.Sprintf(
		"the required anti-affinity over %s of pods that match it keeps it from every value with room", rule.Term.Key)}
}

// values lists the label values into which a barrier admits one more pod.
func (e *explainer) values(b *Barrier) []string {
	out := make([]string, len(b.Open))
	for i, d := range b.Open {
		out[i] = e.p.Table.Values[b.Rule.Key][d]
	}
	return out
}

// leastFilled describes the values into which a spread admits one more pod of the class.
func (e *explainer) leastFilled(b *Barrier) string {
	short := ""
	if b.Domains < b.Rule.MinDomains {
		short = fmt.Sprintf(" (minDomains is %d, and only %d can be counted on)", b.Rule.MinDomains, b.Domains)
	}
	switch len(b.Open) {
	case 0:
		return "lets it into no value that a node for it may have" + short
	case 1, 2, 3, 4:
		return fmt.Sprintf("lets it only into %s, where it finds no room%s", strings.Join(e.values(b), ", "), short)
	}
	return "lets it only where there is no room" + short
}

// counts renders the number of matching pods by value.
func counts(p *compile.Problem, b *Barrier) string {
	const most = 12
	var out []string
	for d, value := range p.Table.Values[b.Rule.Key] {
		if b.Members[d] == 0 && !b.Rule.Counted[d] && !b.Counted[d] {
			continue
		}
		if len(out) == most {
			out = append(out, fmt.Sprintf("and %d more", len(b.Members)-most))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", value, b.Members[d]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// noCompany explains that no node has the pods that the class must be with.
func noCompany(p *compile.Problem, with []workload.Term) *model.Reason {
	if r := p.SharedVolume(with); r != nil {
		return r
	}
	return &model.Reason{Cause: model.CauseAffinity, Detail: fmt.Sprintf(
		"its required pod affinity over %s asks for a node where matching pods are, and no such node has room for it", corev1.LabelHostname)}
}
