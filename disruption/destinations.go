package disruption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// actionOf converts a candidate set to an action.
func actionOf(cs *simulation.CandidateSet, r Reason) Action {
	operation := Replace
	if len(cs.Nodes) == 0 {
		operation = Delete // the pods have room on other nodes
	}
	a := Action{Reason: r, Operation: operation, Detail: detailOf(cs), Simulated: true, Replacements: cs.Nodes, Moves: movesOf(cs.Moves), After: cs.After,
		Savings: state.PriceOf(cs.Targets) - simulation.TotalPrice(cs.Nodes), DisruptionCost: state.DisruptionCost(cs.Targets...)}
	for _, m := range cs.Targets {
		a.Targets = append(a.Targets, targetOf(m))
	}
	slices.SortFunc(a.Targets, func(x, y Target) int { return strings.Compare(x.String(), y.String()) })
	return a
}

// detailOf describes on one line where the pods of a set go, and what that saves.
func detailOf(cs *simulation.CandidateSet) string {
	subject, object := "they cost", "them"
	if len(cs.Targets) == 1 {
		subject, object = "it costs", "it"
	}
	d := destinationsOf(cs)
	text := fmt.Sprintf("%s %s", subject, words.USD(state.PriceOf(cs.Targets)))
	if len(cs.Nodes) > 0 {
		text += fmt.Sprintf(", and what replaces %s %s: %s", object, words.USD(simulation.TotalPrice(cs.Nodes)), d.launches())
	}
	if d.other > 0 {
		text += "; " + d.room()
	}
	return text
}

// destinations are the places of an action's pods.
type destinations struct {
	fresh, other, none int             // numbers of pods: on new nodes, on other nodes, without a place
	nodes              map[string]bool // names of the other nodes
	launched           []provisioning.NewNode
	shared             bool // other pods share the new nodes
}

// destinationsOf returns the places of the pods of a set.
func destinationsOf(cs *simulation.CandidateSet) *destinations {
	d := &destinations{nodes: map[string]bool{}, launched: cs.Nodes}
	for _, m := range cs.Moves {
		switch {
		case m.Node != "":
			d.other++
			d.nodes[m.Node] = true
		case m.Replacement >= 0:
			d.fresh++
		}
	}
	return d
}

// launches describes the number of new nodes and of pods on them, and the option of a single new
// node.
func (d *destinations) launches() string {
	text := words.Plural(len(d.launched), "new node") + " for " + words.Plural(d.fresh, "pod")
	if len(d.launched) == 1 {
		text += ", " + d.launched[0].Options[0].Key().String()
	}
	return text
}

// room describes how many pods go to other nodes.
func (d *destinations) room() string {
	return fmt.Sprintf("there is room for %s on %s", words.Plural(d.other, "pod"), words.Plural(len(d.nodes), "other node"))
}

// String describes all destinations on one line; "" if there is no pod.
func (d *destinations) String() string {
	var parts []string
	if len(d.launched) > 0 {
		text := d.launches() + " at " + words.USD(simulation.TotalPrice(d.launched))
		if d.shared {
			text += ", shared with other pods"
		}
		parts = append(parts, text)
	}
	if d.other > 0 {
		parts = append(parts, d.room())
	}
	if d.none > 0 {
		parts = append(parts, "no place for "+words.Plural(d.none, "pod"))
	}
	return strings.Join(parts, "; ")
}

// destinationsIn returns the places that a plan has for some pods. Without a plan it is empty.
func destinationsIn(plan *provisioning.Plan, pods map[string]bool) *destinations {
	d := &destinations{nodes: map[string]bool{}}
	if plan == nil {
		return d
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if pods[state.PodObject(p)] {
				d.other++
				d.nodes[b.Node] = true
			}
		}
	}
	for i := range plan.Create {
		n, here := &plan.Create[i], 0
		for _, p := range n.Pods {
			if pods[state.PodObject(p)] {
				here++
			}
		}
		if here > 0 {
			d.fresh += here
			d.launched = append(d.launched, *n)
			d.shared = d.shared || here < len(n.Pods)
		}
	}
	for i := range plan.Unplaced {
		if pods[state.PodObject(plan.Unplaced[i].Pod)] {
			d.none++
		}
	}
	return d
}

// completed adds the result of a simulation to an action.
func completed(cs *simulation.CandidateSet, a Action) Action {
	done := actionOf(cs, a.Reason)
	a.Operation, a.Targets, a.Simulated, a.Replacements, a.Moves = done.Operation, done.Targets, true, done.Replacements, done.Moves
	a.Savings, a.DisruptionCost, a.After = done.Savings, done.DisruptionCost, done.After
	if text := destinationsOf(cs).String(); text != "" {
		a.Detail += "; " + text
	}
	return a
}

// movesOf converts moves to the exported type.
func movesOf(moves []simulation.Move) []Move {
	if moves == nil {
		return nil
	}
	out := make([]Move, len(moves))
	for i, m := range moves {
		out[i] = Move(m)
	}
	return out
}

// setOf converts a simulated action to a candidate set.
func (f *Cluster) setOf(a Action) *simulation.CandidateSet {
	cs := &simulation.CandidateSet{Nodes: a.Replacements, Targets: f.nodesOf(a)}
	for _, m := range a.Moves {
		cs.Moves = append(cs.Moves, simulation.Move(m))
	}
	return cs
}
