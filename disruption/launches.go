package disruption

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

// launch is a type that a pool can launch, at its cheapest.
type launch struct {
	of          *cloudprovider.InstanceType
	price       float64
	allocatable resources.List
}

// launches lists what pools can launch.
func (f *Fleet) launches(pools []*v1.NodePool) map[string][]launch {
	out := map[string][]launch{}
	rooms := map[*cloudprovider.InstanceType]roomOfType{}
	for _, pool := range pools {
		if set, ok := f.template(pool); ok {
			out[pool.Name] = f.pools[pool.Name].launches(set, rooms)
		}
	}
	return out
}

// roomOfType is what a type has for pods, if that is known.
type roomOfType struct {
	allocatable resources.List
	known       bool
}

// template is what every node of a pool has, if the pool launches nodes for pods.
func (f *Fleet) template(pool *v1.NodePool) (requirements.Set, bool) {
	set, err := requirements.FromNodePool(pool, f.vocabulary)
	return set, err == nil && pool.Spec.Replicas == nil && f.pools[pool.Name].ready()
}

// launches lists the types that the template of a pool admits, cheapest first. rooms
// is what is known of types, which pools share.
func (p *poolView) launches(template requirements.Set, rooms map[*cloudprovider.InstanceType]roomOfType) []launch {
	var out []launch
	sold := newSale(template)
	for _, t := range p.types { // sorted below
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
			out = append(out, launch{of: t, price: best, allocatable: room.allocatable})
		}
	}
	slices.SortFunc(out, func(a, b launch) int {
		return cmp.Or(cmp.Compare(a.price, b.price), strings.Compare(a.of.Name, b.of.Name))
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

// nodeLabel is a label that a node launched by an option is sure to have: what
// LaunchOption.NodeLabels says of one key, without the others where that is the zone.
func nodeLabel(o cloudprovider.LaunchOption, key string) (value string, found bool) {
	if zone := o.Offering.Zone; key == corev1.LabelTopologyZone && zone != "" {
		_, narrowed := o.Offering.Requirements.Get(key)
		of, asked := o.InstanceType.Requirements.Get(key)
		if !narrowed && (!asked || of.Has(zone)) {
			return zone, true
		}
	}
	value, found = o.NodeLabels()[key]
	return value, found
}

// machine is a launch with its room, less what DaemonSets surely take.
type machine struct {
	launch
	room []int64
}

// goods are what the pools of a world can launch, in the dimensions of an estimate.
type goods struct {
	templates map[string]requirements.Set
	machines  map[string][]machine       // by pool: what it can launch, cheapest first
	supplies  map[string][]screen.Supply // by pool: the same
	all       []screen.Supply            // of all pools; nil while nobody asked
	units     map[string][]float64       // by pool: what a unit of each resource costs on the machine that is best for it alone

	asked  map[string]int // numbers of what pods ask of labels
	least  map[leastKey]float64
	quotes map[quoteKey][]float64 // see quotes
}

// readGoods finds what can be launched.
func (e *estimate) readGoods() *goods {
	g := &goods{templates: map[string]requirements.Set{}, machines: map[string][]machine{}, supplies: map[string][]screen.Supply{}, units: map[string][]float64{},
		asked: map[string]int{}, least: map[leastKey]float64{}, quotes: map[quoteKey][]float64{}}
	launches := e.w.shared.launches()
	for _, pool := range e.w.in.NodePools {
		set, ok := e.w.f.template(pool)
		if !ok {
			continue
		}
		g.templates[pool.Name] = set
		daemons, unit := e.daemons(pool), slices.Repeat([]float64{math.Inf(1)}, len(e.names))
		for _, l := range launches[pool.Name] {
			room := e.vector(l.allocatable)
			for d, n := range daemons {
				room[d] = max(room[d]-n, 0)
			}
			g.machines[pool.Name] = append(g.machines[pool.Name], machine{launch: l, room: room})
			g.supplies[pool.Name] = append(g.supplies[pool.Name], screen.Supply{Room: room, Price: l.price})
			for d, n := range room {
				if n > 0 {
					unit[d] = min(unit[d], l.price/float64(n))
				}
			}
		}
		g.units[pool.Name] = unit
	}
	return g
}

// readPrices finds what resources cost at least on new nodes of each pool, and
// with that what each class costs.
func (e *estimate) readPrices() {
	for _, pool := range e.w.in.NodePools {
		if _, launches := e.goods.templates[pool.Name]; launches {
			e.prices[pool.Name] = screen.Prices(e.goods.supplies[pool.Name], e.wanted(pool.Name))
		}
	}
	for c, kind := range e.classes {
		class := &e.cluster.Classes[c]
		class.Floor = math.Inf(1)
		asked := kind.asks(e.w.f.vocabulary)
		d := demand{asked: asked, number: e.goods.askedOf(kind, e.w.f.vocabulary)}
		for _, pool := range e.w.in.NodePools {
			if e.accepts(pool, kind.pod, asked) {
				class.Floor = min(class.Floor, screen.Floor(class.Request, e.prices[pool.Name]))
				d.pools = append(d.pools, pool.Name)
			}
		}
		d.zone = zoneOf(asked)
		e.demands = append(e.demands, d)
	}
}

// accepts reports whether a pool launches nodes that a pod may run on, as far as
// its template says.
func (e *estimate) accepts(pool *v1.NodePool, p *corev1.Pod, asked requirements.Pod) bool {
	set, found := e.goods.templates[pool.Name]
	return found && tolerates(p, pool.Spec.Template.Spec.Taints) && slices.ContainsFunc(asked.Alternatives,
		func(a requirements.Alternative) bool { return set.Compatible(a.Set, e.w.f.vocabulary) })
}

// allSupply is what any pool can launch, cheapest first.
func (e *estimate) allSupply() []screen.Supply {
	if g := e.goods; g.all == nil {
		g.all = []screen.Supply{}
		for _, pool := range e.w.in.NodePools {
			g.all = append(g.all, g.supplies[pool.Name]...)
		}
		slices.SortStableFunc(g.all, func(a, b screen.Supply) int { return cmp.Compare(a.Price, b.Price) })
	}
	return e.goods.all
}

// daemons is what the DaemonSets ask for that run on every node of a pool.
func (e *estimate) daemons(pool *v1.NodePool) []int64 {
	out := make([]int64, len(e.names))
	for _, p := range e.w.in.DaemonSetPods {
		asked, err := requirements.FromPod(p, e.w.f.vocabulary)
		if err != nil || !tolerates(p, pool.Spec.Template.Spec.Taints) || !slices.ContainsFunc(asked.Alternatives,
			func(a requirements.Alternative) bool { return a.Set.Len() == 0 && a.NodeNames == nil }) {
			continue // whether it runs depends on the node
		}
		list, err := resources.PodRequests(p)
		if err != nil {
			continue
		}
		for d, n := range e.vector(list.With(corev1.ResourcePods, 1)) {
			out[d] += n
		}
	}
	return out
}
