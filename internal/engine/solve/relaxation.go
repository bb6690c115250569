package solve

import (
	"encoding/binary"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// relaxation is the problem reduced to the constraints that hold in every plan: the requirements of
// each pod on its node, and which pods can never share a node. The choices that Solve makes before
// packing are open again: which pods go to existing nodes and which use reservations, to which
// domains pods are sent, and which preferences are satisfied.
type relaxation struct {
	a      *assembler
	p      *compile.Problem
	adds   []bool // by dimension: the requests of pods on a node add up
	with   []int  // selections of affinities over the hostname
	placed []int  // by class: pods placed
	bought []int  // by class: pods on new nodes that use no reservation
	onSpot []bool // by class: some of its pods are on new nodes that are spot

	problem *pack.Problem
	counts  []int // by relaxed class: pods on new nodes that use no reservation
	first   []int // by relaxed class: one class of it
	index   map[string]int32
	fine    bitset.Index // kinds of classes, by the options with room for them
	coarse  bitset.Index // kinds of classes, by the options that suit them
	kinds   []int        // by relaxed class: its coarse kind
}

// mostFineRows is the largest number of rows of a relaxation that distinguishes classes by the room
// that one pod needs.
const mostFineRows = 120

// lowerBound returns a lower bound on the cost of any plan that places the same pods, with prices
// converted by made; nil leaves prices unchanged. The assembler must have placed the pods.
func (a *assembler) lowerBound(made func(price float64) float64) float64 {
	x := &relaxation{a: a, p: a.p, with: a.p.TogetherOverNodes(), index: map[string]int32{}}
	x.count()
	x.adds = addingUp(x.p)
	x.problem = &pack.Problem{Dims: len(x.adds), Options: x.p.LowOptions, Capacities: x.p.Distinct, Reservations: x.p.Catalog.Reservations.Sizes, Rules: attempt.PackRules(x.p)}
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
	if x.fine.Len()*len(x.adds) > mostFineRows {
		for id, kind := range x.kinds {
			x.problem.Classes[id].Kind = kind
		}
	}
	x.addNodes()
	return pack.Floor(x.problem, x.counts)
}

// count counts the pods that have a place.
func (x *relaxation) count() {
	n := len(x.p.Classes)
	x.placed, x.bought, x.onSpot = make([]int, n), make([]int, n), make([]bool, n)
	for _, podIDs := range x.a.st.Bound {
		for _, podID := range podIDs {
			x.placed[x.p.ClassOf[podID]]++
		}
	}
	for _, s := range x.a.st.New {
		kind := s.BinType.List[0].Offering.CapacityType
		for _, podID := range s.PodIDs {
			c := x.p.ClassOf[podID]
			x.placed[c]++
			if kind != v1.CapacityTypeReserved {
				x.bought[c]++
			}
			x.onSpot[c] = x.onSpot[c] || kind == v1.CapacityTypeSpot
		}
	}
}

// addingUp says, by dimension, whether each pod uses it up in every plan: resources, volumes of one
// pod, and devices do. A slot does if at most one pod that takes it may be on a node; how many pods
// a spread allows on a node depends on the other nodes.
func addingUp(p *compile.Problem) []bool {
	out := make([]bool, len(p.Resources)+len(p.Rules.Slots))
	for r, name := range p.Resources {
		out[r] = !device.IsName(name) || device.IsCount(name)
	}
	for i := range p.Rules.Slots {
		out[len(p.Resources)+i] = addsUp(p.Rules, &p.Rules.Slots[i])
	}
	return out
}

// addsUp says whether at most one pod that takes a slot may be on a node, in every plan.
func addsUp(r *compile.Rules, s *compile.Slot) bool {
	return len(s.Rules) == 1 && r.Node[s.Rules[0]].Kind == pack.Apart
}

// request returns what a pod of a class uses of a node in every plan.
func (x *relaxation) request(c int) []int64 {
	class := &x.p.Classes[c]
	out := make([]int64, len(x.adds))
	for r, n := range x.p.Requests[c] {
		if x.adds[r] {
			out[r] = n
		}
	}
	for r, name := range x.p.Resources {
		switch {
		case device.IsName(name):
			if class.Devices != nil && len(class.Devices.Demands) > 1 {
				out[r] = 0 // another demand of the claim may be used
			}
		case strings.HasPrefix(string(name), model.VolumesPrefix):
			out[r] = 0
			for _, a := range class.Volumes.Attach {
				if workload.VolumesOf(a.Driver) == name {
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
	class.Memberships = x.holding(x.p.Rules.ByClass[c].Parts)
	fine, _ := x.fine.Of(options)
	class.Kind = int(fine)
	id, fresh := model.Intern(x.index, x.key(c, &class), int32(len(x.first)))
	if fresh {
		x.first = append(x.first, c)
		x.counts = append(x.counts, 0)
		coarse, _ := x.coarse.Of(suited)
		x.kinds = append(x.kinds, int(coarse))
		x.problem.Classes = append(x.problem.Classes, class)
	} else {
		x.problem.Classes[id].Count += count
	}
	x.counts[id] += x.bought[c]
}

// holding returns the memberships in rules that hold in every plan.
func (x *relaxation) holding(parts []pack.Membership) []pack.Membership {
	var out []pack.Membership
	for _, part := range parts {
		if !x.p.Rules.Node[part.Rule].Spread {
			out = append(out, part)
		}
	}
	return out
}

// key identifies a relaxed class.
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
	number(int64(class.Kind)) // represents the options
	if len(x.p.Nodes) > 0 {
		buf = append(buf, 0)
		number(int64(x.p.NodeClass[c]))
		buf = append(buf, x.p.Classes[c].VolumeKey...)
		if d := x.p.Classes[c].Devices; d != nil {
			buf = append(buf, d.Key()...)
		}
		for _, label := range x.p.Classes[c].Labels {
			buf = append(append(buf, 0), label...)
		}
	}
	return buf
}

// options returns the options that a pod of a class may use in any plan, and those that suit its
// labels and taints.
func (x *relaxation) options(c int, request []int64) (out, suited bitset.Set) {
	p, class := x.p, &x.p.Classes[c]
	suited = p.Admission.SuitedToAny(c)
	suited.And(p.Admission.Fits(compile.AtMostOne(request)))
	out = suited.Both(p.Admission.Fits(request))
	if len(class.Alternatives) == 1 {
		p.Admission.KeepMinValues(out, p.Traits.Of(class.Alternatives[0].Set))
	}
	if class.NoSpot && !x.onSpot[c] {
		if steady := p.SteadyOptions(out); !steady.Empty() {
			out = steady
		}
	}
	x.keepTiers(c, out)
	return out, suited
}

// keepTiers removes options that a class needs in no plan, because pools of higher weight can
// always serve it. Options of nodes that are launched anyway stay.
func (x *relaxation) keepTiers(c int, options bitset.Set) {
	p := x.p
	if len(p.LowPools) == 0 || p.LowPools[len(p.LowPools)-1].Tier == 0 || p.Flexible != nil || !attempt.IsPlain(p, c, x.with) || attempt.IsSoft(p, c) {
		return
	}
	anyway := options.Both(p.Tiers.Anyway)
	p.KeepHeaviest(options, p.Admission.Lowered(c))
	options.Or(anyway)
}

// addNodes adds the existing nodes.
func (x *relaxation) addNodes() {
	p := x.p
	known := map[int]bitset.Set{} // by Existing.Alike
	for i := range p.Nodes {
		n := &p.Nodes[i]
		classes, ok := known[n.Alike]
		if !ok {
			classes = bitset.New(len(x.first))
			for id, c := range x.first {
				if p.Admits(c, n) {
					classes.Add(id)
				}
			}
			known[n.Alike] = classes
		}
		x.problem.Nodes = append(x.problem.Nodes, pack.Node{Free: n.Free, Classes: classes, Memberships: x.holding(p.NodeParts[i])})
	}
}
