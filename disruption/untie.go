package disruption

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// setApart turns down the parts that lean on others by way of a topology spread or an
// affinity, or by way of what limits leave, the best of them being served first.
func (s *search) setApart(parts []*part) {
	meter := newLimitsMeter(s.w)
	var trial *balance
	if s.w.balance != nil {
		trial = s.w.balance.copy()
	}
	for _, pt := range bestFirst(parts) {
		if pt.verdict.bad() {
			continue
		}
		if full := meter.takes(pt); full != nil {
			pt.limited(full)
			continue
		}
		if trial == nil {
			continue
		}
		if ok, tie := trial.takes(pt); !ok {
			pt.turnDown(trial, tie)
		}
	}
}

// limited turns a part down that a pool has no room for while others stay.
func (pt *part) limited(pool *v1.NodePool) {
	pt.verdict = forbid(RuleNotSearched, "the limits of %s leave no room for what would be launched, unless others go first; ask again after them", poolObject(pool.Name))
}

// turnDown says that a part is tied to others, or that it would not hold by itself.
func (pt *part) turnDown(b *balance, tie string) {
	pt.tied = true
	pt.verdict = forbid(RuleNotSearched, "%s ties its pods to those of others in this proposal, which go first; ask again after them", tie)
	if b.parts+len(b.before) == 0 {
		pt.verdict = forbid(RuleUnplaced, "%s would not hold where there are places for its pods", tie)
	}
}

// worth is what a part saves for each unit of disruption cost.
func (pt *part) worth() float64 {
	units := evictionUnits(0)
	for _, m := range pt.targets {
		units += oneEviction + m.cost
	}
	return pt.saving / units.float()
}

// bestFirst sorts parts by what they are worth.
func bestFirst(parts []*part) []*part {
	out := slices.Clone(parts)
	slices.SortStableFunc(out, func(a, b *part) int { return cmp.Compare(b.worth(), a.worth()) })
	return out
}

// untie asks the engine again where parts were turned down so, with the pods of those
// in their domains as far as nothing but a spread that others have counts them there.
// Of the two answers the better one counts.
func (s *search) untie(ctx context.Context, targets []*member, parts []*part) ([]*part, error) {
	var tied []*member
	for _, pt := range parts {
		if pt.tied {
			tied = append(tied, pt.targets...)
		}
	}
	if len(tied) == 0 || s.w.refused != nil || s.spent() {
		return parts, nil
	}
	staying, some := *s.w, false
	staying.in.Nodes = slices.Clone(s.w.in.Nodes)
	for _, m := range tied {
		n := &staying.in.Nodes[staying.at[m.name]]
		n.Pods = slices.Clone(n.Pods)
		for i, p := range n.Pods {
			if home := s.w.balance.home(p, n.Node); len(home) > 0 {
				n.Pods[i], some = withNodeSelector(p, home), true
			}
		}
	}
	if !some {
		return parts, nil
	}
	again, err := staying.try(ctx, targets)
	s.w.stats = staying.stats
	if err != nil {
		return nil, err
	}
	s.judge(again)
	if s.value(again) > s.value(parts)+priceSlack {
		return again, nil
	}
	return parts, nil
}

// home are the labels of its node over which a pod is counted by a spread that it does
// not have: nothing keeps it from staying there.
func (b *balance) home(p *corev1.Pod, node *corev1.Node) map[string]string {
	if p == nil || node == nil {
		return nil
	}
	var out map[string]string
	for _, number := range b.tiesOf(p).counted {
		s := b.c.spreads.list[number]
		value, found := node.Labels[s.key]
		if !found || p.Spec.NodeSelector[s.key] != "" || b.hasSpread(p, s.key) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[s.key] = value
	}
	return out
}

// hasSpread reports whether a pod has a topology spread over a label that must hold.
func (b *balance) hasSpread(p *corev1.Pod, key string) bool {
	return slices.ContainsFunc(b.c.facts(b.c.kinds.of(p)).spreads, func(t ownSpread) bool { return t.TopologyKey == key })
}
