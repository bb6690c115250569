package disruption

import (
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// emptiness proposes to delete empty nodes of dynamic pools, by descending SavingsRatio and then by
// name. Each saves its price. All consolidation policies allow that.
//
// Blocked lists empty nodes, including those of static pools: the search for savings ignores empty
// nodes, so no other rule lists them.
func (f *Cluster) emptiness() Result {
	candidates, blocked := f.Candidates(MethodEmptiness)
	var r Result
	for i := range candidates {
		c := &candidates[i]
		a := Action{Reason: Empty, Operation: Delete, Targets: []Target{c.Target}, Detail: "no pod on it needs another place",
			Savings: c.Price, DisruptionCost: c.DisruptionCost}
		if n := len(c.Pods); n > 0 {
			a.Detail = fmt.Sprintf("it has %s to find another place for, and evicting costs nothing", words.Plural(n, "pod"))
		}
		a.Since, _ = f.seen.LastPodEvent(f.seen.ByName[c.Node])
		r.Actions = append(r.Actions, a)
	}
	r.Blocked = without(blocked, rule.Unmanaged, rule.NoNode, rule.NotEmpty)
	return r
}

// without removes all entries of nodes that one of the rules blocks: the method does not apply to
// them.
func without(blocked []Blocked, rules ...rule.Rule) []Blocked {
	out := map[string]bool{}
	for _, b := range blocked {
		if slices.Contains(rules, b.rule) {
			out[b.Node] = true
		}
	}
	return slices.DeleteFunc(blocked, func(b Blocked) bool { return out[b.Node] })
}

// soonest returns the first instant at which one of the causes ends, zero if none does.
func soonest(blocked []Blocked) time.Time {
	var first time.Time
	for _, b := range blocked {
		first = order.Sooner(first, b.Until)
	}
	return first
}
