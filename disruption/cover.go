package disruption

import (
	"cmp"
	"slices"
	"strings"
)

// spareRoom is the part by which the nodes that stay must be larger than what is
// to run on them: pods do not fill nodes to the brim.
const spareRoom = 0.10

// supplier is a node as something that could hold pods.
type supplier struct {
	m     *member
	value float64 // of its room, at the prices of new nodes
	load  float64 // of its pods, at the same
	price float64 // less what it would cost to disturb its pods
	waste float64 // what it costs above load, by disruption cost
}

// cover chooses which of the candidates to remove: pool by pool it keeps the
// nodes whose room is cheapest until that is enough for all pods, as long as it
// is cheaper than on new nodes, and names the others, the most wasteful first.
// What it costs to disturb the pods of a node speaks for keeping it.
func (e *estimate) cover(candidates []*member, totals map[string]poolTotals) []*member {
	byPool := map[string][]supplier{}
	var pools []string
	for _, m := range candidates {
		if byPool[m.poolName] == nil {
			pools = append(pools, m.poolName)
		}
		byPool[m.poolName] = append(byPool[m.poolName], e.supplier(m, e.evictionPrice(totals[m.poolName])))
	}
	slices.Sort(pools)
	var gone []supplier
	for _, pool := range pools {
		list := byPool[pool]
		slices.SortFunc(list, func(a, b supplier) int {
			return cmp.Or(cmp.Compare(a.price*b.value, b.price*a.value), strings.Compare(a.m.name, b.m.name))
		})
		need := -e.roomElsewhere(pool, list)
		for _, s := range list {
			need += s.load
		}
		need *= 1 + spareRoom
		for _, s := range list {
			if s.price < s.value && need > 0 {
				need -= s.value
			} else {
				gone = append(gone, s)
			}
		}
	}
	slices.SortFunc(gone, func(a, b supplier) int {
		return cmp.Or(cmp.Compare(b.waste, a.waste), strings.Compare(a.m.name, b.m.name))
	})
	out := make([]*member, len(gone))
	for i, s := range gone {
		out[i] = s.m
	}
	return out
}

// evictionPrice is what a unit of disruption cost weighs when nodes of a pool are
// chosen. It is above zero even where Options asks for nothing, so that of two
// nodes the one with fewer pods goes.
func (e *estimate) evictionPrice(t poolTotals) float64 {
	return max(e.w.f.opts.DisruptionPrice, max(rankingShare, e.w.f.opts.MinimumScore)*t.unit)
}

// rankingShare is the least weight of a unit of disruption cost, as a share of
// what the pool costs for each such unit.
const rankingShare = 1.0

func (e *estimate) supplier(m *member, eviction float64) supplier {
	i := e.at[m.name]
	s := supplier{m: m, price: e.cluster.Nodes[i].Price}
	units := (oneEviction + m.cost).float()
	prices := e.prices[m.poolName]
	for d, p := range prices {
		s.value += p * float64(e.total[i][d])
		for _, c := range e.cluster.Nodes[i].Pods {
			s.load += p * float64(e.cluster.Classes[c.Class].Request[d]) * float64(c.Pods)
		}
	}
	s.waste = (s.price - s.load) / units
	s.price -= eviction * units
	return s
}

// roomElsewhere is the room on the nodes of a pool that are no candidates, at the
// prices of new ones.
func (e *estimate) roomElsewhere(pool string, candidates []supplier) float64 {
	named := map[string]bool{}
	for _, s := range candidates {
		named[s.m.name] = true
	}
	sum := 0.0
	for _, m := range e.w.f.pools[pool].members {
		i, found := e.at[m.name]
		if !found || named[m.name] || e.cluster.Nodes[i].Free == nil {
			continue
		}
		for d, p := range e.prices[pool] {
			sum += p * float64(max(e.cluster.Nodes[i].Free[d], 0))
		}
	}
	return sum
}
