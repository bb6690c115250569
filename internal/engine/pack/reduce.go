package pack

import (
	"encoding/binary"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
)

// reduced returns the problem for Floor: one pool without rules. Of several options with equal
// capacity, classes and reservation, only the cheapest is kept.
func reduced(p *Problem) *Problem {
	out := &Problem{Dims: p.Dims, Nodes: p.Nodes, Reservations: p.Reservations, Rules: p.Rules}
	groups, of := optionGroups(p)
	capacities := p.capacities()
	masks := bitset.Holders(groups, 0, len(p.Options))
	index := map[string]int{}
	sets := make([]bitset.Set, len(groups))
	for g := range sets {
		sets[g] = bitset.New(len(p.Options))
	}
	var key []byte
	for o := range p.Options {
		option, mask := &p.Options[o], masks(o)
		if mask.Empty() {
			continue
		}
		key = binary.AppendVarint(binary.AppendVarint(key[:0], int64(capacities.Of(o))), int64(option.Reservation))
		key = mask.AppendKey(key)
		i, known := index[string(key)]
		if !known {
			i = len(out.Options)
			index[string(key)] = i
			out.Options = append(out.Options, *option)
			for g := range mask.All() {
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

// optionGroups lists the distinct sets of options that classes may use by any variant, and the
// index of the set of each class.
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
