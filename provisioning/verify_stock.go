package provisioning

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// refereeStock is the catalog of a pool, with its options numbered. A plan names
// each of them thousands of times, so whatever does not depend on the node is
// worked out here once.
type refereeStock struct {
	options []*refereeOption
	numbers map[cloudprovider.LaunchOption]int32
	types   map[string]*cloudprovider.InstanceType // the first of each name
	listed  map[*cloudprovider.InstanceType]bool

	// odd says of each option that its labels contradict those of the pool,
	// whatever else is asked for.
	odd []bool

	columns map[string]*refereeColumn // by label key
	// open is the brief for a node that nothing is asked of.
	open *refereeBrief
}

// refereeColumn is what pool and catalog say of one label, by option. Options
// that say the same share a state.
type refereeColumn struct {
	state  []int32 // by option
	states []refereeState
}

// refereeState is what is said of one label.
type refereeState struct {
	requirements.Requirement
	named bool // somebody speaks of the label
	own   bool // the instance type or the offering does
}

// stockOf returns the catalog of a pool.
func (r *referee) stockOf(pool *refereePool) *refereeStock {
	if pool.stock != nil {
		return pool.stock
	}
	s := &refereeStock{
		numbers: map[cloudprovider.LaunchOption]int32{},
		types:   map[string]*cloudprovider.InstanceType{},
		listed:  map[*cloudprovider.InstanceType]bool{},
		columns: map[string]*refereeColumn{},
	}
	pool.stock = s
	for _, t := range r.in.InstanceTypes[pool.Name] {
		if t == nil || s.listed[t] {
			continue
		}
		s.listed[t] = true
		if s.types[t.Name] == nil {
			s.types[t.Name] = t
		}
		// What the type says is judged once for all its offerings.
		odd := t.Requirements.Intersect(pool.labels).Without(corev1.LabelHostname).Impossible()
		for i := range t.Offerings {
			o := r.option(cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]})
			s.numbers[o.LaunchOption] = int32(len(s.options))
			s.options = append(s.options, o)
			s.odd = append(s.odd, odd || r.oddOffering(pool, o))
		}
	}
	return s
}

func (r *referee) oddOffering(pool *refereePool, o *refereeOption) bool {
	for own := range o.own.All() {
		if r.labelOn(pool, o, own.Key()).Impossible() {
			return true
		}
	}
	return false
}

// labelOn is what pool, instance type and offering leave of a label. The name of
// a node is not known before it is there, whatever they say.
func (r *referee) labelOn(pool *refereePool, o *refereeOption, key string) refereeState {
	if key == corev1.LabelHostname {
		return refereeState{Requirement: requirements.In(key, refereeNewName), named: true}
	}
	label, own := o.label(key)
	said, byPool := pool.labels.Get(key)
	if byPool {
		label = label.Intersect(said)
	}
	return refereeState{Requirement: label, named: own || byPool, own: own}
}

// column returns what is said of a label by each option of a pool.
func (r *referee) column(pool *refereePool, key string) *refereeColumn {
	s := r.stockOf(pool)
	if known := s.columns[key]; known != nil {
		return known
	}
	c := &refereeColumn{state: make([]int32, len(s.options))}
	s.columns[key] = c
	type identity struct {
		text       string
		named, own bool
	}
	known := map[identity]int32{}
	for i, o := range s.options {
		state := r.labelOn(pool, o, key)
		id := identity{state.String(), state.named, state.own}
		at, seen := known[id]
		if !seen {
			at = int32(len(c.states))
			known[id] = at
			c.states = append(c.states, state)
		}
		c.state[i] = at
	}
	return c
}

// locate finds an option of a plan in the catalog of a pool, so that it is
// judged by what the catalog says, not by what the plan carries along. It is
// false for an option that is not there; missing says why.
func (r *referee) locate(pool *refereePool, option cloudprovider.LaunchOption) (int32, bool) {
	s := r.stockOf(pool)
	if number, ok := s.numbers[option]; ok {
		return number, true
	}
	if !r.wholeOption(option) {
		return 0, false
	}
	t := s.typeLike(option.InstanceType)
	if t == nil {
		return 0, false
	}
	like := r.offeringLike(t, option.Offering)
	if like == nil || like != option.Offering && like.Price != option.Offering.Price {
		return 0, false
	}
	return s.numbers[cloudprovider.LaunchOption{InstanceType: t, Offering: like}], true
}

// typeLike is the catalog's own object for an instance type, which the plan may
// carry a copy of.
func (s *refereeStock) typeLike(t *cloudprovider.InstanceType) *cloudprovider.InstanceType {
	if s.listed[t] {
		return t
	}
	return s.types[t.Name]
}

// offeringLike is the offering of a type that goes by the same names as another,
// if possible at the same price.
func (*referee) offeringLike(t *cloudprovider.InstanceType, want *cloudprovider.Offering) *cloudprovider.Offering {
	var like *cloudprovider.Offering
	for i := range t.Offerings {
		have := &t.Offerings[i]
		if have == want {
			return have
		}
		same := have.Zone == want.Zone && have.CapacityType == want.CapacityType &&
			have.ReservationID == want.ReservationID && have.ID == want.ID
		if same && (like == nil || have.Price == want.Price) {
			like = have
		}
	}
	return like
}

// missing says what is wrong with an option that locate did not find.
func (r *referee) missing(pool *refereePool, option cloudprovider.LaunchOption) string {
	t := r.stockOf(pool).typeLike(option.InstanceType)
	if t == nil {
		return fmt.Sprintf("instance type %s is not in the catalog of NodePool %s", option.InstanceType.Name, pool.Name)
	}
	like := r.offeringLike(t, option.Offering)
	if like == nil {
		return fmt.Sprintf("instance type %s has no such offering", t.Name)
	}
	return fmt.Sprintf("it is listed at %s, the catalog says %s", r.priceText(option.Offering.Price), r.priceText(like.Price))
}
