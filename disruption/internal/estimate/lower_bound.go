package estimate

import (
	"math"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// demand is what the pods of a class ask of new nodes.
type demand struct {
	asked  requirements.Pod
	pools  []string // those that launch nodes for them
	number int      // equal for those that ask for the same labels
}

// askedOf numbers what is asked of labels.
func (g *goods) askedOf(kind *podclass.Class, v *requirements.Vocabulary) int {
	text := kind.AskedText(v)
	number, known := g.asked[text]
	if !known {
		number = len(g.asked)
		g.asked[text] = number
	}
	return number
}

// AtLeast is what new nodes cost at least for some pods, none of them spot where
// they must be steady. It knows what prices of resources do not: nodes come in
// sizes. The pods are on one node that holds them all, or on two or more of which
// each holds one of them.
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
		if class.Company.Alone() && c.Pods > 1 {
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

// unitPrice is what a unit of a resource costs at least for pods of a class.
func (e *Estimate) unitPrice(d *demand, dimension int) float64 {
	best := math.Inf(1)
	for _, pool := range d.pools {
		best = min(best, e.goods.units[pool][dimension])
	}
	if math.IsInf(best, 1) {
		return 0 // nothing has any of it: CheapestOne says so
	}
	return best
}

// cheapestFor is the price of the cheapest new node that pods of some classes may
// be on and that has room for a request; infinite if there is none.
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

// CheapestOne is the same for one pod of a class.
func (e *Estimate) CheapestOne(c screen.Count, steady bool) float64 {
	key := leastKey{kind: e.classes[c.Class].Number, steady: steady}
	best, known := e.goods.least[key]
	if !known {
		best = e.cheapestFor([]screen.Count{c}, e.Cluster.Classes[c.Class].Request, steady)
		e.goods.least[key] = best
	}
	return best
}

// leastKey is a kind of pod, on nodes that may be spot or must be steady.
type leastKey struct {
	kind   int
	steady bool
}

// quotes are what the machines of a pool cost at least where a pod may be on them
// that asks for some labels, by machine: infinite where it may not, zero while not
// known.
type quotes struct {
	demand *demand
	steady bool
	prices []float64
}

// quoteKey is what quotes depend on.
type quoteKey struct {
	pool   string
	asked  int
	steady bool
}

// quotesFor are those for pods of some classes, for all that ask for the same once.
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

// priceFor is what a machine of a pool costs at least by some quotes; infinite if it
// may not be had by one.
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

// quote is what a machine costs at least where a pod may be on it.
func (e *Estimate) quote(m *machine, pool string, d *demand, steady bool) float64 {
	best := math.Inf(1)
	for _, a := range d.asked.Alternatives {
		if admitsType(a.Set, m.Of) {
			best = min(best, m.cheapest(e.goods.templates[pool], a.Set, steady))
		}
	}
	return best
}

// cheapest is the price of the cheapest offering that a template and a pod admit.
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

// Holds reports whether there is room for a request.
func Holds(room, request []int64) bool {
	for d, n := range request {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}
