package disruption

import (
	"fmt"
	"math"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// priceSlack is how much two prices may differ and count as equal, in USD per
// hour: sums of prices depend on their order in the last digits.
const priceSlack = 1e-9

// outcome is what keeps a set of nodes from being consolidated; the zero value
// is nothing.
type outcome struct {
	rule   rule
	object string
	detail string
	until  time.Time // when it ceases to hold by itself
	again  []string  // nodes of the set that replacements would be equal to
}

func (v *outcome) bad() bool { return v.rule != "" }

func forbid(rule rule, format string, args ...any) outcome {
	return outcome{rule: rule, detail: fmt.Sprintf(format, args...)}
}

// priceRules narrows the options of the replacements of some nodes to those that
// save what is required, whichever of them is launched:
//
//   - for one replacement, those that are cheaper than the nodes together by
//     what is required;
//   - for several, those that are dearer than the cheapest of each by no more
//     than an equal share of what the cheapest of all save beyond that;
//   - none that would launch again what is removed: of one replacement for
//     several nodes, only those that are cheaper than each node of a type that is
//     among its own; of several, none of the same type, zone and capacity type
//     as a node.
//
// What minValues of the pool ask for must be there still.
func priceRules(targets []*stateNode, nodes []provisioning.NewNode, required float64) ([]provisioning.NewNode, outcome) {
	out := slices.Clone(nodes)
	if len(nodes) == 0 {
		return out, outcome{}
	}
	removed, cheapest := priceOf(targets), 0.0
	for i := range nodes {
		cheapest += nodes[i].Price()
	}
	slack := removed - required - cheapest
	if slack < -priceSlack || removed-cheapest <= priceSlack {
		return nil, notCheaper(targets, nodes, removed, cheapest, required)
	}
	var keep func(o cloudprovider.LaunchOption, n *provisioning.NewNode) bool
	if len(nodes) == 1 {
		ceiling := typeCeiling(targets, nodes[0].Options)
		keep = func(o cloudprovider.LaunchOption, _ *provisioning.NewNode) bool {
			p := o.Offering.Price
			return p < removed-priceSlack && p <= removed-required+priceSlack && (ceiling < 0 || p < ceiling-priceSlack)
		}
	} else {
		own := keysOf(targets)
		share := slack / float64(len(nodes))
		keep = func(o cloudprovider.LaunchOption, n *provisioning.NewNode) bool {
			return o.Offering.Price <= n.Price()+share+priceSlack && own[o.Key()] == ""
		}
	}
	for i := range out {
		n := &out[i]
		n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o cloudprovider.LaunchOption) bool { return !keep(o, &nodes[i]) })
		if v := stillValid(n, &nodes[i], targets); v.bad() {
			return nil, v
		}
	}
	if left := removed - totalPrice(out); left < required-priceSlack || left <= priceSlack {
		return nil, notCheaper(targets, out, removed, totalPrice(out), required)
	}
	return out, outcome{}
}

func stillValid(n, before *provisioning.NewNode, targets []*stateNode) outcome {
	if len(n.Options) == 0 {
		v := forbid(ruleNotCheaper, "the cheapest way to run its pods is what it is already, %s at %s", before.Options[0].Key(), usd(before.Price()))
		own := keysOf(targets)
		for _, o := range before.Options {
			if name := own[o.Key()]; name != "" && !slices.Contains(v.again, name) {
				v.again = append(v.again, name)
				break
			}
		}
		return v
	}
	if missed := n.MissedMinValues(); len(missed) > 0 && !n.MinValuesRelaxed {
		return forbid(ruleNotCheaper, "the cheaper ways to launch its replacement have %s of %s, and minValues of its %s is %d",
			plural(missed[0].Have, "value"), missed[0].Key, poolObject(n.Pool.Name), missed[0].Want)
	}
	return outcome{}
}

func notCheaper(targets []*stateNode, nodes []provisioning.NewNode, removed, cheapest, required float64) outcome {
	rule := ruleNotCheaper
	if removed-cheapest > priceSlack {
		rule = ruleSavingTooSmall
	}
	what := fmt.Sprintf("%s would cost %s", plural(len(nodes), "new node"), usd(cheapest))
	if len(nodes) == 1 {
		what = fmt.Sprintf("the cheapest that holds what finds no room elsewhere is %s at %s", nodes[0].Options[0].Key(), usd(cheapest))
	}
	text := fmt.Sprintf("no cheaper place for its pods: %s, and it costs %s", what, usd(removed))
	if len(targets) > 1 {
		text = fmt.Sprintf("no cheaper place for the pods of %d nodes: %s, and they cost %s", len(targets), what, usd(removed))
	}
	if rule == ruleSavingTooSmall {
		text = fmt.Sprintf("removing it would save %s, %s instead of %s, and MinimumScore or another option asks for %s", usd(removed-cheapest), usd(cheapest), usd(removed), usd(required))
	}
	return outcome{rule: rule, detail: text}
}

// usd is an amount of USD per hour.
func usd(amount float64) string { return fmt.Sprintf("%.4g USD/h", amount) }

func priceOf(members []*stateNode) float64 {
	sum := 0.0
	for _, m := range members {
		p, _ := m.price()
		sum += p
	}
	return sum
}

func totalPrice(nodes []provisioning.NewNode) float64 {
	sum := 0.0
	for i := range nodes {
		sum += nodes[i].Price()
	}
	return sum
}

// typeCeiling is the least price of the nodes whose type is among the options,
// below zero if none is.
func typeCeiling(targets []*stateNode, options []cloudprovider.LaunchOption) float64 {
	ceiling := -1.0
	if len(targets) < 2 {
		return ceiling
	}
	types := map[string]bool{}
	for _, o := range options {
		types[o.InstanceType.Name] = true
	}
	for _, m := range targets {
		if p, _ := m.price(); m.instanceType != nil && types[m.instanceType.Name] && (ceiling < 0 || p < ceiling) {
			ceiling = p
		}
	}
	return ceiling
}

// keysOf are the offerings that nodes were bought by, with the name of one.
func keysOf(targets []*stateNode) map[cloudprovider.OfferingKey]string {
	out := map[cloudprovider.OfferingKey]string{}
	for _, m := range targets {
		if m.instanceType != nil && m.offering != nil {
			out[m.offering.Key(m.instanceType.Name)] = m.name
		}
	}
	return out
}

// spotRules narrows the replacements of spot nodes by spot nodes. One for one
// needs Options.Consolidation.SpotFloor types that are cheaper, and is launched as one of the
// cheapest of so many: then it is not replaced again at once. Where spot is ruled out
// other capacity must cost no more than the spot options do, or these would replace it
// in turn: on demand in between, the node would end as what it must not become.
func (f *Cluster) spotRules(targets []*stateNode, nodes []provisioning.NewNode) ([]provisioning.NewNode, outcome) {
	for _, m := range targets {
		if m.labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot {
			return nodes, outcome{}
		}
	}
	out := slices.Clone(nodes)
	for i := range out {
		n := &out[i]
		types := spotTypes(n.Options)
		floor := f.opts.Consolidation.SpotFloor
		switch {
		case len(types) == 0:
		case f.opts.Consolidation.NoSpotToSpot:
			if n.Options = withoutSpot(n.Options); len(n.Options) == 0 {
				return nil, forbid(ruleSpotToSpot, "its replacement would be a spot node as well, which is off")
			}
		case len(targets) > 1 || floor == 0:
		case len(types) < floor:
			if n.Options = withoutSpot(n.Options); len(n.Options) == 0 {
				return nil, forbid(ruleSpotToSpot, "%s cheaper to replace it by on spot, and with fewer than %d it would soon be replaced again",
					areTypes(len(types)), floor)
			}
		default:
			n.Options = firstTypes(n, types, floor)
		}
		if v := stillValid(n, &nodes[i], targets); v.bad() {
			return nil, v
		}
	}
	return out, outcome{}
}

func areTypes(n int) string {
	if n == 1 {
		return "1 instance type is"
	}
	return fmt.Sprintf("%d instance types are", n)
}

// spotTypes lists the types that can be had as spot, cheapest first.
func spotTypes(options []cloudprovider.LaunchOption) []string {
	var out []string
	for _, o := range options {
		if o.Offering.CapacityType == v1.CapacityTypeSpot && !slices.Contains(out, o.InstanceType.Name) {
			out = append(out, o.InstanceType.Name)
		}
	}
	return out
}

// withoutSpot keeps the options that are not spot and cost no more than any that is.
func withoutSpot(options []cloudprovider.LaunchOption) []cloudprovider.LaunchOption {
	least := math.Inf(1)
	for _, o := range options {
		if o.Offering.CapacityType == v1.CapacityTypeSpot {
			least = min(least, o.Offering.Price)
		}
	}
	return slices.DeleteFunc(slices.Clone(options), func(o cloudprovider.LaunchOption) bool {
		return o.Offering.CapacityType == v1.CapacityTypeSpot || o.Offering.Price > least+priceSlack
	})
}

// firstTypes keeps the spot options of the cheapest types: as many as the floor,
// or as minValues ask for, as far as all options together have so many values.
func firstTypes(n *provisioning.NewNode, types []string, floor int) []cloudprovider.LaunchOption {
	missed := n.MissedMinValues()
	for count := floor; ; count++ {
		kept := *n
		some := types[:min(count, len(types))]
		kept.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o cloudprovider.LaunchOption) bool {
			return o.Offering.CapacityType != v1.CapacityTypeSpot || !slices.Contains(some, o.InstanceType.Name)
		})
		if count >= len(types) || slices.Equal(kept.MissedMinValues(), missed) {
			return kept.Options
		}
	}
}

// required is what an action on some nodes must save at least, in USD per hour:
// the most that Options asks for.
func (f *Cluster) required(targets []*stateNode, totals map[string]poolTotals) float64 {
	units, score := evictionUnits(0), 0.0
	for _, m := range targets {
		units += oneEviction + m.cost
		score += f.opts.Consolidation.MinimumScore * totals[m.poolName].unit * (oneEviction + m.cost).float()
	}
	return max(f.opts.Consolidation.MinimumSaving, f.opts.Consolidation.MinimumShare*priceOf(targets), f.opts.Consolidation.DisruptionPrice*units.float(), score)
}

// young is when a node becomes old enough to be removed to save money, zero if it
// is.
func (f *Cluster) young(m *stateNode) time.Time {
	if f.opts.Consolidation.MinimumAge <= 0 || m.NodeClaim == nil {
		return time.Time{}
	}
	if old := m.NodeClaim.CreationTimestamp.Add(f.opts.Consolidation.MinimumAge); old.After(f.now) {
		return old
	}
	return time.Time{}
}

// shortagesEnd is when the first of the shortages ceases to count.
func (f *Cluster) shortagesEnd() time.Time {
	var first time.Time
	for _, s := range f.in.UnavailableOfferings {
		if end := s.At.Add(f.opts.Consolidation.UnavailableHold); end.After(f.now) {
			first = sooner(first, end)
		}
	}
	return first
}
