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

// First simulates a node that is removed before anything is launched for its pods, so that its
// place in a reservation is free by then. If all pods that need a place find one, it carries the
// removal out; otherwise it returns nil and changes nothing. With stuck, pods that nothing can
// evict need a place too; without, their place is left open. If a replacement uses a reservation,
// its other options are dropped.
//
// The error is that of ctx.
func (w *Simulation) First(ctx context.Context, m *state.StateNode, stuck bool) (*CandidateSet, error) {
	if w.Refused != nil {
		return nil, nil
	}
	free := w.unpinned()
	free.ahead = &ahead{}
	var left []*corev1.Pod
	free.Displaced = maps.Clone(w.Displaced)
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
	free.Problem = nil
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

// reservedPlaces returns, by reservation, the places that the nodes removed first leave, minus the
// places that new nodes take with the cheapest of their options.
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

// Credited returns catalogs in which the places of each reservation are increased by the given
// number, which may be negative. Without changes it returns the given catalogs.
func Credited(types map[string][]*cloudprovider.InstanceType, places map[string]int) map[string][]*cloudprovider.InstanceType {
	changes := func(id string) bool { return id != "" && places[id] != 0 }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(places)), changes) {
		return types
	}
	credits := func(o cloudprovider.Offering) bool { return changes(o.ReservationID) }
	out := maps.Clone(types)
	changed := map[*cloudprovider.InstanceType]*cloudprovider.InstanceType{}
	for pool, list := range types { // the order does not matter
		out[pool] = slices.Clone(list)
		for i, t := range list {
			if t == nil || !slices.ContainsFunc(t.Offerings, credits) {
				continue
			}
			if changed[t] == nil { // pools share types, and the copies are shared too
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
