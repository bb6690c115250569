package cloudprovider

import "slices"

// withUnavailable returns types with every available offering that is marked set
// to not Available. Types without one are shared with the input. The copies of
// the others lie in two arrays, however many they are: a mark on a zone concerns
// every type, and a copy each of the type and of its offerings took several times
// as long to allocate and to collect as to fill.
//
// concerned says whether any offering of a type may be marked.
func withUnavailable(types []*InstanceType, concerned func(*InstanceType) bool, marked func(OfferingKey) bool) []*InstanceType {
	applied := slices.Clone(types)
	var hits []offeringAt
	for i, t := range types {
		if t == nil || !concerned(t) {
			continue
		}
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.Available && marked(o.Key(t.Name)) {
				hits = append(hits, offeringAt{i, j})
			}
		}
	}
	copies, offerings := copied(types, hits)
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			copies = append(copies, *types[at.instanceType])
			c := &copies[len(copies)-1]
			first := len(offerings)
			offerings = append(offerings, c.Offerings...)
			c.Offerings = offerings[first:len(offerings):len(offerings)]
			applied[at.instanceType] = c
		}
		applied[at.instanceType].Offerings[at.offering].Available = false
	}
	return applied
}

// offeringAt is where an offering is in a catalog.
type offeringAt struct{ instanceType, offering int }

// copied returns room for copies of the types with hits, which are in their order.
func copied(types []*InstanceType, hits []offeringAt) ([]InstanceType, []Offering) {
	n, offerings := 0, 0
	for k, at := range hits {
		if k == 0 || hits[k-1].instanceType != at.instanceType {
			n++
			offerings += len(types[at.instanceType].Offerings)
		}
	}
	return make([]InstanceType, 0, n), make([]Offering, 0, offerings)
}
