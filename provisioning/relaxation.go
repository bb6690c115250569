package provisioning

import (
	"encoding/binary"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/device"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
)

// relaxation states a problem with only those constraints that hold in every plan:
// what each pod asks of its node, and what pods of one node may never do
// together. The choices that Solve makes before it packs are open again: who
// goes to a node that exists and who draws on a reservation, to which domains
// pods are sent, which preferences are kept.
type relaxation struct {
	a      *assembler
	p      *Problem
	adds   []bool // by dimension: what pods ask of it adds up on a node
	with   []int  // the selections of affinities over the name of the node
	placed []int  // by class
	bought []int  // by class: on new nodes that do not draw on a reservation
	onSpot []bool // by class: some are on new nodes that are spot

	problem *pack.Problem
	counts  []int // by relaxed class: bought
	first   []int // by relaxed class: a class of it
	index   map[string]int32
	fine    map[string]int32 // kinds of classes by the options with room for them
	coarse  map[string]int32 // kinds of classes by the options that suit them
	kinds   []int            // by relaxed class: the coarse one
}

// mostFineRows is how large the relaxation may be that tells classes apart by
// the room that one pod needs too.
const mostFineRows = 120

// lowerBound is what any plan costs that places the same pods, if new nodes cost what
// is made of their prices; nil leaves those as they are. The assembler has placed them.
func (a *assembler) lowerBound(made func(price float64) float64) float64 {
	x := &relaxation{a: a, p: a.p, with: a.p.togetherOverNodes(), index: map[string]int32{}, fine: map[string]int32{}, coarse: map[string]int32{}}
	x.count()
	x.adds = x.p.addingUp()
	x.problem = &pack.Problem{Dims: len(x.adds), Options: x.p.lowOptions, Capacities: x.p.distinct, Reservations: x.p.catalog.stocks.sizes, Rules: x.p.packRules()}
	if made != nil {
		x.problem.Options = slices.Clone(x.problem.Options)
		for o := range x.problem.Options {
			x.problem.Options[o].Price = made(x.problem.Options[o].Price)
		}
	}
	for c, n := range x.placed {
		if n > 0 {
			x.add(c, n)
		}
	}
	if len(x.fine)*len(x.adds) > mostFineRows {
		for id, kind := range x.kinds {
			x.problem.Classes[id].Kind = kind
		}
	}
	x.addNodes()
	return pack.Floor(x.problem, x.counts)
}

// count counts the pods that have a place.
func (x *relaxation) count() {
	x.a.findClasses()
	n := len(x.p.classes)
	x.placed, x.bought, x.onSpot = make([]int, n), make([]int, n), make([]bool, n)
	for _, podIDs := range x.a.bound {
		for _, podID := range podIDs {
			x.placed[x.a.classOf[podID]]++
		}
	}
	for _, s := range x.a.new {
		kind := s.binType.list[0].Offering.CapacityType
		for _, podID := range s.podIDs {
			c := x.a.classOf[podID]
			x.placed[c]++
			if kind != v1.CapacityTypeReserved {
				x.bought[c]++
			}
			x.onSpot[c] = x.onSpot[c] || kind == v1.CapacityTypeSpot
		}
	}
}

// addingUp says which dimensions are used up by pods one by one whatever the
// plan: resources, volumes that only one pod has, devices. A slot is one if no
// node may have more than one pod that takes it; how far pods are spread over
// nodes depends on which nodes there are.
func (p *Problem) addingUp() []bool {
	out := make([]bool, len(p.resources)+len(p.rules.slots))
	for r, name := range p.resources {
		out[r] = !device.IsName(name) || device.IsCount(name)
	}
	for i := range p.rules.slots {
		out[len(p.resources)+i] = p.rules.addsUp(&p.rules.slots[i])
	}
	return out
}

// addsUp says whether no node may have more than one pod that takes a slot,
// whatever the plan.
func (r *rules) addsUp(s *slot) bool {
	return len(s.rules) == 1 && r.node[s.rules[0]].Kind == pack.Apart
}

// request is what a pod of a class uses up of a node in every plan.
func (x *relaxation) request(c int) []int64 {
	class := &x.p.classes[c]
	out := make([]int64, len(x.adds))
	for r, n := range x.p.requests[c] {
		if x.adds[r] {
			out[r] = n
		}
	}
	for r, name := range x.p.resources {
		switch {
		case device.IsName(name):
			if class.devices != nil && len(class.devices.Demands) > 1 {
				out[r] = 0 // it may be another of the ways to meet the claim
			}
		case strings.HasPrefix(string(name), volumesPrefix):
			out[r] = 0
			for _, a := range class.volumes.Attach {
				if volumesOf(a.Driver) == name {
					out[r] = a.Own
				}
			}
		}
	}
	return out
}

// add adds pods of a class.
func (x *relaxation) add(c, count int) {
	request := x.request(c)
	options, suited := x.options(c, request)
	class := pack.Class{Request: request, Count: count, Variants: []pack.Variant{{Options: options}}}
	class.Memberships = x.apart(x.p.rules.duties[c].parts)
	class.Kind = int(kindOf(options, x.fine))
	id, fresh := intern(x.index, x.key(c, &class), int32(len(x.first)))
	if fresh {
		x.first = append(x.first, c)
		x.counts = append(x.counts, 0)
		x.kinds = append(x.kinds, int(kindOf(suited, x.coarse)))
		x.problem.Classes = append(x.problem.Classes, class)
	} else {
		x.problem.Classes[id].Count += count
	}
	x.counts[id] += x.bought[c]
}

// apart keeps what pods count for in rules that hold in every plan.
func (x *relaxation) apart(parts []pack.Membership) []pack.Membership {
	var out []pack.Membership
	for _, part := range parts {
		if x.p.rules.node[part.Rule].Kind == pack.Apart {
			out = append(out, part)
		}
	}
	return out
}

// key tells relaxed classes apart.
func (x *relaxation) key(c int, class *pack.Class) []byte {
	var buf []byte
	number := func(n int64) { buf = binary.AppendVarint(buf, n) }
	for _, n := range class.Request {
		number(n)
	}
	for _, r := range class.Memberships {
		number(int64(r.Rule))
		number(int64(r.Owners))
		number(int64(r.Members))
	}
	number(int64(class.Kind)) // which stands for the options
	if len(x.p.nodes) > 0 {
		buf = append(buf, 0)
		number(int64(x.p.nodeClass[c]))
		buf = append(buf, x.p.classes[c].volumeKey...)
		if d := x.p.classes[c].devices; d != nil {
			buf = append(buf, d.Key()...)
		}
		for _, label := range x.p.classes[c].labels {
			buf = append(append(buf, 0), label...)
		}
	}
	return buf
}

// options are those that a pod of a class may use in any plan, and those that
// it may as far as its labels and taints go.
func (x *relaxation) options(c int, request []int64) (out, suited bitset.Set) {
	p, class := x.p, &x.p.classes[c]
	suited = bitset.New(p.admission.domains.total)
	for _, set := range p.admission.suited[c] {
		suited.Or(set)
	}
	suited.And(p.admission.fits(atMostOne(request)))
	out = suited.Clone()
	out.And(p.admission.fits(request))
	if len(class.alternatives) == 1 {
		p.admission.keepMinValues(out, p.traits.of(class.alternatives[0].Set))
	}
	if class.noSpot && !x.onSpot[c] {
		if steady := p.steadyOptions(out); !steady.Empty() {
			out = steady
		}
	}
	x.keepTiers(c, out)
	return out, suited
}

// keepTiers removes the options of pools that a class needs in no plan, as pools
// of more weight can always serve it, but for nodes that are launched anyway.
func (x *relaxation) keepTiers(c int, options bitset.Set) {
	p := x.p
	if len(p.lowPools) == 0 || p.lowPools[len(p.lowPools)-1].Tier == 0 || p.flexible != nil || !p.isPlain(c, x.with) || p.isSoft(c) {
		return
	}
	anyway := options.Clone()
	anyway.And(p.tiers.anyway)
	p.keepHeaviest(options, p.admission.lowered(c))
	options.Or(anyway)
}

// addNodes adds the nodes that exist.
func (x *relaxation) addNodes() {
	p := x.p
	single := false
	for _, c := range x.first {
		single = single || p.classes[c].hasVolumes || p.classes[c].devices != nil && len(p.classes[c].devices.Pins) > 0
	}
	known := map[*verdict]bitset.Set{}
	for i := range p.nodes {
		n := &p.nodes[i]
		classes, ok := known[n.verdict]
		if !ok || single {
			classes = bitset.New(len(x.first))
			for id, c := range x.first {
				if p.admits(c, n) {
					classes.Add(id)
				}
			}
			known[n.verdict] = classes
		}
		x.problem.Nodes = append(x.problem.Nodes, pack.Node{Free: n.free, Classes: classes, Memberships: x.apart(p.nodeParts[i])})
	}
}
