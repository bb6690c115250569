package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// refit asks the engine again about nodes for which it launches far more than the
// estimate would, with each pod on the node where the estimate has it. The engine
// chooses zones and nodes for one kind of pod after the other, and leaves gaps; of
// the two answers the better one counts. Of few nodes it is not asked: that hardly
// ever brings anything.
func (s *search) refit(ctx context.Context, targets []*member, parts []*part) ([]*part, error) {
	if len(targets) < min(fewTargets, len(s.f.members)/refitShare) || len(s.f.members) > refitNodes || s.w.refused != nil || s.spent() {
		return parts, nil
	}
	launched := 0.0
	for _, pt := range parts {
		launched += totalPrice(pt.nodes)
		if pt.verdict.rule == RuleUnplaced {
			launched += priceOf(pt.targets)
		}
	}
	o := s.outcome(targets)
	if refitGap*o.Floor >= launched-priceSlack {
		return parts, nil
	}
	again, err := s.askPinned(ctx, fit{targets: targets, pins: s.places(targets)})
	if err != nil {
		return nil, err
	}
	if s.value(again) > s.value(parts)+priceSlack {
		return again, nil
	}
	return parts, nil
}

// Bounds of a second look: the largest fleet, which part of a small fleet must be about
// to go, where fewTargets is more than that, and how much more than the floor what was
// launched must cost.
const (
	refitNodes = 300
	refitShare = 5
	refitGap   = 1.2
)

// value is what some parts save above what is asked for.
func (s *search) value(parts []*part) float64 {
	sum := 0.0
	for _, pt := range parts {
		if !pt.verdict.bad() {
			sum += pt.saving - s.f.required(pt.targets, s.totals)
		}
	}
	return sum
}

// places are the names of the nodes where the last estimate has the pods of some
// nodes, by pod.
func (s *search) places(targets []*member) map[string]string {
	hosts := map[int]string{}
	for _, m := range s.f.members {
		if i, found := s.e.at[m.name]; found {
			hosts[i] = m.labels[corev1.LabelHostname]
		}
	}
	places := slices.Clone(s.e.estimator.Places())
	free := s.w.roaming(targets)
	out := map[string]string{}
	for _, m := range targets {
		for _, p := range s.w.displaced[m.name] {
			kind := p
			if free[p] != nil {
				kind = free[p]
			}
			class, known := s.e.class(s.w.kinds.of(kind))
			if !known {
				continue
			}
			at := slices.IndexFunc(places, func(l screen.Place) bool { return l.Class == class && l.Pods > 0 })
			if at >= 0 {
				places[at].Pods--
				out[podObject(p)] = hosts[int(places[at].Node)]
			}
		}
	}
	return out
}

// swaps are the pods that may change their domain when some nodes go, as the
// estimator knows them.
func (e *estimate) swaps(set []*member) []screen.Swap {
	var out []screen.Swap
	free := e.w.roaming(set)
	if len(free) == 0 {
		return nil
	}
	for _, m := range set {
		for _, p := range e.w.displaced[m.name] {
			if free[p] == nil {
				continue
			}
			own, known := e.class(e.w.kinds.of(p))
			other, found := e.class(e.w.kinds.of(free[p]))
			if known && found {
				out = append(out, screen.Swap{Own: own, Other: other})
			}
		}
	}
	return out
}
