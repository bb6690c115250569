package consolidation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
)

// leftAlone returns the candidates that are in no action, each with the reason.
func (s *search) leftAlone() []Left {
	goes := map[*state.StateNode]bool{}
	for _, cs := range s.sets {
		for _, m := range cs.Targets {
			goes[m] = true
		}
	}
	var out []Left
	for _, m := range s.candidates {
		if goes[m] || s.waits[m.Name] {
			continue
		}
		v, known := s.reasons[m.Name]
		switch {
		case s.w.Refused != nil:
			v = rule.Forbid(rule.NotSimulated, "the cluster cannot be planned for: %s", words.FirstLine(s.w.Refused))
		case !known && s.truncated:
			v = rule.Forbid(rule.NotSearched, "the search ended after %d steps, see Options.Consolidation.MaxSteps", s.w.Stats.Steps)
		case !known:
			v = s.estimated(m)
		}
		out = append(out, Left{m, v})
	}
	return out
}

// withoutBudgets simulates the sets that budgets do not allow to be removed together. If the
// removal of a set would be worth it, it records the budget as the reason of its nodes, in place of
// the price. The sets found so far are not changed.
func (s *search) withoutBudgets(ctx context.Context) error {
	tries := max(mostFailures, min(manyTries/len(s.cluster.Nodes), s.w.Stats.Simulations/reasonShare))
	var found []*simulation.CandidateSet
	for _, a := range s.refusedSets() {
		if s.truncated || tries == 0 {
			return nil
		}
		if s.allByBudget(a.set) {
			continue
		}
		tries--
		sets, err := s.ask(ctx, a.set, nil)
		if err != nil {
			return err
		}
		for _, cs := range sets {
			v := s.quota.Refusal(cs.Targets)
			if cs.Outcome.Bad() || !v.Bad() || len(cs.Targets) < 2 || cs.Saving <= savedBy(found, cs.Targets)+simulation.PriceSlack {
				continue
			}
			found = append(found, cs)
			v.Detail = fmt.Sprintf("%s would save %s together, and %s", words.Names(names(cs.Targets)), words.USD(cs.Saving), v.Detail)
			for _, m := range cs.Targets {
				if s.reasons[m.Name].Rule != rule.Budget {
					s.reasons[m.Name] = v
				}
			}
		}
	}
	return nil
}

// reasonShare is which part of the questions that the search took may be asked again for reasons.
const reasonShare = 4

// savedBy returns the saving of some sets that is due to the given nodes, each of which is in one
// set.
func savedBy(sets []*simulation.CandidateSet, nodes []*state.StateNode) float64 {
	sum := 0.0
	left := slices.Clone(nodes)
	for _, cs := range sets {
		if !slices.ContainsFunc(cs.Targets, func(m *state.StateNode) bool { return !slices.Contains(left, m) }) {
			left = slices.DeleteFunc(left, func(m *state.StateNode) bool { return slices.Contains(cs.Targets, m) })
			sum += cs.Saving
		}
	}
	return sum
}

// refusedSets lists the sets of nodes that stay because of budgets and for which the estimate
// promises a saving. Small sets come first, because a large one may have nodes that add nothing;
// among equal sizes the most promising come first.
func (s *search) refusedSets() []attempt {
	var out []attempt
	for _, set := range s.refused { // the result is sorted
		set = s.stillOpen(set)
		v := s.quota.Refusal(set)
		if !v.Bad() || len(set) < 2 || len(set) > s.rules.opts.MaxNodes || s.allByBudget(set) {
			continue
		}
		if a, ok := s.gain(set, 1); ok {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b attempt) int {
		return cmp.Or(cmp.Compare(len(a.set), len(b.set)), a.compare(b), strings.Compare(setKey(a.set), setKey(b.set)))
	})
	return out
}

// allByBudget reports whether a budget is the reason of every node of a set.
func (s *search) allByBudget(set []*state.StateNode) bool {
	return !slices.ContainsFunc(set, func(m *state.StateNode) bool { return s.reasons[m.Name].Rule != rule.Budget })
}

// estimated returns the reason for a node that was not simulated. It uses the first estimate: the
// sets found since can only reduce the room on other nodes, so the first estimate promises the
// most.
func (s *search) estimated(m *state.StateNode) rule.Outcome {
	if s.e == nil {
		s.e = s.w.Estimate(nil)
	}
	if s.first == nil {
		s.first = s.e
	}
	required := s.rules.Required([]*state.StateNode{m}) + simulation.PriceSlack
	o := s.outcome(s.e, []*state.StateNode{m})
	switch {
	case o.Saving() > required && s.found() > 0:
		return rule.Forbid(rule.NotSearched, "by itself it may save up to %s, but others of this proposal go first, and their pods may take the room that its own need; ask again after them", words.USD(o.Saving()))
	case o.Saving() > required && o.Price-roundedLeast*o.Floor <= required:
		return rule.Forbid(rule.NotSearched, "by an estimate, removing it saves %s at most and hardly ever so much, and %s is asked for: too close to try it", words.USD(o.Saving()), words.USD(required-simulation.PriceSlack))
	case o.Saving() > required:
		return rule.Forbid(rule.NotSearched, "by itself it may save up to %s, but the search ended when several that may save more had been tried in vain", words.USD(o.Saving()))
	}
	if s.first != s.e {
		o = s.outcome(s.first, []*state.StateNode{m})
	}
	v := s.shortOf(o, required)
	if v.Rule == rule.NotCheaper {
		v.Object = s.needy(m, o.Rest)
	}
	return v
}

// shortOf returns the reason for a node whose removal is not worth it by an estimate.
func (s *search) shortOf(o estimate.Outcome, required float64) rule.Outcome {
	switch {
	case o.Saving() > required:
		return rule.Forbid(rule.NotCheaper, "no cheaper place for its pods: others of this proposal take the room that they would need")
	case o.Saving() > simulation.PriceSlack:
		return rule.Forbid(rule.SavingTooSmall, "by an estimate, removing it saves %s at most, and MinimumScore or another option asks for %s", words.USD(o.Saving()), words.USD(required-simulation.PriceSlack))
	case math.IsInf(o.Floor, 1):
		return rule.Forbid(rule.NotCheaper, "no cheaper place for its pods: %s no room elsewhere, nor on a new node that may replace it", podsFind(o.Left))
	}
	return rule.Forbid(rule.NotCheaper, "no cheaper place for its pods: %s no room elsewhere and %s at least %s on new nodes, and it costs %s",
		podsFind(o.Left), words.Verb(o.Left, "costs", "cost"), words.USD(o.Floor), words.USD(o.Price))
}

// needy names a pod of a node that fits on no other node by an estimate, given the number of such
// pods of each class; "" if none is known.
func (s *search) needy(m *state.StateNode, rest []estimate.Count) string {
	for _, p := range s.w.Displaced[m.Name] {
		class, known := s.first.Class(p)
		if known && slices.ContainsFunc(rest, func(c estimate.Count) bool { return c.Class == class && c.Pods > 0 }) {
			return state.PodObject(p)
		}
	}
	return ""
}

func podsFind(n int) string {
	return words.Plural(n, "pod") + words.Verb(n, " finds", " find")
}
