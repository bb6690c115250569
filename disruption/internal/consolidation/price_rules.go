package consolidation

import (
	"fmt"
	"math"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Rules computes what an action must save to be worth doing.
type Rules struct {
	cluster *state.Cluster
	opts    Settings
	totals  map[string]poolTotals
}

// NewRules returns the rules for a cluster with some settings.
func NewRules(f *state.Cluster, opts Settings) *Rules {
	return &Rules{cluster: f, opts: opts, totals: totalsOf(f)}
}

// Settings are the ConsolidationOptions of package disruption, which documents the fields. Here zero values have
// no defaults: zero means zero.
type Settings struct {
	FreePodsAreEmpty            bool
	MaxSteps, MaxNodes          int
	MinimumSaving, MinimumScore float64
	HalveScoreAfter             time.Duration
	NoSpotToSpot                bool
	SpotFloor                   int
	NoReplacements              bool
}

// BalancedThreshold is the least score for pools with the policy Balanced. Karpenter uses the same
// value.
const BalancedThreshold = 0.5

// narrow reduces the options of the replacements of some nodes to those that save the required
// amount, whichever of them is launched:
//
//   - for one replacement, the options that cost less than the nodes together by the required
//     amount;
//   - for several, the options that exceed the cheapest of their replacement by at most an equal
//     share of what all cheapest options save beyond the required amount;
//   - no options that would launch again what is removed: of one replacement for several nodes,
//     only options cheaper than each node whose type is among its types; of several replacements,
//     none with the type, zone and capacity type of a removed node.
//
// The remaining options must still satisfy minValues of the pool.
func narrow(targets []*state.StateNode, nodes []provisioning.NewNode, required float64) ([]provisioning.NewNode, rule.Outcome) {
	out := slices.Clone(nodes)
	if len(nodes) == 0 {
		return out, rule.Outcome{}
	}
	removed, cheapest := state.PriceOf(targets), simulation.TotalPrice(nodes)
	slack := removed - required - cheapest
	if slack < -simulation.PriceSlack || removed-cheapest <= simulation.PriceSlack {
		return nil, notCheaper(targets, nodes, removed, cheapest, required)
	}
	var keep func(o cloudprovider.LaunchOption, n *provisioning.NewNode) bool
	if len(nodes) == 1 {
		ceiling := typeCeiling(targets, nodes[0].Options)
		keep = func(o cloudprovider.LaunchOption, _ *provisioning.NewNode) bool {
			p := o.Offering.Price
			return p < removed-simulation.PriceSlack && p <= removed-required+simulation.PriceSlack && (ceiling < 0 || p < ceiling-simulation.PriceSlack)
		}
	} else {
		own := keysOf(targets)
		share := slack / float64(len(nodes))
		keep = func(o cloudprovider.LaunchOption, n *provisioning.NewNode) bool {
			return o.Offering.Price <= n.Price()+share+simulation.PriceSlack && !own[o.Key()]
		}
	}
	for i := range out {
		n := &out[i]
		n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o cloudprovider.LaunchOption) bool { return !keep(o, &nodes[i]) })
		if v := stillValid(n, &nodes[i]); v.Bad() {
			return nil, v
		}
	}
	return out, rule.Outcome{}
}

func stillValid(n, before *provisioning.NewNode) rule.Outcome {
	if len(n.Options) == 0 {
		return rule.Forbid(rule.NotCheaper, "the cheapest way to run its pods is what it is already, %s at %s", before.Options[0].Key(), words.USD(before.Price()))
	}
	if missed := n.MissedMinValues(); len(missed) > 0 && !n.MinValuesRelaxed {
		return rule.Forbid(rule.NotCheaper, "the cheaper ways to launch its replacement have %s of %s, and minValues of its %s is %d",
			words.Plural(missed[0].Have, "value"), missed[0].Key, state.PoolObject(n.Pool.Name), missed[0].Want)
	}
	return rule.Outcome{}
}

func notCheaper(targets []*state.StateNode, nodes []provisioning.NewNode, removed, cheapest, required float64) rule.Outcome {
	if removed-cheapest > simulation.PriceSlack {
		return rule.Forbid(rule.SavingTooSmall, "removing it would save %s, %s instead of %s, and MinimumScore or another option asks for %s",
			words.USD(removed-cheapest), words.USD(cheapest), words.USD(removed), words.USD(required))
	}
	what := fmt.Sprintf("%s would cost %s", words.Plural(len(nodes), "new node"), words.USD(cheapest))
	if len(nodes) == 1 {
		what = fmt.Sprintf("the cheapest that holds what finds no room elsewhere is %s at %s", nodes[0].Options[0].Key(), words.USD(cheapest))
	}
	if len(targets) > 1 {
		return rule.Forbid(rule.NotCheaper, "no cheaper place for the pods of %d nodes: %s, and they cost %s", len(targets), what, words.USD(removed))
	}
	return rule.Forbid(rule.NotCheaper, "no cheaper place for its pods: %s, and it costs %s", what, words.USD(removed))
}

// typeCeiling returns the lowest price of the nodes whose type is among the options, or a negative
// number if there are none.
func typeCeiling(targets []*state.StateNode, options []cloudprovider.LaunchOption) float64 {
	ceiling := -1.0
	if len(targets) < 2 {
		return ceiling
	}
	types := map[string]bool{}
	for _, o := range options {
		types[o.InstanceType.Name] = true
	}
	for _, m := range targets {
		if p, _ := m.Price(); m.InstanceType != nil && types[m.InstanceType.Name] && (ceiling < 0 || p < ceiling) {
			ceiling = p
		}
	}
	return ceiling
}

// keysOf returns the offerings with which nodes were bought.
func keysOf(targets []*state.StateNode) map[cloudprovider.OfferingKey]bool {
	out := map[cloudprovider.OfferingKey]bool{}
	for _, m := range targets {
		if m.InstanceType != nil && m.Offering != nil {
			out[m.Offering.Key(m.InstanceType.Name)] = true
		}
	}
	return out
}

// spotRules narrows the replacements of spot nodes by spot nodes. Replacing one by one requires
// SpotFloor cheaper types, and the new node is launched as one of that many cheapest types, so that
// it is not replaced again at once. If spot is forbidden, other capacity must cost no more than the
// spot options. Otherwise spot options would replace it in turn, and by way of on-demand the node
// would become the spot node that is forbidden.
func (f *Rules) spotRules(targets []*state.StateNode, nodes []provisioning.NewNode) ([]provisioning.NewNode, rule.Outcome) {
	for _, m := range targets {
		if m.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeSpot {
			return nodes, rule.Outcome{}
		}
	}
	out := slices.Clone(nodes)
	for i := range out {
		n := &out[i]
		types := spotTypes(n.Options)
		floor := f.opts.SpotFloor
		switch {
		case len(types) == 0:
		case f.opts.NoSpotToSpot:
			if n.Options = withoutSpot(n.Options); len(n.Options) == 0 {
				return nil, rule.Forbid(rule.SpotToSpot, "its replacement would be a spot node as well, which is off")
			}
		case len(targets) > 1 || floor == 0:
		case len(types) < floor:
			if n.Options = withoutSpot(n.Options); len(n.Options) == 0 {
				return nil, rule.Forbid(rule.SpotToSpot, "%s cheaper to replace it by on spot, and with fewer than %d it would soon be replaced again",
					words.Plural(len(types), "instance type")+words.Verb(len(types), " is", " are"), floor)
			}
		default:
			n.Options = firstTypes(n, types, floor)
		}
		if v := stillValid(n, &nodes[i]); v.Bad() {
			return nil, v
		}
	}
	return out, rule.Outcome{}
}

// spotTypes lists the types with a spot offering, cheapest first.
func spotTypes(options []cloudprovider.LaunchOption) []string {
	var out []string
	for _, o := range options {
		if o.Offering.CapacityType == v1.CapacityTypeSpot && !slices.Contains(out, o.InstanceType.Name) {
			out = append(out, o.InstanceType.Name)
		}
	}
	return out
}

// withoutSpot returns the options that are not spot and cost no more than every spot option.
func withoutSpot(options []cloudprovider.LaunchOption) []cloudprovider.LaunchOption {
	least := math.Inf(1)
	for _, o := range options {
		if o.Offering.CapacityType == v1.CapacityTypeSpot {
			least = min(least, o.Offering.Price)
		}
	}
	return slices.DeleteFunc(slices.Clone(options), func(o cloudprovider.LaunchOption) bool {
		return o.Offering.CapacityType == v1.CapacityTypeSpot || o.Offering.Price > least+simulation.PriceSlack
	})
}

// firstTypes returns the spot options of the cheapest types: as many types as floor, or as
// minValues require if all options together can satisfy them.
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

// Required returns the least saving of an action on some nodes, in USD per hour: the larger of the
// two that Options require.
func (f *Rules) Required(targets []*state.StateNode) float64 {
	score := 0.0
	for _, m := range targets {
		share, _ := f.scoreShare(m)
		score += f.opts.MinimumScore * share * f.totals[m.PoolName].unit * state.DisruptionCost(m)
	}
	return max(f.opts.MinimumSaving, score)
}

// leastScoreShare is the least share of MinimumScore that HalveScoreAfter leaves.
const leastScoreShare = 1.0 / 8

// scoreShare returns the share of MinimumScore that a node needs now, and when that share falls
// next. The instant is zero if the share never falls.
func (f *Rules) scoreShare(m *state.StateNode) (share float64, falls time.Time) {
	share = 1
	if f.opts.HalveScoreAfter <= 0 {
		return share, time.Time{}
	}
	since, known := f.cluster.LastPodEvent(m)
	if !known {
		return share, time.Time{}
	}
	for quiet := f.opts.HalveScoreAfter; share > leastScoreShare; quiet *= 2 {
		if falls = since.Add(quiet); falls.After(f.cluster.Now) {
			return share, falls
		}
		share /= 2
	}
	return share, time.Time{}
}

// ScoreFalls returns the first instant after now at which one of some nodes needs a lower score. It
// is zero if no node will.
func (f *Rules) ScoreFalls(nodes []*state.StateNode) (first time.Time) {
	for _, m := range nodes {
		_, falls := f.scoreShare(m)
		first = order.Sooner(first, falls)
	}
	return first
}

// judge decides whether a set saves enough to be worth doing.
func (f *Rules) judge(cs *simulation.CandidateSet) {
	if cs.Outcome.Bad() {
		return
	}
	required := f.Required(cs.Targets)
	nodes, v := narrow(cs.Targets, cs.Nodes, required)
	if !v.Bad() {
		nodes, v = f.spotRules(cs.Targets, nodes)
	}
	if v.Bad() {
		cs.Outcome = v
		return
	}
	cs.Nodes = nodes
	removed, cost := state.PriceOf(cs.Targets), simulation.TotalPrice(nodes)
	cs.Saving = removed - cost
	if cs.Saving <= simulation.PriceSlack || cs.Saving < required-simulation.PriceSlack {
		cs.Outcome = notCheaper(cs.Targets, nodes, removed, cost, required)
		return
	}
	cs.Outcome = f.balanced(cs.Targets, cs.Saving)
}

// poolTotals are the totals of a pool with which an action is compared.
type poolTotals struct {
	cost       float64 // of all nodes, in USD per hour
	disruption float64 // of all nodes: see Candidate.DisruptionCost
	unit       float64 // USD per hour for a unit of disruption: in the pool, or in all pools if that is less
}

// perUnit returns what the pool costs for each unit of its disruption cost.
func (t poolTotals) perUnit() float64 {
	if !(t.disruption > 0) {
		return 0
	}
	return t.cost / t.disruption
}

// totalsOf returns the totals of all pools, by name.
func totalsOf(f *state.Cluster) map[string]poolTotals {
	out := map[string]poolTotals{}
	var all poolTotals
	for _, name := range f.PoolNames {
		p := f.Pools[name]
		var t poolTotals
		t.cost, t.disruption = state.PriceOf(p.Members), state.DisruptionCost(p.Members...)
		all.cost, all.disruption = all.cost+t.cost, all.disruption+t.disruption
		out[name] = t
	}
	for name, t := range out { // the order does not matter
		t.unit = min(t.perUnit(), all.perUnit())
		out[name] = t
	}
	return out
}

// scoreSlack is the difference up to which two scores count as equal. If one of many equal nodes is
// replaced at half its price, the score is one half, except for rounding errors in sums of prices.
const scoreSlack = 1e-9

// balanced judges an action by the pools with the policy Balanced. For each such pool, the ratio of
// the saved share of its cost to the share of its disruption cost must reach the threshold. The
// saving of an action on several pools is divided among them in proportion to the prices of their
// nodes.
func (f *Rules) balanced(targets []*state.StateNode, savings float64) rule.Outcome {
	price, disruption := map[string]float64{}, map[string]float64{}
	all := state.PriceOf(targets)
	for _, m := range targets {
		p, _ := m.Price()
		price[m.PoolName] += p
		disruption[m.PoolName] += state.DisruptionCost(m)
	}
	for _, name := range f.cluster.PoolNames {
		total := f.totals[name]
		if _, concerned := price[name]; !concerned || f.cluster.Pools[name].Policy != v1.ConsolidationPolicyBalanced {
			continue
		}
		if score := balancedScore(total, savings*price[name]/all, disruption[name]); score+scoreSlack < BalancedThreshold {
			return rule.Forbid(rule.Balanced, "%s weighs savings against disruption: saving %s scores %.3g, and %.3g is asked for",
				state.PoolObject(name), words.USD(savings), score, BalancedThreshold)
		}
	}
	return rule.Outcome{}
}

func balancedScore(total poolTotals, savings, disruption float64) float64 {
	if !(total.cost > 0) || !(total.disruption > 0) || !(savings > 0) {
		return 0
	}
	return (savings / total.cost) / (disruption / total.disruption)
}
