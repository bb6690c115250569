package reserved

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Node is what a new node draws on.
type Node struct {
	Name   string
	Counts string   // the reservation of its cheapest option, whose price the plan counts; "" for none
	Names  []string // the reservations of all its options, sorted
	Only   bool     // it names nothing else
}

// Fault is something wrong; Node is "" where it is about several.
type Fault struct{ Node, Message string }

// Left are the instances that the reservations of some catalogs have left. Where these give
// several numbers for one reservation, the least is true.
func Left(catalogs map[string][]*cloudprovider.InstanceType) map[string]int {
	left := map[string]int{}
	for _, types := range catalogs { // the order does not matter
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

// Check counts the nodes whose cheapest option draws on a reservation: they cannot be more
// than the reservation has instances left. A node that names nothing but reservations must be
// sure of an instance even if other such nodes come first and take from its reservations what
// they can. Nodes that name something else as well fall back on that; if strict is set, there
// must be none.
func Check(nodes []Node, left map[string]int, strict bool) (faults []Fault) {
	takers := map[string]int{}
	for _, n := range nodes {
		if n.Counts != "" {
			takers[n.Counts]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(takers)) {
		if takers[id] > left[id] {
			faults = append(faults, Fault{Message: fmt.Sprintf("%d new nodes count on reservation %s, which has room for %d", takers[id], id, left[id])})
		}
	}
	groups := map[string][]Node{} // nodes that name the same reservations, and nothing else
	for _, n := range nodes {
		switch {
		case len(n.Names) == 0:
		case n.Only:
			key := fmt.Sprintf("%q", n.Names)
			groups[key] = append(groups[key], n)
		case strict:
			faults = append(faults, Fault{n.Name, fmt.Sprintf("it names reservation %s and other capacity, but the policy is Strict", n.Names[0])})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		first, room, rivals := groups[key][0], 0, 0
		for _, name := range first.Names {
			room += left[name]
		}
		for _, other := range groups { // the order does not matter
			if slices.ContainsFunc(other[0].Names, func(name string) bool { return slices.Contains(first.Names, name) }) {
				rivals += len(other)
			}
		}
		if rivals > room {
			faults = append(faults, Fault{first.Name, fmt.Sprintf("it names reservations only, %s, which have room for %d, but %d new nodes that name nothing else may draw on them",
				strings.Join(first.Names, ", "), room, rivals)})
		}
	}
	return faults
}
