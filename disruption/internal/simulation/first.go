package simulation

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// First asks the engine about one node that goes before anything is launched for its pods,
// so that its place in a reservation is free by then, and carries it out if all pods that
// need a place find one. It returns nil, and nothing changes, if they do not. Pods that
// nothing can evict are among them if stuck is set; else nobody knows where they go. What
// draws on a reservation names nothing beside it.
//
// The error is that of ctx.
func (w *Simulation) First(ctx context.Context, m *state.StateNode, stuck bool) (*CandidateSet, error) {
	if w.Refused != nil {
		return nil, nil
	}
	free := w.freed([]*state.StateNode{m})
	var left []*corev1.Pod
	free.Displaced[m.Name] = nil
	for _, p := range m.PodViews {
		switch {
		case !p.Reschedulable:
		case p.Stuck() && !stuck:
			left = append(left, p.Pod)
		default:
			free.Displaced[m.Name] = append(free.Displaced[m.Name], p.Pod)
		}
	}
	places := w.reservedPlaces()
	places[m.Reservation()]++
	free.In.InstanceTypes = Credited(w.In.InstanceTypes, places)
	free.Opts.Reserved = provisioning.ReservedStrict
	free.Market = nil
	if free.Compile(); free.Refused != nil {
		return nil, nil
	}
	sets, err := free.Try(ctx, []*state.StateNode{m}, nil)
	w.Stats = free.Stats
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	cs := sets[0]
	cs.alone, cs.first = true, true
	for _, p := range left {
		cs.Moves = append(cs.Moves, Move{Pod: p, From: m.Name, Replacement: -1})
	}
	if !(&replacements{w: w}).takes(cs) {
		return nil, nil
	}
	return cs, nil
}

// reservedPlaces are the places in reservations that nodes set free which go first, less
// those that what is launched takes as the cheapest of its options.
func (w *Simulation) reservedPlaces() map[string]int {
	places := map[string]int{}
	take := func(nodes []provisioning.NewNode) {
		for i := range nodes {
			places[nodes[i].Options[0].Offering.ReservationID]--
		}
	}
	if w.Settled != nil {
		take(w.Settled.Create)
	}
	for _, cs := range w.decided {
		take(cs.Nodes)
		if cs.first {
			places[cs.Targets[0].Reservation()]++
		}
	}
	return places
}

// Credited are catalogs in which reservations have so many more places, or fewer; those given
// where none has.
func Credited(types map[string][]*cloudprovider.InstanceType, places map[string]int) map[string][]*cloudprovider.InstanceType {
	changes := func(id string) bool { return id != "" && places[id] != 0 }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(places)), changes) {
		return types
	}
	credits := func(o cloudprovider.Offering) bool { return changes(o.ReservationID) }
	out := maps.Clone(types)
	changed := map[*cloudprovider.InstanceType]*cloudprovider.InstanceType{}
	for pool, list := range types { // each by itself: the order does not matter
		out[pool] = slices.Clone(list)
		for i, t := range list {
			if t == nil || !slices.ContainsFunc(t.Offerings, credits) {
				continue
			}
			if changed[t] == nil { // pools share types, and go on to
				changed[t] = t.Clone()
				for k := range changed[t].Offerings {
					o := &changed[t].Offerings[k]
					if credits(*o) {
						o.ReservationCapacity = max(0, o.ReservationCapacity+places[o.ReservationID])
					}
				}
			}
			out[pool][i] = changed[t]
		}
	}
	return out
}
