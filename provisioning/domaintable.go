package provisioning

import (
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// domainTable numbers the values of the labels that rules are about.
type domainTable struct {
	keys   []string
	values [][]string
	index  []map[string]int
}

// newDomainTable lists the values that options and nodes show for the labels
// that rules span.
func newDomainTable(p *Problem, r *rules, d *domains, nodes [][]existing) *domainTable {
	t := &domainTable{}
	wanted := map[string]bool{}
	for c := range r.duties {
		for _, key := range r.duties[c].spans {
			wanted[key] = true
		}
		for _, i := range r.duties[c].soft {
			wanted[r.domain[i].key] = true
		}
	}
	t.keys = slices.Sorted(maps.Keys(wanted))
	for _, key := range t.keys {
		seen := map[string]bool{}
		for i := range p.pools {
			if len(p.pools[i].options) == 0 {
				continue
			}
			for _, open := range d.of(i, p.vocabulary.NormalizeKey(key)).distinct {
				values, finite := open.Values()
				if !finite {
					values = p.asked(open)
				}
				for _, v := range values {
					if open.Has(v) {
						seen[v] = true
					}
				}
			}
		}
		for _, list := range nodes {
			for i := range list {
				if v, ok := list[i].standing.labels[key]; ok {
					seen[v] = true
				}
			}
		}
		values := slices.Sorted(maps.Keys(seen))
		index := make(map[string]int, len(values))
		for i, v := range values {
			index[v] = i
		}
		t.values = append(t.values, values)
		t.index = append(t.index, index)
	}
	return t
}

// asked lists the values of a label that may have any: those that classes ask
// for by name, and those that a node gets if they leave the choice open.
func (p *Problem) asked(open requirements.Requirement) []string {
	var out []string
	if value, ok := open.Any(); ok {
		out = append(out, value)
	}
	for c := range p.classes {
		for _, alt := range p.classes[c].alternatives {
			r, ok := alt.Set.Get(open.Key())
			if !ok {
				continue
			}
			if value, ok := open.Intersect(r).Any(); ok {
				out = append(out, value)
			}
			if values, finite := r.Values(); finite {
				out = append(out, values...)
			}
		}
	}
	return out
}

// number is that of a key, -1 if no rule spans it.
func (t *domainTable) number(key string) int {
	i, ok := slices.BinarySearch(t.keys, key)
	if !ok {
		return -1
	}
	return i
}

// numbers are those of several keys.
func (t *domainTable) numbers(keys []string) []int {
	out := make([]int, len(keys))
	for i, key := range keys {
		out[i] = t.number(key)
	}
	return out
}

// at returns the domains that labels put a node in.
func (t *domainTable) at(n *existing, v *requirements.Vocabulary) []int {
	out := make([]int, len(t.keys))
	for k, key := range t.keys {
		out[k] = topology.None
		if value, ok := n.standing.labels[key]; ok {
			out[k] = t.index[k][value]
		} else if n.mayGet(key, v) {
			out[k] = topology.Unknown
		}
	}
	return out
}
