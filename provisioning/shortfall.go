package provisioning

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
)

// tooLarge says of which resources no option has enough. Where each could be
// had by itself it speaks of the option that comes closest to having all.
func (e *explainer) tooLarge(p *pool, options bitset.Set) PoolReason {
	out := PoolReason{Cause: CauseResources}
	for r, want := range e.request {
		best := largest(p, options, r)
		if want <= 0 || p.options[best].capacity[r] >= want {
			continue
		}
		s := e.shortfall(p, best, r)
		if s.Resource == corev1.ResourcePods && s.Largest <= 0 {
			// Whatever else such a type has is of no use.
			out.Shortfalls = []Shortfall{s}
			return out
		}
		out.Shortfalls = append(out.Shortfalls, s)
	}
	if len(out.Shortfalls) > 0 {
		return out
	}
	closest := e.closest(p, options)
	out.Detail = "no suitable instance type has enough of everything at once; closest is " + p.options[closest].InstanceType.Name
	for r, want := range e.request {
		if want > p.options[closest].capacity[r] {
			out.Shortfalls = append(out.Shortfalls, e.shortfall(p, closest, r))
		}
	}
	return out
}

// closest returns the option that has the largest part of what the class asks
// for, in the resource that it has the least part of; the cheapest of equals.
func (e *explainer) closest(p *pool, options bitset.Set) int {
	closest, most := -1, 0.0
	for o := range options.All() {
		part := math.Inf(1)
		for r, want := range e.request {
			if want > 0 {
				part = min(part, float64(p.options[o-p.first].capacity[r])/float64(want))
			}
		}
		if closest < 0 || part > most {
			closest, most = o-p.first, part
		}
	}
	return closest
}

func (e *explainer) shortfall(p *pool, option, r int) Shortfall {
	o := &p.options[option]
	name := e.p.resources[r]
	daemons := o.daemons.Get(name)
	return Shortfall{
		Resource:     name,
		Requested:    e.request[r] + daemons,
		Daemons:      daemons,
		Largest:      o.capacity[r] + daemons,
		InstanceType: o.InstanceType.Name,
	}
}

// largest returns the option with most of a resource, the cheapest of equals.
func largest(p *pool, options bitset.Set, r int) int {
	best := -1
	for o := range options.All() {
		if i := o - p.first; best < 0 || p.options[i].capacity[r] > p.options[best].capacity[r] {
			best = i
		}
	}
	return best
}
