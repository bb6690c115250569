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

// Launch is a type that a pool can launch, at its cheapest.
type Launch struct {
	Of          *cloudprovider.InstanceType
	Price       float64
	Allocatable resources.List
}

// Rooms is what is known of the room that types have, which pools share.
type Rooms map[*cloudprovider.InstanceType]roomOfType

// roomOfType is what a type has for pods, if that is known.
type roomOfType struct {
	allocatable resources.List
	known       bool
}

// Launches lists the types that the template of a pool admits, cheapest first.
func Launches(template requirements.Set, types map[string]*cloudprovider.InstanceType, rooms Rooms) []Launch {
	var out []Launch
	sold := newSale(template)
	for _, t := range types { // sorted below
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

// admitsType reports whether a template admits some value of each label of a
// type. It looks at the labels of the template only, which are few.
func admitsType(template requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range template.All() {
		if own, found := t.Requirements.Get(r.Key()); found && !own.Overlaps(r) {
			return false
		}
	}
	return true
}

// sale is where and as what a template, or a pod, lets a node be bought.
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

// admits reports whether an offering is among that.
func (s *sale) admits(o *cloudprovider.Offering) bool {
	return (s.anyZone || s.zone.Has(o.Zone)) && (s.anyOfKind || s.kind.Has(o.CapacityType))
}

// machine is a launch with its room, less what DaemonSets surely take.
type machine struct {
	Launch
	room []int64
}

// goods are what the pools of a simulation can launch, in the dimensions of an estimate.
type goods struct {
	templates map[string]requirements.Set
	machines  map[string][]machine       // by pool: what it can launch, cheapest first
	supplies  map[string][]screen.Supply // by pool: the same
	units     map[string][]float64       // by pool: what a unit of each resource costs on the machine that is best for it alone

	asked  map[string]int // numbers of what pods ask of labels
	least  map[leastKey]float64
	quotes map[quoteKey][]float64 // see quotes
}

// readGoods finds what can be launched.
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

// readPrices finds what resources cost at least on new nodes of each pool, and
// with that what each class costs.
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

// accepts reports whether a pool launches nodes that a pod may run on, as far as
// its template says.
func (e *Estimate) accepts(pool *v1.NodePool, p *corev1.Pod, asked requirements.Pod) bool {
	set, found := e.goods.templates[pool.Name]
	return found && Tolerates(p, pool.Spec.Template.Spec.Taints) && slices.ContainsFunc(asked.Alternatives,
		func(a requirements.Alternative) bool { return set.Compatible(a.Set, e.in.Vocabulary) })
}

// daemons is what the DaemonSets ask for that run on every node of a pool.
func (e *Estimate) daemons(pool *v1.NodePool) []int64 {
	out := make([]int64, len(e.names))
	for _, p := range e.in.DaemonSetPods {
		asked, err := requirements.FromPod(p, e.in.Vocabulary)
		if err != nil || !Tolerates(p, pool.Spec.Template.Spec.Taints) || !slices.ContainsFunc(asked.Alternatives,
			func(a requirements.Alternative) bool { return a.Set.Len() == 0 && a.NodeNames == nil }) {
			continue // whether it runs depends on the node
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
