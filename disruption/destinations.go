package disruption

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// destinations are where the pods of an action find a place.
type destinations struct {
	fresh, other, none int             // pods: on new nodes, on others, on none
	nodes              map[string]bool // the other nodes
	launched           []*provisioning.NewNode
	shared             bool // other pods share the new nodes
}

// destinations of the pods that a part moves.
func (pt *part) destinations() *destinations {
	d := &destinations{nodes: map[string]bool{}}
	for _, m := range pt.moves {
		if m.Node == "" {
			d.fresh++
		} else {
			d.other++
			d.nodes[m.Node] = true
		}
	}
	for i := range pt.nodes {
		d.launched = append(d.launched, &pt.nodes[i])
	}
	return d
}

// price is what the new nodes cost, in USD per hour.
func (d *destinations) price() (sum float64) {
	for _, n := range d.launched {
		sum += n.Price()
	}
	return sum
}

// launches says which new nodes there are for how many pods, and of a single one what
// it is.
func (d *destinations) launches() string {
	text := plural(len(d.launched), "new node") + " for " + plural(d.fresh, "pod")
	if len(d.launched) == 1 {
		text += ", " + d.launched[0].Options[0].Key().String()
	}
	return text
}

// room says how many pods go to other nodes.
func (d *destinations) room() string {
	return fmt.Sprintf("there is room for %s on %s", plural(d.other, "pod"), plural(len(d.nodes), "other node"))
}

// String says all of it in one line, nothing if there is no pod.
func (d *destinations) String() string {
	var parts []string
	if len(d.launched) > 0 {
		text := d.launches() + " at " + usd(d.price())
		if d.shared {
			text += ", shared with other pods"
		}
		parts = append(parts, text)
	}
	if d.other > 0 {
		parts = append(parts, d.room())
	}
	if d.none > 0 {
		parts = append(parts, "no place for "+plural(d.none, "pod"))
	}
	return strings.Join(parts, "; ")
}

// foretell adds to the Detail of actions that end nodes without looking for places
// where the pods of those nodes will go, as the next plan will have it. settled is a
// world in which they have found places, nil if there is none.
func (f *Fleet) foretell(ctx context.Context, actions []Action, settled *world) ([]Action, error) {
	if !slices.ContainsFunc(actions, func(a Action) bool { return len(f.homeless(a)) > 0 }) {
		return actions, nil
	}
	if settled == nil || f.opts.NoReplacements { // that is about saving money: the next plan launches
		var err error
		if settled, err = newSettled(ctx, f.withReplacements(), actions); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(actions)
	for i := range out {
		pods := f.homeless(out[i])
		if len(pods) == 0 {
			continue
		}
		text := fmt.Sprintf("its %s for the next plan", arePlural(len(pods), "pod"))
		if d := destinationsIn(settled.settled, pods).String(); d != "" {
			text += ": " + d
		}
		out[i].Detail += "; " + text
	}
	return out, nil
}

func arePlural(n int, thing string) string {
	if n == 1 {
		return thing + " is"
	}
	return plural(n, thing) + " are"
}

// homeless names the pods that need a place when an action has ended their nodes, and
// for which it has none.
func (f *Fleet) homeless(a Action) map[string]bool {
	if a.Simulated || a.Step != Delete {
		return nil
	}
	out := map[string]bool{}
	for _, t := range a.Targets {
		if m := f.byName[t.Node]; m != nil {
			m.nameMovable(out)
		}
	}
	return out
}

// nameMovable adds the names of the pods that need another place when the node goes.
func (m *member) nameMovable(to map[string]bool) {
	for _, p := range m.movable() {
		to[podObject(p)] = true
	}
}

// destinationsIn are those that a plan has for some pods; without a plan none are
// known.
func destinationsIn(plan *provisioning.Plan, pods map[string]bool) *destinations {
	d := &destinations{nodes: map[string]bool{}}
	if plan == nil {
		return d
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if pods[podObject(p)] {
				d.other++
				d.nodes[b.Node] = true
			}
		}
	}
	for i := range plan.Create {
		n, here := &plan.Create[i], 0
		for _, p := range n.Pods {
			if pods[podObject(p)] {
				here++
			}
		}
		if here > 0 {
			d.fresh += here
			d.launched = append(d.launched, n)
			d.shared = d.shared || here < len(n.Pods)
		}
	}
	d.none = len(pods) - d.fresh - d.other
	return d
}
