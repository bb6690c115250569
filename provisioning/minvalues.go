package provisioning

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// MissedMinValues is a minValues of a NodePool that the options of a new node fall
// short of.
type MissedMinValues struct {
	Key  string // of the label
	Want int    // the distinct values of it that the pool demands
	Have int    // those that can be had
}

// String renders it as "minValues of LABEL is 2 instead of 3".
func (m MissedMinValues) String() string {
	return fmt.Sprintf("minValues of %s is %d instead of %d", m.Key, m.Have, m.Want)
}

// MissedMinValues counts the values that the options have of each label that the
// pool demands several of, and returns those of which there are too few, sorted by
// key. There are none unless MinValuesRelaxed is set.
func (n *NewNode) MissedMinValues() []MissedMinValues { return missed(n.Requirements, n.Options) }

// minValue is a minimum of a pool, with its values numbered.
type minValue struct {
	pack.MinValue
	key  string
	text []string // by value number
}

// newMinValues numbers the values that the options of a pool show for each key
// with a minimum. Only launchable options are options, so what is counted can
// be had.
func newMinValues(p *pool, index int, d *domains) []minValue {
	var out []minValue
	for _, r := range p.minValues {
		dom := d.of(index, r.Key())
		mv := minValue{key: r.Key(), MinValue: pack.MinValue{Need: r.MinValues(), Values: make([][]int32, len(dom.of))}}
		number := map[string]int32{}
		lists := make([][]int32, len(dom.distinct))
		for i, value := range dom.distinct {
			values, finite := value.Values()
			if !finite {
				continue // what is not spelled out is not known to be had
			}
			for _, v := range values {
				id, fresh := intern(number, []byte(v), int32(len(number)))
				if fresh {
					mv.text = append(mv.text, v)
				}
				lists[i] = append(lists[i], id)
			}
		}
		for i, which := range dom.of {
			// A label that only the pool defines is settled once for a node,
			// whatever is launched, so it is no choice.
			if defines(p.options[i].LaunchOption, r.Key()) {
				mv.Values[i] = lists[which]
			}
		}
		mv.Count = len(mv.text)
		out = append(out, mv)
	}
	return out
}

// defines says whether an instance type or its offering names a label.
func defines(o cloudprovider.LaunchOption, key string) bool {
	_, byType := typeRequirement(o.InstanceType, key)
	_, byOffering := offeringRequirement(o.Offering, key)
	return byType || byOffering
}

// allowed returns the numbers of the values that a requirement admits.
func (m *minValue) allowed(r requirements.Requirement) bitset.Set {
	out := bitset.New(m.Count)
	for i, v := range m.text {
		if r.Has(v) {
			out.Add(i)
		}
	}
	return out
}
