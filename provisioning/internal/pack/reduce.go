package pack

import (
	"encoding/binary"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// reduced returns a problem as Floor looks at it: one pool without rules, and of
// options that hold the same for the same classes, from the same reservation, only the
// cheapest.
func reduced(p *Problem) *Problem {
	out := &Problem{Dims: p.Dims, Nodes: p.Nodes, Reservations: p.Reservations, Rules: p.Rules}
	groups, of := optionGroups(p)
	capacities := p.capacities()
	masks := admitting(p, groups)
	index := map[string]int{}
	sets := make([]bitset.Set, len(groups))
	for g := range sets {
		sets[g] = bitset.New(len(p.Options))
	}
	var key []byte
	for o := range p.Options {
		if masks[o].Empty() {
			continue
		}
		option := &p.Options[o]
		key = binary.AppendVarint(binary.AppendVarint(key[:0], int64(capacities.of[o])), int64(option.Reservation))
		key = append(key, masks[o].Key()...)
		i, known := index[string(key)]
		if !known {
			i = len(out.Options)
			index[string(key)] = i
			out.Options = append(out.Options, *option)
			for g := range masks[o].All() {
				sets[g].Add(i)
			}
		}
		out.Options[i].Price = min(out.Options[i].Price, option.Price)
	}
	for g := range sets {
		sets[g] = sets[g][:len(bitset.New(len(out.Options)))]
	}
	for c := range p.Classes {
		class := p.Classes[c]
		class.Variants = []Variant{{Options: sets[of[c]]}}
		out.Classes = append(out.Classes, class)
	}
	out.Pools = []Pool{{Last: len(out.Options)}}
	return out
}

// optionGroups lists the distinct sets of options that classes may use, whichever
// variant it takes, and says which is that of each class.
func optionGroups(p *Problem) (groups []bitset.Set, of []int) {
	index := map[string]int{}
	for c := range p.Classes {
		all := bitset.New(len(p.Options))
		for _, v := range p.Classes[c].Variants {
			all.Or(v.Options)
		}
		key := all.Key()
		g, known := index[key]
		if !known {
			g = len(groups)
			index[key] = g
			groups = append(groups, all)
		}
		of = append(of, g)
	}
	return groups, of
}

// admitting returns, for each option, the groups that may use it.
func admitting(p *Problem, groups []bitset.Set) []bitset.Set {
	words := len(bitset.New(len(groups)))
	flat := make([]uint64, words*len(p.Options))
	out := make([]bitset.Set, len(p.Options))
	for o := range out {
		out[o] = bitset.Set(flat[o*words : (o+1)*words])
	}
	for g, set := range groups {
		for o := range set.All() {
			out[o].Add(g)
		}
	}
	return out
}
