package disruption

import v1 "github.com/dovetail-sdk/dovetail/api/v1"

// poolTotals is what an action on a pool is weighed against.
type poolTotals struct {
	cost       float64 // USD per hour of all nodes
	disruption float64 // of all nodes: see Candidate.DisruptionCost
	unit       float64 // what a unit of it is taken to cost: in the pool, or in all pools if that is less
}

// perUnit is what the pool costs for each unit of its disruption cost.
func (t poolTotals) perUnit() float64 {
	if !(t.disruption > 0) {
		return 0
	}
	return t.cost / t.disruption
}

// poolTotals are those of all pools.
func (f *Fleet) poolTotals() map[string]poolTotals {
	out := map[string]poolTotals{}
	var all poolTotals
	for _, name := range f.poolNames {
		p := f.pools[name]
		var t poolTotals
		var units evictionUnits
		for _, m := range p.members {
			price, _ := m.price()
			t.cost += price
			units += oneEviction + m.cost
		}
		t.disruption = units.float()
		all.cost, all.disruption = all.cost+t.cost, all.disruption+t.disruption
		out[name] = t
	}
	for name, t := range out { // by key: the order does not matter
		t.unit = min(t.perUnit(), all.perUnit())
		out[name] = t
	}
	return out
}

// scoreSlack is how much two scores may differ and count as equal: a node of many
// that are alike, replaced at half its price, scores exactly one half, but for the
// last digits of sums of prices.
const scoreSlack = 1e-9

// balanced judges an action by the pools that ask for balance: for each, the
// share of its cost that is saved over the share of its disruption cost must
// reach the threshold. What an action on several pools saves counts for each by
// what its nodes cost.
func (f *Fleet) balanced(totals map[string]poolTotals, targets []*member, savings float64) verdict {
	price, disruption := map[string]float64{}, map[string]evictionUnits{}
	all := priceOf(targets)
	for _, m := range targets {
		p, _ := m.price()
		price[m.poolName] += p
		disruption[m.poolName] += oneEviction + m.cost
	}
	for _, name := range f.poolNames {
		total := totals[name]
		if _, concerned := price[name]; !concerned || f.pools[name].policy != v1.ConsolidationPolicyBalanced {
			continue
		}
		if score := balancedScore(total, savings*price[name]/all, disruption[name].float()); score+scoreSlack < f.opts.BalancedThreshold {
			return forbid(RuleBalanced, "%s weighs savings against disruption: saving %s scores %.3g, and %.3g is asked for",
				poolObject(name), usd(savings), score, f.opts.BalancedThreshold)
		}
	}
	return verdict{}
}

func balancedScore(total poolTotals, savings, disruption float64) float64 {
	if !(total.cost > 0) || !(total.disruption > 0) || !(savings > 0) {
		return 0
	}
	return (savings / total.cost) / (disruption / total.disruption)
}
