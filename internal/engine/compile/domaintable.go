package compile

import (
	"maps"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// domainTable numbers the values of the labels over which rules are defined.
type domainTable struct {
	Keys   []string
	Values [][]string
	Index  []map[string]int
	Beyond []requirements.Requirement // by key: the label has a value that is not in Values

	columns []*model.LabelColumn // by key: the values on nodes
	domains [][]int              // by key, and by number of a value in columns: the domain
}

// newDomainTable lists the values that options and nodes have for the labels over which rules are
// defined.
func newDomainTable(p *Problem, r *Rules, d *catalog.Domains, before *model.Rooms) *domainTable {
	t := &domainTable{}
	wanted := map[string]bool{}
	for c := range r.ByClass {
		for _, key := range r.ByClass[c].Spans {
			wanted[key] = true
		}
		for _, i := range r.ByClass[c].Soft {
			wanted[r.Domain[i].Term.Key] = true
		}
	}
	t.Keys = slices.Sorted(maps.Keys(wanted))
	for _, key := range t.Keys {
		seen := map[string]bool{}
		for i := range p.Pools {
			if len(p.Pools[i].Options) == 0 {
				continue
			}
			for _, open := range d.Of(i, p.Vocabulary.NormalizeKey(key)).Distinct {
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
		for i := range p.Pools {
			for _, v := range d.SoldOut(i, requirements.Set{}, p.Vocabulary.NormalizeKey(key)) {
				seen[v] = true // a spread counts it even while it is sold out
			}
		}
		column := p.rooms.Column(key, before)
		for number, present := range column.Present() {
			if present {
				seen[column.Values[number]] = true
			}
		}
		values := slices.Sorted(maps.Keys(seen))
		index := make(map[string]int, len(values))
		for i, v := range values {
			index[v] = i
		}
		domains := make([]int, len(column.Values))
		for number, v := range column.Values {
			domains[number] = index[v] // for values that some node has
		}
		t.Values, t.Index = append(t.Values, values), append(t.Index, index)
		key = p.Vocabulary.NormalizeKey(key)
		t.Beyond = append(t.Beyond, requirements.NotIn(key, values...).Intersect(requirements.Exists(key)))
		t.columns, t.domains = append(t.columns, column), append(t.domains, domains)
	}
	return t
}

// asked lists the values considered for a label that may have any value: the values that classes
// require by name, and the value that a node gets if its pods leave it open.
func (p *Problem) asked(open requirements.Requirement) []string {
	var out []string
	if value, ok := open.Any(); ok {
		out = append(out, value)
	}
	for c := range p.Classes {
		for _, alt := range p.Classes[c].Alternatives {
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

// number returns the number of a key, -1 if no rule is defined over it.
func (t *domainTable) number(key string) int {
	i, ok := slices.BinarySearch(t.Keys, key)
	if !ok {
		return -1
	}
	return i
}

// AllowsBeyond says whether a set allows key k to have a value that the table does not list.
func (t *domainTable) AllowsBeyond(k int, set requirements.Set) bool {
	r, asked := set.Get(t.Beyond[k].Key())
	return !asked || r.Overlaps(t.Beyond[k])
}

// Numbers returns the numbers of several keys.
func (t *domainTable) Numbers(keys []string) []int {
	out := make([]int, len(keys))
	for i, key := range keys {
		out[i] = t.number(key)
	}
	return out
}

// place sets the domains of a node from its labels.
func (t *domainTable) place(n *model.Existing, v *requirements.Vocabulary) {
	for k, key := range t.Keys {
		n.At[k] = topology.None
		if number := t.columns[k].Of[n.Index]; number != model.NoValue {
			n.At[k] = t.domains[k][number]
		} else if n.Marks&model.Coming != 0 && mayGet(n, key, v) {
			n.At[k] = topology.Unknown
		}
	}
}
