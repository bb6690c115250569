package estimate

import (
	"math"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// demand is the requirements of the pods of a class on new nodes.
type demand struct {
	asked  requirements.Pod
	pools  []string // pools that launch nodes for the class
	number int      // equal for classes that require the same labels
}

// askedOf returns the number of the label requirements of a kind.
func (g *goods) askedOf(kind *podclass.Class, v *requirements.Vocabulary) int {
	text := kind.AskedText(v)
	number, known := g.asked[text]
	if !known {
		number = len(g.asked)
		g.asked[text] = number
	}
	return number
}

// AtLeast returns a lower bound on the price of new nodes for some pods, in USD per hour. With
// steady, spot nodes are excluded. A bound from prices per unit of a resource
// would allow fractions of nodes. This one considers that nodes are bought whole: either one node
// holds all pods, or there are two or more nodes, each with at least one of the pods.
func (e *Estimate) AtLeast(rest []screen.Count, steady bool) float64 {
	if len(rest) == 0 {
		return 0
	}
	sum, floor, dearest, cheapest := make([]int64, len(e.names)), 0.0, 0.0, math.Inf(1)
	unit := make([]float64, len(e.names))
	alone, pods := false, int32(0)
	for _, c := range rest {
		class := &e.Cluster.Classes[c.Class]
		one := e.CheapestOne(c, steady)
		floor += float64(c.Pods) * class.Floor
		cheapest, pods = min(cheapest, one), pods+c.Pods
		if class.AntiAffinity.Alone() && c.Pods > 1 {
			alone, one = true, one*float64(c.Pods)
		}
		dearest = max(dearest, one)
		for d, n := range class.Request {
			sum[d] += n * int64(c.Pods)
			unit[d] += float64(n) * float64(c.Pods) * e.unitPrice(&e.demands[c.Class], d)
		}
	}
	least := max(floor, dearest, slices.Max(unit))
	if pods > 1 && !alone && least < 2*cheapest {
		least = max(least, min(2*cheapest, e.cheapestFor(rest, sum, steady)))
	}
	return least
}

// unitPrice returns the least price of a unit of a resource for pods of a class.
func (e *Estimate) unitPrice(d *demand, dimension int) float64 {
	best := math.Inf(1)
	for _, pool := range d.pools {
		best = min(best, e.goods.units[pool][dimension])
	}
	if math.IsInf(best, 1) {
		return 0 // no machine has the resource: CheapestOne returns infinity
	}
	return best
}

// cheapestFor returns the price of the cheapest new node that admits pods of all the classes and
// has room for a request; infinite if there is none.
func (e *Estimate) cheapestFor(classes []screen.Count, request []int64, steady bool) float64 {
	best := math.Inf(1)
	for _, pool := range e.demands[classes[0].Class].pools {
		machines := e.goods.machines[pool]
		lists := e.quotesFor(pool, classes, steady)
		for i := range machines {
			m := &machines[i]
			if m.Price >= best {
				break
			}
			if Holds(m.room, request) {
				best = min(best, e.priceFor(pool, i, lists))
			}
		}
	}
	return best
}

// CheapestOne returns the price of the cheapest new node for one pod of a class; infinite if there
// is none.
func (e *Estimate) CheapestOne(c screen.Count, steady bool) float64 {
	key := leastKey{kind: e.classes[c.Class].Number, steady: steady}
	best, known := e.goods.least[key]
	if !known {
		best = e.cheapestFor([]screen.Count{c}, e.Cluster.Classes[c.Class].Request, steady)
		e.goods.least[key] = best
	}
	return best
}

// leastKey identifies a result of CheapestOne.
type leastKey struct {
	kind   int
	steady bool
}

// quotes are the lowest prices of the machines of a pool, by machine, for a pod that requires
// certain labels. A price is infinite if the machine does not admit the pod, and zero if it is not
// computed yet.
type quotes struct {
	demand *demand
	steady bool
	prices []float64
}

// quoteKey identifies quotes.
type quoteKey struct {
	pool   string
	asked  int
	steady bool
}

// quotesFor returns the quotes for pods of some classes, once for equal requirements.
func (e *Estimate) quotesFor(pool string, classes []screen.Count, steady bool) []quotes {
	var out []quotes
	for _, c := range classes {
		d := &e.demands[c.Class]
		if slices.ContainsFunc(out, func(q quotes) bool { return q.demand.number == d.number }) {
			continue
		}
		key := quoteKey{pool: pool, asked: d.number, steady: steady}
		prices := e.goods.quotes[key]
		if prices == nil {
			prices = make([]float64, len(e.goods.machines[pool]))
			e.goods.quotes[key] = prices
		}
		out = append(out, quotes{demand: d, steady: steady, prices: prices})
	}
	return out
}

// priceFor returns the lowest price at which a machine of a pool satisfies all quotes; infinite if
// there is none.
func (e *Estimate) priceFor(pool string, machine int, lists []quotes) float64 {
	price := 0.0
	for _, q := range lists {
		if q.prices[machine] == 0 {
			q.prices[machine] = e.quote(&e.goods.machines[pool][machine], pool, q.demand, q.steady)
		}
		price = max(price, q.prices[machine])
	}
	return price
}

// quote returns the lowest price of a machine that admits a pod with this demand.
func (e *Estimate) quote(m *machine, pool string, d *demand, steady bool) float64 {
	best := math.Inf(1)
	for _, a := range d.asked.Alternatives {
		if admitsType(a.Set, m.Of) {
			best = min(best, m.cheapest(e.goods.templates[pool], a.Set, steady))
		}
	}
	return best
}

// cheapest returns the price of the cheapest offering that a template and a pod admit.
func (m *machine) cheapest(template, asked requirements.Set, steady bool) float64 {
	best := math.Inf(1)
	of, by := newSale(template), newSale(asked)
	for i := range m.Of.Offerings {
		o := &m.Of.Offerings[i]
		if o.Launchable() && o.Price > 0 && o.Price < best && !(steady && o.CapacityType == v1.CapacityTypeSpot) &&
			of.admits(o) && by.admits(o) {
			best = o.Price
		}
	}
	return best
}

// Holds reports whether a request fits in the room.
func Holds(room, request []int64) bool {
	for d, n := range request {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}
