package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// checkLimits sums, for each pool with limits, the capacity of its nodes and the largest capacity
// of any option of each new node. If the pool exceeds a limit already, its new nodes must have none
// of that resource.
func (r *referee) checkLimits() {
	for _, name := range slices.Sorted(maps.Keys(r.pools)) {
		pool := r.pools[name]
		grows := slices.ContainsFunc(r.fresh, func(f *newNode) bool { return f != nil && f.pool == pool })
		if !grows || len(pool.Spec.Limits) == 0 {
			continue
		}
		left, added, err := r.headroom(pool)
		if err != nil {
			r.report(RuleLimits, "", "", "the limits of NodePool %s cannot be applied: %v", name, err)
			continue
		}
		for resource, limit := range pool.limits.All() {
			if more := added.Get(resource); more > 0 && more > left.Get(resource) {
				r.report(RuleLimits, "", "", "NodePool %s may have %s of %s and has %s left, but its new nodes could add %s",
					name, resources.Format(resource, limit), resource,
					resources.Format(resource, left.Get(resource)), resources.Format(resource, more))
			}
		}
	}
}

// headroom returns what the existing nodes of a pool leave of its limits, and the most that its new
// nodes may add: for each of them, by limited resource, the largest capacity of any option.
func (r *referee) headroom(pool *poolInfo) (left, added resources.List, err error) {
	if left, err = pool.limits, pool.limitsErr; err != nil {
		return left, added, err
	}
	for _, s := range r.nodes {
		if s.node.Pool != pool.Name || s.node.Deleting {
			continue
		}
		if err = s.node.CapacityErr; err == nil {
			left, err = left.Sub(s.node.Capacity.With(v1.ResourceNodes, 1))
		}
		if err != nil {
			return left, added, err
		}
	}
	for _, f := range r.fresh {
		if f == nil || f.pool != pool {
			continue
		}
		var worst resources.List
		if f.survey != nil {
			worst = f.survey.largest
		}
		if added, err = added.Add(worst.With(v1.ResourceNodes, 1)); err != nil {
			return left, added, fmt.Errorf("its new nodes cannot be added up: %w", err)
		}
	}
	return left, added, nil
}

// checkReservations checks, for each reservation, that the number of nodes whose cheapest option
// uses it is at most the number of instances left. A node that has only reserved options must be
// certain of an instance. For this check all other such nodes are launched first, and take as many
// instances of the node's reservations as they can. A node with other options can use those
// instead; with the policy Strict it must not have any.
func (r *referee) checkReservations() {
	left, takers := r.reservationsLeft(), map[string]int{}
	groups := map[string][]*newNode{} // nodes with the same reservations and no other options
	for _, f := range r.fresh {
		if f == nil || f.survey == nil {
			continue
		}
		if o := f.survey.cheapest; o != nil && o.Offering.ReservationID != "" {
			takers[o.Offering.ReservationID]++
		}
		switch names := f.survey.reservations; {
		case len(names) == 0:
		case f.survey.reservedOnly:
			key := fmt.Sprintf("%q", names)
			groups[key] = append(groups[key], f)
		case r.reserved == provisioning.ReservedStrict:
			r.report(RuleReservation, f.Name, "", "it names reservation %s and other capacity, but the policy is Strict", names[0])
		}
	}
	for id, n := range takers {
		if n > left[id] {
			r.report(RuleReservation, "", "", "%d new nodes count on reservation %s, which has room for %d", n, id, left[id])
		}
	}
	for _, group := range groups {
		names, room, rivals := group[0].survey.reservations, 0, 0
		for _, name := range names {
			room += left[name]
		}
		for _, other := range groups {
			if slices.ContainsFunc(other[0].survey.reservations, func(name string) bool { return slices.Contains(names, name) }) {
				rivals += len(other)
			}
		}
		if rivals > room {
			r.report(RuleReservation, group[0].Name, "", "it names reservations only, %s, which have room for %d, but %d new nodes that name nothing else may draw on them",
				strings.Join(names, ", "), room, rivals)
		}
	}
}

// reservationsLeft returns the instances that each reservation has left. If catalogs give several
// numbers for one reservation, the least counts.
func (r *referee) reservationsLeft() map[string]int {
	left := map[string]int{}
	for _, types := range r.in.InstanceTypes {
		for _, t := range types {
			if t == nil {
				continue
			}
			for i := range t.Offerings {
				o := &t.Offerings[i]
				if known, ok := left[o.ReservationID]; o.ReservationID != "" && (!ok || o.ReservationCapacity < known) {
					left[o.ReservationID] = o.ReservationCapacity
				}
			}
		}
	}
	return left
}

// checkMinValues counts, for each requirement of the pool with minValues, the values among which
// the launch of a node can choose: those of the available options that pool and Requirements admit.
func (r *referee) checkMinValues(f *newNode, values map[string]int) {
	short := f.pool.missedValues(values)
	if r.policy != provisioning.BestEffort {
		for _, want := range short {
			r.report(RuleMinValues, f.Name, "", "its options have %d values of %s, NodePool %s demands at least %d",
				values[want.Key()], want.Key(), f.pool.Name, want.MinValues())
		}
	}
	switch {
	case len(short) > 0 && r.policy == provisioning.BestEffort && !f.MinValuesRelaxed:
		r.report(RuleMinValues, f.Name, "", "it misses a minValues of NodePool %s, but MinValuesRelaxed is not set", f.pool.Name)
	case f.MinValuesRelaxed && r.policy != provisioning.BestEffort:
		r.report(RuleMinValues, f.Name, "", "MinValuesRelaxed is set, but the policy is %s", r.policy)
	case f.MinValuesRelaxed && len(short) == 0:
		r.report(RuleMinValues, f.Name, "", "MinValuesRelaxed is set, but every minValues of NodePool %s is met", f.pool.Name)
	}
}
