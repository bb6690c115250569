package cover

import (
	"encoding/binary"
	"slices"
)

// part is a piece of a problem that shares no supply with the rest, restricted to groups with
// demand.
type part struct {
	*Market
	demand [][]float64
	groups []int     // numbers in the whole problem, ascending
	serves [][]int   // sets of indexes in groups
	goods  [][]goods // by set: what is sold to it
}

// split divides a problem into parts. Two groups with demand are in one part if a supply serves
// both. Supplies that serve no group with demand are left out.
func (m *Market) split(demand [][]float64) []*part {
	wanted := make([]bool, len(demand))
	for g := range demand {
		wanted[g] = slices.ContainsFunc(demand[g], func(d float64) bool { return d > 0 })
	}
	parent := make([]int, len(demand))
	for g := range parent {
		parent[g] = g
	}
	first := make([]int, len(m.serves)) // by set: its first group with demand, -1 if there is none
	for s, groups := range m.serves {
		first[s] = -1
		if len(m.goods[s].supplies) == 0 {
			continue
		}
		for _, g := range groups {
			switch {
			case !wanted[g]:
			case first[s] < 0:
				first[s] = g
			default:
				join(parent, first[s], g)
			}
		}
	}
	return m.collect(demand, wanted, parent, first)
}

// root returns the least group of the part of a group.
func root(parent []int, g int) int {
	for parent[g] != g {
		parent[g] = parent[parent[g]]
		g = parent[g]
	}
	return g
}

func join(parent []int, a, b int) {
	a, b = root(parent, a), root(parent, b)
	parent[max(a, b)] = min(a, b)
}

// collect returns a part for each set of joined groups, in the order of their least groups.
func (m *Market) collect(demand [][]float64, wanted []bool, parent, first []int) []*part {
	var parts []*part
	partOf := make([]int, len(demand)) // by least group
	local := make([]int, len(demand))
	for g := range demand {
		if !wanted[g] {
			continue
		}
		r := root(parent, g)
		if r == g {
			partOf[g] = len(parts)
			parts = append(parts, &part{Market: m, demand: demand})
		}
		in := parts[partOf[r]]
		local[g] = len(in.groups)
		in.groups = append(in.groups, g)
	}
	known := map[string]int{}
	var key []byte
	var here []int
	for s, groups := range m.serves {
		if first[s] < 0 {
			continue
		}
		in := parts[partOf[root(parent, first[s])]]
		key, here = key[:0], here[:0]
		for _, g := range groups {
			if wanted[g] {
				here = append(here, local[g])
				key = binary.AppendUvarint(key, uint64(g))
			}
		}
		// Sets that differ only in groups without demand become one.
		same, ok := known[string(key)]
		if !ok {
			same = len(in.serves)
			known[string(key)] = same
			in.serves = append(in.serves, slices.Clone(here))
			in.goods = append(in.goods, nil)
		}
		in.goods[same] = append(in.goods[same], m.goods[s])
	}
	return parts
}
