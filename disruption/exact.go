package disruption

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
)

// fit is a set of nodes that could go for more than the engine found, if each of
// their pods went where a search in whole numbers puts it.
type fit struct {
	targets []*member
	gain    float64
	pins    map[string]string // hostname, by pod
}

// Bounds of that search.
const (
	mostFits  = 4  // that are tried: each reads all nodes
	mostRooms = 64 // where there are more, the engine finds a good fit as well
)

// exactFits tries to beat what the engine found for a few nodes: it fills nodes
// one after the other, and so misses a perfect fit now and then. The engine has
// the last word again, on pods that ask for the nodes that were found.
func (s *search) exactFits(ctx context.Context, open []*member, most float64) ([]*part, float64, error) {
	var fits []fit
	for set := uint(1); set < 1<<len(open); set++ {
		var targets []*member
		for i, m := range open {
			if set&(1<<i) != 0 {
				targets = append(targets, m)
			}
		}
		if f := s.exactFit(targets); f.gain > most+priceSlack && s.allowed(targets) {
			fits = append(fits, f)
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(b.gain, a.gain) })
	var best []*part
	for _, f := range fits[:min(len(fits), mostFits)] {
		if f.gain <= most+priceSlack || s.spent() {
			continue
		}
		parts, err := s.askPinned(ctx, f)
		if err != nil {
			return nil, 0, err
		}
		if good, gain := worthDoing(parts, s.evictionWeight()); gain > most+priceSlack {
			best, most = good, gain
		}
	}
	return best, most, nil
}

// exactFit looks for the cheapest places for the pods of some nodes. It finds none
// where there are too many pods, or too many nodes that have room for one.
func (s *search) exactFit(targets []*member) fit {
	e := s.e
	var pods []screen.Loose
	var names []string
	var classes []int32
	for _, m := range targets {
		for _, p := range s.w.displaced[m.name] {
			request, class, ok := e.of(p)
			if !ok || len(pods) == screen.ExactLimit {
				return fit{}
			}
			pods = append(pods, screen.Loose{Request: request})
			names, classes = append(names, podObject(p)), append(classes, class)
		}
	}
	var rooms [][]int64
	var hosts []string
	for _, m := range s.f.members {
		i, found := e.at[m.name]
		if !found || slices.Contains(targets, m) || e.cluster.Nodes[i].Free == nil || m.labels[corev1.LabelHostname] == "" {
			continue
		}
		n, some := &e.cluster.Nodes[i], false
		for k := range pods {
			admits := e.cluster.Classes[classes[k]].Admits[n.Kind]
			pods[k].Admits = append(pods[k].Admits, admits)
			some = some || admits && holds(n.Free, pods[k].Request)
		}
		if some {
			rooms, hosts = append(rooms, n.Free), append(hosts, m.labels[corev1.LabelHostname])
			continue
		}
		for k := range pods {
			pods[k].Admits = pods[k].Admits[:len(rooms)]
		}
	}
	if len(rooms) > mostRooms {
		return fit{}
	}
	e.w.stats.WhatIfs++
	e.w.stats.Steps += len(pods)
	where, cost := screen.Exact(pods, rooms, e.allSupply())
	if where == nil {
		return fit{}
	}
	f := fit{targets: targets, gain: priceOf(targets) - cost, pins: map[string]string{}}
	for _, m := range targets {
		f.gain -= s.evictionWeight() * (oneEviction + m.cost).float()
	}
	for i, r := range where {
		if r >= 0 {
			f.pins[names[i]] = hosts[r]
		}
	}
	return f
}

// askPinned asks the engine with pods that ask for the nodes of a fit.
func (s *search) askPinned(ctx context.Context, f fit) ([]*part, error) {
	pinned, free := *s.w, s.w.roaming(f.targets)
	pinned.in.Nodes = slices.Clone(s.w.in.Nodes)
	for _, m := range f.targets {
		n := &pinned.in.Nodes[pinned.at[m.name]]
		n.Pods = slices.Clone(n.Pods)
		for i, p := range n.Pods {
			if host := f.pins[podObject(p)]; host != "" {
				if free[p] != nil {
					p = free[p]
				}
				n.Pods[i] = withNodeSelector(p, map[string]string{corev1.LabelHostname: host})
			}
		}
	}
	parts, err := pinned.try(ctx, f.targets)
	s.w.stats = pinned.stats
	s.judge(parts)
	return parts, err
}
