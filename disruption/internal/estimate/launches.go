package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Launch is a type that a pool can launch, with its lowest price in USD per hour.
type Launch struct {
	Of          *cloudprovider.InstanceType
	Price       float64
	Allocatable resources.List
}

// Rooms caches the allocatable resources of types, which pools share.
type Rooms map[*cloudprovider.InstanceType]roomOfType

// roomOfType is the allocatable resources of a type, if they can be computed.
type roomOfType struct {
	allocatable resources.List
	known       bool
}

// Launches lists the types that the template of a pool admits, cheapest first.
func Launches(template requirements.Set, types map[string]*cloudprovider.InstanceType, rooms Rooms) []Launch {
	var out []Launch
	sold := newSale(template)
	for _, t := range types { // the result is sorted
		best := math.Inf(1)
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Launchable() && o.Price > 0 && o.Price < best && sold.admits(o) {
				best = o.Price
			}
		}
		if math.IsInf(best, 0) || !admitsType(template, t) {
			continue
		}
		room, found := rooms[t]
		if !found {
			allocatable, err := t.Allocatable()
			room = roomOfType{allocatable, err == nil}
			rooms[t] = room
		}
		if room.known {
			out = append(out, Launch{Of: t, Price: best, Allocatable: room.allocatable})
		}
	}
	slices.SortFunc(out, func(a, b Launch) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), strings.Compare(a.Of.Name, b.Of.Name))
	})
	return out
}

// admitsType reports whether a template admits some value of each label of a type. It checks the
// labels of the template only, which are few.
func admitsType(template requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range template.All() {
		if own, found := t.Requirements.Get(r.Key()); found && !own.Overlaps(r) {
			return false
		}
	}
	return true
}

// sale is the zones and capacity types in which a template, or a pod, lets a node be bought.
type sale struct {
	zone, kind         requirements.Requirement
	anyZone, anyOfKind bool
}

func newSale(set requirements.Set) sale {
	var s sale
	var zoned, kinds bool
	s.zone, zoned = set.Get(corev1.LabelTopologyZone)
	s.kind, kinds = set.Get(v1.CapacityTypeLabelKey)
	s.anyZone, s.anyOfKind = !zoned, !kinds
	return s
}

// admits reports whether the sale includes an offering.
func (s *sale) admits(o *cloudprovider.Offering) bool {
	return (s.anyZone || s.zone.Has(o.Zone)) && (s.anyOfKind || s.kind.Has(o.CapacityType))
}

// machine is a launch with its room, minus the requests of DaemonSets that run on every node of the
// pool.
type machine struct {
	Launch
	room []int64
}

// goods are the machines that the pools of a simulation can launch, in the dimensions of an
// estimate.
type goods struct {
	templates map[string]requirements.Set
	machines  map[string][]machine       // by pool, cheapest first
	supplies  map[string][]screen.Supply // the same, as supplies
	units     map[string][]float64       // by pool: the least price of a unit of each resource, on the machine that is best for that resource alone

	asked  map[string]int // number of each set of label requirements of pods
	least  map[leastKey]float64
	quotes map[quoteKey][]float64 // lowest prices of the machines; see quotes
}

// readGoods reads the machines that pools can launch.
func (e *Estimate) readGoods() *goods {
	g := &goods{templates: map[string]requirements.Set{}, machines: map[string][]machine{}, supplies: map[string][]screen.Supply{}, units: map[string][]float64{},
		asked: map[string]int{}, least: map[leastKey]float64{}, quotes: map[quoteKey][]float64{}}
	for _, pool := range e.in.Pools {
		set, ok := e.in.Templates[pool.Name]
		if !ok {
			continue
		}
		g.templates[pool.Name] = set
		daemons, unit := e.daemons(pool), slices.Repeat([]float64{math.Inf(1)}, len(e.names))
		for _, l := range e.in.Launches[pool.Name] {
			room := e.Vector(l.Allocatable)
			for d, n := range daemons {
				room[d] = max(room[d]-n, 0)
			}
			g.machines[pool.Name] = append(g.machines[pool.Name], machine{Launch: l, room: room})
			g.supplies[pool.Name] = append(g.supplies[pool.Name], screen.Supply{Room: room, Price: l.Price})
			for d, n := range room {
				if n > 0 {
					unit[d] = min(unit[d], l.Price/float64(n))
				}
			}
		}
		g.units[pool.Name] = unit
	}
	return g
}

// readPrices computes lower bounds on the price of resources on new nodes of each pool, and from
// them the floor of each class.
func (e *Estimate) readPrices() {
	for _, pool := range e.in.Pools {
		if _, launches := e.goods.templates[pool.Name]; launches {
			e.prices[pool.Name] = screen.Prices(e.goods.supplies[pool.Name], e.wanted(pool.Name))
		}
	}
	for c, kind := range e.classes {
		class := &e.Cluster.Classes[c]
		class.Floor = math.Inf(1)
		asked := kind.Asks(e.in.Vocabulary)
		d := demand{asked: asked, number: e.goods.askedOf(kind, e.in.Vocabulary)}
		for _, pool := range e.in.Pools {
			if e.accepts(pool, kind.Pod, asked) {
				class.Floor = min(class.Floor, screen.Floor(class.Request, e.prices[pool.Name]))
				d.pools = append(d.pools, pool.Name)
			}
		}
		e.demands = append(e.demands, d)
	}
}

// accepts reports whether a pool launches nodes on which a pod may run, as far as its template
// says.
func (e *Estimate) accepts(pool *v1.NodePool, p *corev1.Pod, asked requirements.Pod) bool {
	set, found := e.goods.templates[pool.Name]
	return found && Tolerates(p, pool.Spec.Template.Spec.Taints) && slices.ContainsFunc(asked.Alternatives,
		func(a requirements.Alternative) bool { return set.Compatible(a.Set, e.in.Vocabulary) })
}

// daemons returns the total requests of the DaemonSets that run on every node of a pool.
func (e *Estimate) daemons(pool *v1.NodePool) []int64 {
	out := make([]int64, len(e.names))
	for _, p := range e.in.DaemonSetPods {
		asked, err := requirements.FromPod(p, e.in.Vocabulary)
		if err != nil || !Tolerates(p, pool.Spec.Template.Spec.Taints) || !slices.ContainsFunc(asked.Alternatives,
			func(a requirements.Alternative) bool { return a.Set.Len() == 0 && a.NodeNames == nil }) {
			continue // it depends on the node whether it runs there
		}
		list, err := resources.PodRequests(p)
		if err != nil {
			continue
		}
		for d, n := range e.Vector(list.With(corev1.ResourcePods, 1)) {
			out[d] += n
		}
	}
	return out
}
