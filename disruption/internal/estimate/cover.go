package estimate

import (
	"cmp"
	"slices"
	"strings"
)

// spareRoom is the share by which the nodes that stay must be larger than the pods on them, because
// pods do not fill nodes completely.
const spareRoom = 0.10

// supplier is a node that could hold pods of other nodes. All amounts are in USD per hour.
type supplier struct {
	m     *Node
	value float64 // of its room, at the prices of resources on new nodes
	load  float64 // of its pods, at the same prices
	price float64 // price of the node less the cost of evicting its pods
	waste float64 // price above load, per unit of disruption cost
}

// Cover chooses candidates to remove, by name. Pool by pool it keeps the nodes with the cheapest
// room until they hold all pods, as long as that is cheaper than new nodes. It returns the other
// candidates, the most wasteful first. The disruption cost of a node speaks for keeping it:
// eviction returns the weight of a unit of disruption cost in a pool, in USD per hour.
func (e *Estimate) Cover(candidates []string, eviction func(pool string) float64) []string {
	byPool := map[string][]supplier{}
	var pools []string
	for _, name := range candidates {
		i := e.at[name]
		pool := e.sites[i].Pool
		if byPool[pool] == nil {
			pools = append(pools, pool)
		}
		byPool[pool] = append(byPool[pool], e.supplier(i, eviction(pool)))
	}
	slices.Sort(pools)
	var gone []supplier
	for _, pool := range pools {
		list := byPool[pool]
		slices.SortFunc(list, func(a, b supplier) int {
			return cmp.Or(cmp.Compare(a.price*b.value, b.price*a.value), strings.Compare(a.m.Name, b.m.Name))
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
		return cmp.Or(cmp.Compare(b.waste, a.waste), strings.Compare(a.m.Name, b.m.Name))
	})
	out := make([]string, len(gone))
	for i, s := range gone {
		out[i] = s.m.Name
	}
	return out
}

// Waste returns the price of a node above what its pods would cost on new nodes, per unit of its
// disruption cost.
func (e *Estimate) Waste(name string) float64 { return e.supplier(e.at[name], 0).waste }

func (e *Estimate) supplier(i int, eviction float64) supplier {
	m := &e.sites[i]
	s := supplier{m: m.Node, price: m.Price}
	prices := e.prices[m.Pool]
	for d, p := range prices {
		s.value += p * float64(m.whole[d])
		for _, c := range m.pods {
			s.load += p * float64(e.classes[c.Class].request[d]) * float64(c.Pods)
		}
	}
	s.waste = (s.price - s.load) / m.Cost
	s.price -= eviction * m.Cost
	return s
}

// roomElsewhere returns the value of the room on the nodes of a pool that are no candidates, at the
// prices of new nodes.
func (e *Estimate) roomElsewhere(pool string, candidates []supplier) float64 {
	named := map[string]bool{}
	for _, s := range candidates {
		named[s.m.Name] = true
	}
	sum := 0.0
	for i := range e.sites {
		m := &e.sites[i]
		if m.Pool != pool || named[m.Name] || m.free == nil {
			continue
		}
		for d, p := range e.prices[pool] {
			sum += p * float64(max(m.free[d], 0))
		}
	}
	return sum
}
