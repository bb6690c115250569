package cover

import (
	"encoding/binary"
	"slices"
)

// part is a piece of a problem that shares no supply with the rest, restricted
// to groups that demand something.
type part struct {
	p        *Problem
	groups   []int   // numbers in the whole problem, ascending
	serves   [][]int // sets of indices into groups
	supplies []int   // numbers in the whole problem, ascending
	set      []int   // by index into supplies: which of serves it serves
}

// split cuts a problem into its parts. Groups belong together when a supply
// serves both; a group without demand ties nothing together. Supplies that
// serve nobody who demands anything are left out.
func split(p *Problem) []*part {
	wanted := make([]bool, len(p.Demand))
	for g, demand := range p.Demand {
		wanted[g] = slices.ContainsFunc(demand, func(d float64) bool { return d > 0 })
	}
	used := make([]bool, len(p.Serves))
	for i := range p.Supplies {
		used[p.Supplies[i].Serves] = true
	}
	parent := make([]int, len(p.Demand))
	for g := range parent {
		parent[g] = g
	}
	first := make([]int, len(p.Serves)) // the first wanted group, -1 if none
	for s, groups := range p.Serves {
		first[s] = -1
		for _, g := range groups {
			switch {
			case !used[s] || !wanted[g]:
			case first[s] < 0:
				first[s] = g
			default:
				join(parent, first[s], g)
			}
		}
	}
	return collect(p, wanted, parent, first)
}

// root finds the least group of the part of a group.
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

// collect makes a part of each set of joined groups, by their least group.
func collect(p *Problem, wanted []bool, parent, first []int) []*part {
	var parts []*part
	partOf := make([]int, len(p.Demand)) // by least group
	local := make([]int, len(p.Demand))
	for g := range p.Demand {
		if !wanted[g] {
			continue
		}
		r := root(parent, g)
		if r == g {
			partOf[g] = len(parts)
			parts = append(parts, &part{p: p})
		}
		in := parts[partOf[r]]
		local[g] = len(in.groups)
		in.groups = append(in.groups, g)
	}
	set := make([]int, len(p.Serves)) // in its part
	known := map[string]int{}
	var key []byte
	for s, groups := range p.Serves {
		if first[s] < 0 {
			continue
		}
		in := parts[partOf[root(parent, first[s])]]
		here := make([]int, 0, len(groups))
		key = key[:0]
		for _, g := range groups {
			if wanted[g] {
				here = append(here, local[g])
				key = binary.AppendUvarint(key, uint64(g))
			}
		}
		// Sets that differ only in groups without demand are one.
		same, ok := known[string(key)]
		if !ok {
			same = len(in.serves)
			known[string(key)] = same
			in.serves = append(in.serves, here)
		}
		set[s] = same
	}
	addSupplies(p, parts, func(set int) int { return partOf[root(parent, first[set])] }, first, set)
	return parts
}

// addSupplies hands the supplies to the parts that their sets are in.
func addSupplies(p *Problem, parts []*part, partOf func(set int) int, first, local []int) {
	count := make([]int, len(parts))
	for i := range p.Supplies {
		if s := p.Supplies[i].Serves; first[s] >= 0 {
			count[partOf(s)]++
		}
	}
	for i, in := range parts {
		in.supplies, in.set = make([]int, 0, count[i]), make([]int, 0, count[i])
	}
	for i := range p.Supplies {
		if s := p.Supplies[i].Serves; first[s] >= 0 {
			in := parts[partOf(s)]
			in.supplies = append(in.supplies, i)
			in.set = append(in.set, local[s])
		}
	}
}

// at returns a supply by its number in the part.
func (in *part) at(i int) *Supply { return &in.p.Supplies[in.supplies[i]] }

// dims is the number of resources.
func (in *part) dims() int { return len(in.p.Demand[in.groups[0]]) }
