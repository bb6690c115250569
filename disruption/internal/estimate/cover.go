package estimate

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
	m     *Node
	value float64 // of its room, at the prices of new nodes
	load  float64 // of its pods, at the same
	price float64 // less what it would cost to disturb its pods
	waste float64 // what it costs above load, by disruption cost
}

// Cover chooses which of the candidates to remove, by name: pool by pool it keeps the
// nodes whose room is cheapest until that is enough for all pods, as long as it
// is cheaper than on new nodes, and names the others, the most wasteful first.
// What it costs to disturb the pods of a node speaks for keeping it: eviction is what a
// unit of disruption cost weighs in a pool.
func (e *Estimate) Cover(candidates []string, eviction func(pool string) float64) []string {
	byPool := map[string][]supplier{}
	var pools []string
	for _, name := range candidates {
		i := e.at[name]
		pool := e.nodes[i].Pool
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

// Waste is what a node costs above what its pods would cost on new nodes, for each unit
// of its disruption cost.
func (e *Estimate) Waste(name string) float64 { return e.supplier(e.at[name], 0).waste }

func (e *Estimate) supplier(i int, eviction float64) supplier {
	m := e.nodes[i]
	s := supplier{m: m, price: m.Price}
	prices := e.prices[m.Pool]
	for d, p := range prices {
		s.value += p * float64(e.total[i][d])
		for _, c := range e.Cluster.Nodes[i].Pods {
			s.load += p * float64(e.Cluster.Classes[c.Class].Request[d]) * float64(c.Pods)
		}
	}
	s.waste = (s.price - s.load) / m.Cost
	s.price -= eviction * m.Cost
	return s
}

// roomElsewhere is the room on the nodes of a pool that are no candidates, at the
// prices of new ones.
func (e *Estimate) roomElsewhere(pool string, candidates []supplier) float64 {
	named := map[string]bool{}
	for _, s := range candidates {
		named[s.m.Name] = true
	}
	sum := 0.0
	for i, m := range e.nodes {
		if m.Pool != pool || named[m.Name] || e.Cluster.Nodes[i].Free == nil {
			continue
		}
		for d, p := range e.prices[pool] {
			sum += p * float64(max(e.Cluster.Nodes[i].Free[d], 0))
		}
	}
	return sum
}
