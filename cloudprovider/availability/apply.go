package availability

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Apply returns types with every offering that is marked now set to not
// Available. The input is not modified: types with such offerings are replaced
// by copies, the others are shared with the input, and so is what copies hold
// beside their offerings. The slice is the caller's and has the order of the
// input.
func (c *Cache) Apply(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	applied := slices.Clone(types)
	hits := c.hits(types)
	copies, offerings := copied(types, hits)
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			copies = append(copies, *types[at.instanceType])
			one := &copies[len(copies)-1]
			first := len(offerings)
			offerings = append(offerings, one.Offerings...)
			one.Offerings = offerings[first:len(offerings):len(offerings)]
			applied[at.instanceType] = one
		}
		applied[at.instanceType].Offerings[at.offering].Available = false
	}
	return applied
}

// offeringAt is where an offering is in a catalog.
type offeringAt struct{ instanceType, offering int }

// hits returns the available offerings that are marked.
func (c *Cache) hits(types []*cloudprovider.InstanceType) (hits []offeringAt) {
	for i, t := range types {
		if t == nil || c.types[""] == 0 && c.types[t.Name] == 0 {
			continue
		}
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.Available {
				if _, marked := c.unavailable(o.Key(t.Name)); marked {
					hits = append(hits, offeringAt{i, j})
				}
			}
		}
	}
	return hits
}

// copied returns room for copies of the types with hits, which are in their order. The
// copies lie in two arrays, however many they are: a mark on a zone concerns every
// type, and a copy each of the type and of its offerings took several times as long
// to allocate and to collect as to fill.
func copied(types []*cloudprovider.InstanceType, hits []offeringAt) ([]cloudprovider.InstanceType, []cloudprovider.Offering) {
	n, offerings := 0, 0
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			n++
			offerings += len(types[at.instanceType].Offerings)
		}
	}
	return make([]cloudprovider.InstanceType, 0, n), make([]cloudprovider.Offering, 0, offerings)
}
