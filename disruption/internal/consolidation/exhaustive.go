package consolidation

import (
	"cmp"
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
)

// Bounds of the search through all sets.
const (
	exhaustiveLimit = 6      // candidates
	exhaustiveLooks = 31_500 // tries, over the number of nodes: each reads all of them
)

// exhaust tries the sets of the candidates, takes the one that saves the most for
// what it disturbs, and goes on with what is left.
func (s *search) exhaust(ctx context.Context) error {
	for {
		open := s.open()
		if len(open) == 0 {
			return nil
		}
		s.e = s.w.Estimate(s.e)
		best, most, err := s.bestSet(ctx, open)
		if err != nil {
			return err
		}
		if !s.spent() {
			fits, _, err := s.exactFits(ctx, open, most)
			if err != nil {
				return err
			}
			if len(fits) > 0 {
				best = fits
			}
		}
		if len(best) == 0 {
			return nil
		}
		before := s.found()
		for _, cs := range bestFirst(best) {
			if s.accept(cs); cs.Outcome.Bad() {
				continue
			}
			for _, m := range cs.Targets {
				s.quota.Take(m)
			}
		}
		if s.found() == before {
			return nil // what they lean on has to wait
		}
	}
}

// choice is a set of candidates.
type choice struct {
	set     []*state.StateNode
	most    float64 // that it can gain: what its nodes cost less their evictions
	promise float64 // what it gains by the estimate
}

// bestSet tries sets and returns what is worth doing of the one that gains the most,
// and how much. First come the nodes by themselves, then the sets that promise the
// most by the estimate; those are left out that cannot gain more than the best so
// far, and all that are left once as many were tried as the size of the cluster lets.
func (s *search) bestSet(ctx context.Context, open []*state.StateNode) (best []*simulation.CandidateSet, most float64, err error) {
	tries := max(2*len(open), exhaustiveLooks/len(s.cluster.Nodes))
	for _, c := range s.choices(open) {
		if s.spent() || tries == 0 {
			break
		}
		if len(c.set) > 1 && c.most <= most+PriceSlack || !s.allowed(c.set) {
			continue
		}
		tries--
		sets, err := s.ask(ctx, c.set)
		if err != nil {
			return nil, 0, err
		}
		if good, gain := worthDoing(sets, s.evictionWeight()); gain > most+PriceSlack {
			best, most = good, gain
		}
		for _, cs := range sets {
			if cs.Outcome.Bad() && len(c.set) == 1 {
				s.remember(cs)
			}
		}
	}
	return best, most, nil
}

// choices lists the sets of some nodes in the order in which they are tried.
func (s *search) choices(open []*state.StateNode) []choice {
	var out []choice
	for set := uint(1); set < 1<<len(open); set++ {
		c := choice{}
		evictions := 0.0
		for i, m := range open {
			if set&(1<<i) == 0 {
				continue
			}
			price, _ := m.Price()
			units := s.evictionWeight() * (state.OneEviction + m.Cost).Float()
			c.set, c.most, evictions = append(c.set, m), c.most+max(price-units, 0), evictions+units
		}
		if c.promise = math.Inf(1); len(c.set) > 1 {
			c.promise = s.outcome(c.set).Saving() - evictions
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(len(a.set), len(b.set)))
	})
	return out
}

// fit is a set of nodes that could go for more than the engine found, if each of
// their pods went where a search in whole numbers puts it.
type fit struct {
	targets []*state.StateNode
	gain    float64
	places  map[types.NamespacedName]string // by pod
}

// Bounds of that search.
const (
	mostFits  = 4  // that are tried: each reads all nodes
	mostRooms = 64 // where there are more, the engine finds a good fit as well
)

// exactFits tries to beat what the engine found for a few nodes: it fills nodes
// one after the other, and so misses a perfect fit now and then. The engine has
// the last word again, and tries the pods on the nodes that were found first.
func (s *search) exactFits(ctx context.Context, open []*state.StateNode, most float64) ([]*simulation.CandidateSet, float64, error) {
	var fits []fit
	for set := uint(1); set < 1<<len(open); set++ {
		var targets []*state.StateNode
		for i, m := range open {
			if set&(1<<i) != 0 {
				targets = append(targets, m)
			}
		}
		if f := s.exactFit(targets); f.gain > most+PriceSlack && s.allowed(targets) {
			fits = append(fits, f)
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(b.gain, a.gain) })
	var best []*simulation.CandidateSet
	for _, f := range fits[:min(len(fits), mostFits)] {
		if f.gain <= most+PriceSlack || s.spent() {
			continue
		}
		sets, err := s.askAt(ctx, f.targets, f.places)
		if err != nil {
			return nil, 0, err
		}
		if good, gain := worthDoing(sets, s.evictionWeight()); gain > most+PriceSlack {
			best, most = good, gain
		}
	}
	return best, most, nil
}

// exactFit looks for the cheapest places for the pods of some nodes. It finds none
// where there are too many pods, or too many nodes that have room for one.
func (s *search) exactFit(targets []*state.StateNode) fit {
	e := s.e
	var pods []screen.Loose
	var names []types.NamespacedName
	var classes []int32
	for _, m := range targets {
		for _, p := range s.w.Displaced[m.Name] {
			request, class, ok := e.Of(p)
			if !ok || len(pods) == screen.ExactLimit {
				return fit{}
			}
			pods = append(pods, screen.Loose{Request: request})
			names, classes = append(names, nameOf(p)), append(classes, class)
		}
	}
	var rooms [][]int64
	var nodes []string
	for _, m := range s.cluster.Nodes {
		i, found := e.At(m.Name)
		if !found || slices.Contains(targets, m) || e.Cluster.Nodes[i].Free == nil {
			continue
		}
		n, some := &e.Cluster.Nodes[i], false
		for k := range pods {
			admits := e.Cluster.Classes[classes[k]].Admits[n.Kind]
			pods[k].Admits = append(pods[k].Admits, admits)
			some = some || admits && estimate.Holds(n.Free, pods[k].Request)
		}
		if some {
			rooms, nodes = append(rooms, n.Free), append(nodes, m.Name)
			continue
		}
		for k := range pods {
			pods[k].Admits = pods[k].Admits[:len(rooms)]
		}
	}
	if len(rooms) > mostRooms {
		return fit{}
	}
	s.w.Stats.WhatIfs++
	s.w.Stats.Steps += len(pods)
	where, cost := screen.Exact(pods, rooms, e.AllSupply())
	if where == nil {
		return fit{}
	}
	f := fit{targets: targets, gain: state.PriceOf(targets) - cost, places: map[types.NamespacedName]string{}}
	for _, m := range targets {
		f.gain -= s.evictionWeight() * (state.OneEviction + m.Cost).Float()
	}
	for i, r := range where {
		if r >= 0 {
			f.places[names[i]] = nodes[r]
		}
	}
	return f
}

// nameOf is the name of a pod.
func nameOf(p *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}
