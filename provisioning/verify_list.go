package provisioning

import (
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// refereeListID tells lists of options apart by where they are in memory. The
// nodes of a plan share few lists, and each is judged once. Those that share
// none are judged one by one: that takes longer, and comes to the same.
type refereeListID struct {
	first  *cloudprovider.LaunchOption
	length int
}

// refereeListLook is what lists with the same options have in common.
type refereeListLook struct {
	first, middle, last cloudprovider.LaunchOption
	length              int
}

// refereeLookalikes bounds how many different lists that look the same are
// remembered.
const refereeLookalikes = 8

// idOf is the identity of a list, or of the first one seen with the same
// options.
func (r *referee) idOf(list []cloudprovider.LaunchOption) refereeListID {
	if len(list) == 0 {
		return refereeListID{}
	}
	id := refereeListID{&list[0], len(list)}
	if known, ok := r.same[id]; ok {
		return known
	}
	look := refereeListLook{list[0], list[len(list)/2], list[len(list)-1], len(list)}
	for _, other := range r.looks[look] {
		if slices.Equal(list, other) {
			r.same[id] = refereeListID{&other[0], len(other)}
			return r.same[id]
		}
	}
	if len(r.looks[look]) < refereeLookalikes {
		r.looks[look] = append(r.looks[look], list)
	}
	r.same[id] = id
	return id
}

// refereeList is what is said of a list of options by itself.
type refereeList struct {
	price  float64 // of the cheapest option, wherever it stands
	priced bool    // there is an option with a price
	// misplaced counts the options that may not follow the one before them, of
	// which the first is at index first.
	misplaced, first int
}

// list looks at a list of options once.
func (r *referee) list(options []cloudprovider.LaunchOption) refereeList {
	id := r.idOf(options)
	if known, ok := r.lists[id]; ok {
		return known
	}
	l := refereeList{price: math.Inf(1)}
	for i, option := range options {
		if option.Offering != nil {
			l.price, l.priced = math.Min(l.price, option.Offering.Price), true
		}
		if i == 0 || r.follows(options[i-1], option) {
			continue
		}
		if l.misplaced == 0 {
			l.first = i
		}
		l.misplaced++
	}
	r.lists[id] = l
	return l
}
