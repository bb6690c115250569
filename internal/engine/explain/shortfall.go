package explain

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// LeftNothing begins the Detail of a reason where DaemonSets ask for at least as much of a resource as
// any option has. The names of these DaemonSets follow.
const LeftNothing = "DaemonSets leave nothing for pods: "

// tooLarge lists the resources of which no option has enough. If for each resource some option has
// enough, but no option has enough of all, it describes the option that comes closest.
func (e *explainer) tooLarge(at *place) model.PoolReason {
	p, options := at.pool, at.Options
	out := model.PoolReason{Cause: model.CauseResources}
	for r, want := range e.request {
		best := e.largest(p, options, r)
		if want <= 0 || p.Options[best].Capacity[r] >= want {
			continue
		}
		s := e.shortfall(p, best, r)
		if s.Resource == corev1.ResourcePods && s.Largest <= 0 {
			// A type without room for a pod has no useful resources at all.
			out.Shortfalls = []model.Shortfall{s}
			return out
		}
		out.Shortfalls = append(out.Shortfalls, s)
		if out.Detail == "" && s.Resource != corev1.ResourcePods && s.Largest > 0 && s.Daemons >= s.Largest {
			out.Detail = LeftNothing + strings.Join(namesOf(e.p.DaemonsAsking(p.First+best, s.Resource)), ", ")
		}
	}
	if len(out.Shortfalls) > 0 {
		return out
	}
	closest := e.closest(p, options)
	out.Detail = "no suitable instance type has enough of everything at once; closest is " + p.Options[closest].InstanceType.Name
	for r, want := range e.request {
		if want > p.Options[closest].Capacity[r] {
			out.Shortfalls = append(out.Shortfalls, e.shortfall(p, closest, r))
		}
	}
	return out
}

// closest returns the option that has the largest share of the request, measured by the resource of
// which it has the smallest share; the cheapest of equals.
func (e *explainer) closest(p *catalog.Pool, options bitset.Set) int {
	closest, most := -1, 0.0
	for o := range options.All() {
		part := math.Inf(1)
		for r, want := range e.request {
			if want > 0 {
				part = min(part, float64(p.Options[o-p.First].Capacity[r])/float64(want))
			}
		}
		if closest < 0 || part > most {
			closest, most = o-p.First, part
		}
	}
	return closest
}

func (e *explainer) shortfall(p *catalog.Pool, option, r int) model.Shortfall {
	o := &p.Options[option]
	name := e.p.Resources[r]
	daemons := o.Daemons.Get(name)
	return model.Shortfall{
		Resource:     name,
		Requested:    e.request[r] + daemons,
		Daemons:      daemons,
		Largest:      e.p.Allocatable(o, p.First+option, name),
		InstanceType: o.InstanceType.Name,
	}
}

// largest returns the option that has most of a resource for pods, the cheapest of equals. If
// DaemonSets ask for more of it than any option has, it is the option where the least is missing.
func (e *explainer) largest(p *catalog.Pool, options bitset.Set, r int) int {
	best := -1
	for o := range options.All() {
		if i := o - p.First; best < 0 || p.Options[i].Capacity[r] > p.Options[best].Capacity[r] {
			best = i
		}
	}
	if p.Options[best].Capacity[r] > 0 {
		return best
	}
	name, most := e.p.Resources[r], int64(math.MinInt64)
	left := map[*catalog.CapacityOf]int64{}
	for number := range options.All() {
		o := &p.Options[number-p.First]
		have, known := left[o.CapacityOf]
		if !known {
			have = e.p.Allocatable(o, number, name) - o.Daemons.Get(name)
			left[o.CapacityOf] = have
		}
		if have > most {
			best, most = number-p.First, have
		}
	}
	return best
}

// Nearest describes the instance type that comes closest to having enough of a resource for the
// class.
func Nearest(s *model.Shortfall) string {
	if s.Largest <= 0 {
		return fmt.Sprintf("needs %s, no instance type allowed has any", model.Amount(s.Resource, s.Requested))
	}
	text := model.Quantities(s.Resource, s.Requested, s.Largest)
	return fmt.Sprintf("needs %s, largest allowed %s (%s)", model.Asked(s.Resource, s.Requested, text[0]), text[1], s.InstanceType)
}
