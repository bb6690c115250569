package disruption

import (
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// leftAlone says why each candidate that is in no action is left alone.
func (s *search) leftAlone() []Blocked {
	goes := map[*stateNode]bool{}
	for _, pt := range s.parts {
		for _, m := range pt.targets {
			goes[m] = true
		}
	}
	var out []Blocked
	for _, m := range s.candidates {
		if goes[m] || s.waits[m.name] {
			continue
		}
		v, known := s.reasons[m.name]
		switch {
		case s.w.refused != nil:
			v = forbid(ruleNotSimulated, "the cluster cannot be planned for: %s", firstLine(s.w.refused))
		case !known && s.truncated:
			v = forbid(ruleNotSearched, "the search ended after %d steps, see Options.Consolidation.MaxSteps", s.w.stats.Steps)
		case !known:
			v = s.estimated(m)
		}
		out = append(out, Blocked{Target: m.target(), Method: MethodConsolidation, Code: v.rule.code(), rule: v.rule, Object: v.object, Detail: v.detail, Until: v.until})
	}
	return out
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// estimated is the reason for a node that the engine was not asked about. What the
// nodes of this proposal leave of the room elsewhere is no more than there was, so
// the first estimate promises the most.
func (s *search) estimated(m *stateNode) outcome {
	if s.e == nil {
		s.e = s.w.estimate(nil)
	}
	if s.first == nil {
		s.first = s.e
	}
	required := s.cluster.required([]*stateNode{m}, s.totals) + priceSlack
	o := s.outcome([]*stateNode{m})
	switch {
	case o.Saving() > required && s.found() > 0:
		return forbid(ruleNotSearched, "by itself it may save up to %s, but others of this proposal go first, and their pods may take the room that its own need; ask again after them", usd(o.Saving()))
	case o.Saving() > required && o.Price-roundedLeast*o.Floor <= required:
		return forbid(ruleNotSearched, "by an estimate, removing it saves %s at most and hardly ever so much, and %s is asked for: too close to try it", usd(o.Saving()), usd(required-priceSlack))
	case o.Saving() > required:
		return forbid(ruleNotSearched, "by itself it may save up to %s, but the search ended when several that may save more had been tried in vain", usd(o.Saving()))
	}
	if s.first != s.e {
		o = s.outcomeBy(s.first, []*stateNode{m})
	}
	v := s.shortOf(o, required)
	if v.rule == ruleNotCheaper {
		v.object = s.needy(m, o.Rest)
	}
	return v
}

// shortOf is the reason for a node that an estimate says is not worth removing.
func (s *search) shortOf(o screen.Outcome, required float64) outcome {
	switch {
	case o.Saving() > required:
		return forbid(ruleNotCheaper, "no cheaper place for its pods: others of this proposal take the room that they would need")
	case o.Saving() > priceSlack:
		return forbid(ruleSavingTooSmall, "by an estimate, removing it saves %s at most, and MinimumScore or another option asks for %s", usd(o.Saving()), usd(required-priceSlack))
	case math.IsInf(o.Floor, 1):
		return forbid(ruleNotCheaper, "no cheaper place for its pods: %s no room elsewhere, nor on a new node that may replace it", podsFind(o.Left))
	}
	cost := "cost"
	if o.Left == 1 {
		cost = "costs"
	}
	return forbid(ruleNotCheaper, "no cheaper place for its pods: %s no room elsewhere and %s at least %s on new nodes, and it costs %s",
		podsFind(o.Left), cost, usd(o.Floor), usd(o.Price))
}

// needy names a pod of a node that finds no room elsewhere by an estimate, given how
// many of each class do not; "" if none is known.
func (s *search) needy(m *stateNode, rest []screen.Count) string {
	for _, p := range s.w.displaced[m.name] {
		class, known := s.first.Class(s.w.kinds.Of(p))
		if known && slices.ContainsFunc(rest, func(c screen.Count) bool { return c.Class == class && c.Pods > 0 }) {
			return podObject(p)
		}
	}
	return ""
}

func podsFind(n int) string {
	if n == 1 {
		return "1 pod finds"
	}
	return plural(n, "pod") + " find"
}
