package estimate

import (
	"math"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
)

// goods are the options that the pools can launch.
type goods struct {
	pools []poolGoods
	spot  bitset.Set // options that are spot

	admitted map[int32]bitset.Set // by kind of pods: the options that admit them
	least    map[leastKey]float64
}

// poolGoods are the options of one pool.
type poolGoods struct {
	name     string
	of       *catalog.Pool
	supplies []supply  // its options, cheapest first
	units    []float64 // the least price of a unit of each resource, on the option that is best for that resource alone
}

// leastKey identifies a result of cheapestOne.
type leastKey struct {
	kind   int32
	steady bool
}

// readGoods reads the options that pools can launch.
func (e *Estimate) readGoods() *goods {
	g := &goods{spot: bitset.New(e.p.Admission.Domains.Total), admitted: map[int32]bitset.Set{}, least: map[leastKey]float64{}}
	if !e.in.Launches {
		return g
	}
	for i := range e.p.Pools {
		pl := &e.p.Pools[i]
		if len(pl.Options) == 0 {
			continue
		}
		pool := poolGoods{name: pl.Object.Name, of: pl, units: slices.Repeat([]float64{math.Inf(1)}, len(e.p.Resources))}
		for o := range pl.Options {
			room, price := e.vector(e.p.LowOptions[pl.First+o].Capacity), pl.Options[o].Offering.Price
			if pl.Options[o].Offering.CapacityType == v1.CapacityTypeSpot {
				g.spot.Add(pl.First + o)
			}
			if price <= 0 {
				continue
			}
			pool.supplies = append(pool.supplies, supply{room, price})
			for d, n := range room {
				if n > 0 {
					pool.units[d] = min(pool.units[d], price/float64(n))
				}
			}
		}
		g.pools = append(g.pools, pool)
	}
	return g
}

// admitted returns the options whose labels and taints admit pods of a class. The result must not be
// changed.
func (e *Estimate) admitted(class int32) bitset.Set {
	k := e.classes[class].kind
	out, known := e.goods.admitted[k]
	if known {
		return out
	}
	of := &e.in.Kinds.list[k]
	out = e.p.Admission.SuitedToAny(of.class)
	for i, key := range e.p.Table.Keys {
		if of.pin[key] == nil {
			continue
		}
		pinned := bitset.New(e.p.Admission.Domains.Total)
		for _, value := range of.pin[key] {
			if d, found := e.p.Table.Index[i][value]; found {
				pinned.Or(e.p.InPlace(i, d))
			}
		}
		out.And(pinned)
	}
	e.goods.admitted[k] = out
	return out
}

// AtLeast returns a lower bound on the price of new nodes for some pods, in USD per hour. With
// steady, spot nodes are excluded. A bound from prices per unit of a resource
// would allow fractions of nodes. This one considers that nodes are bought whole: either one node
// holds all pods, or there are two or more nodes, each with at least one of the pods.
func (e *Estimate) AtLeast(rest []Count, steady bool) float64 {
	if len(rest) == 0 {
		return 0
	}
	sum, floor, dearest, cheapest := make([]int64, len(e.p.Resources)), 0.0, 0.0, math.Inf(1)
	unit := make([]float64, len(e.p.Resources))
	alone, pods := false, int32(0)
	for _, c := range rest {
		class := &e.classes[c.Class]
		one := e.cheapestOne(c, steady)
		floor += float64(c.Pods) * class.floor
		cheapest, pods = min(cheapest, one), pods+c.Pods
		if class.alone && c.Pods > 1 {
			alone, one = true, one*float64(c.Pods)
		}
		dearest = max(dearest, one)
		for d, n := range class.request {
			sum[d] += n * int64(c.Pods)
			unit[d] += float64(n) * float64(c.Pods) * e.unitPrice(c.Class, d)
		}
	}
	least := max(floor, dearest, slices.Max(unit))
	if pods > 1 && !alone && least < 2*cheapest {
		least = max(least, e.cheapestFor(rest, sum, steady, 2*cheapest))
	}
	return least
}

// unitPrice returns the least price of a unit of a resource for pods of a class.
func (e *Estimate) unitPrice(class int32, dimension int) float64 {
	best := math.Inf(1)
	for _, pool := range e.classes[class].pools {
		best = min(best, e.goods.pools[pool].units[dimension])
	}
	if math.IsInf(best, 1) {
		return 0 // no option has the resource: cheapestOne returns infinity
	}
	return best
}

// cheapestFor returns the price of the cheapest new node that admits pods of all the classes and
// has room for a request. It returns limit if every such node costs that much or more.
func (e *Estimate) cheapestFor(classes []Count, request []int64, steady bool, limit float64) float64 {
	options := e.admitted(classes[0].Class)
	if len(classes) > 1 || steady {
		options = options.Clone()
	}
	for _, c := range classes[1:] {
		options.And(e.admitted(c.Class))
	}
	if steady {
		options.AndNot(e.goods.spot)
	}
	want := e.vector(request) // in the order of the engine
	for _, i := range e.classes[classes[0].Class].pools {
		pl := e.goods.pools[i].of
		for o := range pl.Window(options).All() {
			o += bitset.Base(pl.First)
			price := e.p.Option(o).Offering.Price
			if price >= limit {
				break
			}
			if price > 0 && compile.Within(want, e.p.LowOptions[o].Capacity) {
				limit = price
				break
			}
		}
	}
	return limit
}

// cheapestOne returns the price of the cheapest new node for one pod of a class; infinite if there
// is none.
func (e *Estimate) cheapestOne(c Count, steady bool) float64 {
	key := leastKey{kind: e.classes[c.Class].kind, steady: steady}
	best, known := e.goods.least[key]
	if !known {
		best = e.cheapestFor([]Count{c}, e.classes[c.Class].request, steady, math.Inf(1))
		e.goods.least[key] = best
	}
	return best
}
