package disruption

import (
	"math"
	"slices"
	"strings"
)

// leftAlone says why each candidate that is in no action is left alone.
func (s *search) leftAlone() []Blocked {
	var out []Blocked
	for _, m := range s.candidates {
		if slices.ContainsFunc(s.parts, func(pt *part) bool { return slices.Contains(pt.targets, m) }) || s.waits[m.name] {
			continue
		}
		v, known := s.reasons[m.name]
		switch {
		case s.w.refused != nil:
			v = forbid(RuleNotSimulated, "the engine refuses the input: %s", firstLine(s.w.refused))
		case !known && s.truncated:
			v = forbid(RuleNotSearched, "the search ended after %d steps, see Options.MaxSteps", s.w.stats.Steps)
		case !known:
			v = s.estimated(m)
		}
		out = append(out, Blocked{Target: m.target(), Method: MethodConsolidation, Rule: v.rule, Object: v.object, Detail: v.detail, Until: v.until})
	}
	return out
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// estimated is the reason for a node that the engine was not asked about.
func (s *search) estimated(m *member) verdict {
	if s.e == nil {
		s.e = newEstimate(s.w)
	}
	o := s.outcome([]*member{m})
	if o.Saving() > priceSlack {
		return forbid(RuleNotCheaper, "it costs %s, its pods would cost at least %s elsewhere, and with what others need its room is not dearer than new nodes", usd(o.Price), usd(o.Floor))
	}
	if math.IsInf(o.Floor, 1) {
		return forbid(RuleNotCheaper, "no cheaper place for its pods: %s find no room elsewhere, nor on a new node that may replace it", plural(o.Left, "pod"))
	}
	return forbid(RuleNotCheaper, "no cheaper place for its pods: %s find no room elsewhere and cost at least %s on new nodes, and it costs %s",
		plural(o.Left, "pod"), usd(o.Floor), usd(o.Price))
}
