package catalog

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// MinValue is a minValues requirement of a pool, with its values numbered.
type MinValue struct {
	pack.MinValue
	Key  string
	text []string // by value number
}

// newMinValues numbers the values that the options of a pool have for each key with minValues.
// Options are available offerings, so each counted value can be launched.
func newMinValues(p *Pool, index int, d *Domains) []MinValue {
	var out []MinValue
	for _, r := range p.MinValues {
		dom := d.Of(index, r.Key())
		mv := MinValue{Key: r.Key(), MinValue: pack.MinValue{Need: r.MinValues(), Values: make([][]int32, len(dom.of))}}
		number := map[string]int32{}
		lists := make([][]int32, len(dom.Distinct))
		for i, value := range dom.Distinct {
			values, finite := value.Values()
			if !finite {
				continue // an infinite set does not say which values can be launched
			}
			for _, v := range values {
				id, fresh := model.Intern(number, []byte(v), int32(len(number)))
				if fresh {
					mv.text = append(mv.text, v)
				}
				lists[i] = append(lists[i], id)
			}
		}
		for i, which := range dom.of {
			// A label that only the pool defines has one value on a node whichever option is
			// launched, so it offers no choice.
			if defines(p.Options[i].LaunchOption, r.Key()) {
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
	_, byType := TypeRequirement(o.InstanceType, key)
	_, byOffering := OfferingRequirement(o.Offering, key)
	return byType || byOffering
}

// allowed returns the numbers of the values that a requirement admits.
func (m *MinValue) allowed(r requirements.Requirement) bitset.Set {
	out := bitset.New(m.Count)
	for i, v := range m.text {
		if r.Has(v) {
			out.Add(i)
		}
	}
	return out
}
