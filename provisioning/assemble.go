package provisioning

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// assembler turns counts back into pods.
type assembler struct {
	p     *Problem
	next  []int // by class: the first pod not handed out yet
	lists map[string]optionList
}

// optionList is a list of options and the least that daemons take on any.
type optionList struct {
	options []cloudprovider.LaunchOption
	daemons resources.List
	where   []requirements.Requirement // zones and capacity types
}

// assemble makes the plan that a packing stands for.
func (p *Problem) assemble(r *pack.Result) *Plan {
	a := &assembler{p: p, next: make([]int, len(p.classes)), lists: map[string]optionList{}}
	plan := &Plan{LowerBound: r.Bound, Stats: Stats{
		Pods:    len(p.pods),
		Classes: len(p.classes),
		Steps:   r.Steps,
	}}
	for i := range p.pools {
		plan.Stats.Options += len(p.pools[i].options)
	}
	for i, shares := range r.Nodes {
		if len(shares) > 0 {
			plan.Bind = append(plan.Bind, Binding{Node: p.nodes[i].Name(), Pods: a.take(shares)})
		}
	}
	slices.SortFunc(plan.Bind, func(x, y Binding) int { return cmp.Compare(x.Node, y.Node) })
	for i := range r.New {
		plan.Create = append(plan.Create, a.newNodes(&r.New[i])...)
	}
	a.sortAndName(plan)
	for i := range plan.Create {
		plan.Cost += plan.Create[i].Price()
	}
	// The bound is proven; only rounding in the sum could put it above.
	plan.LowerBound = min(plan.LowerBound, plan.Cost)
	plan.Unplaced = a.unplaced()
	return plan
}

// take hands out pods, sorted.
func (a *assembler) take(shares []pack.Share) []*corev1.Pod {
	n := 0
	for _, s := range shares {
		n += s.Count
	}
	ranks := make([]int32, 0, n)
	for _, s := range shares {
		from := a.next[s.Class]
		ranks = append(ranks, a.p.classes[s.Class].pods[from:from+s.Count]...)
		a.next[s.Class] = from + s.Count
	}
	slices.Sort(ranks)
	pods := make([]*corev1.Pod, n)
	for i, rank := range ranks {
		pods[i] = a.p.pods[rank]
	}
	return pods
}

// newNodes makes the copies of a launch. They share all but their pods.
func (a *assembler) newNodes(l *pack.Launch) []NewNode {
	pool := &a.p.pools[l.Pool]
	model := NewNode{
		Pool:             pool.object,
		Requests:         a.requests(l.Shares),
		MinValuesRelaxed: l.Relaxed,
	}
	list := a.options(l.Options)
	model.Options, model.Daemons = list.options, list.daemons
	model.Requirements = a.requirements(pool, l).With(list.where...)
	model.Labels = nodeLabels(pool, model.Requirements, model.Options, a.p.vocabulary)
	nodes := make([]NewNode, l.Copies)
	for i := range nodes {
		nodes[i] = model
		nodes[i].Pods = a.take(l.Shares)
	}
	return nodes
}

// options lists the options in a set, and what daemons take at least; equal
// sets share a list.
func (a *assembler) options(set bitset.Set) optionList {
	key := set.Key()
	if known, ok := a.lists[key]; ok {
		return known
	}
	out := optionList{options: make([]cloudprovider.LaunchOption, 0, set.Len())}
	seen := map[*resources.List]bool{}
	var last *resources.List
	p := a.p.poolOf(set)
	for o := range set.All() {
		option := &p.options[o-p.first]
		out.options = append(out.options, option.LaunchOption)
		if option.daemons != last && !seen[option.daemons] {
			out.daemons = least(out.daemons, *option.daemons, len(seen) == 0)
			seen[option.daemons] = true
		}
		last = option.daemons
	}
	out.where = whereabouts(out.options)
	a.lists[key] = out
	return out
}

// poolOf returns the pool that a set of options of one pool is of.
func (p *Problem) poolOf(set bitset.Set) *pool {
	for o := range set.All() {
		for i := range p.pools {
			if pl := &p.pools[i]; o < pl.first+len(pl.options) {
				return pl
			}
		}
	}
	return nil
}

// least is the smaller amount of each resource, one that is not listed being
// none.
func least(a, b resources.List, first bool) resources.List {
	if first {
		return b
	}
	amounts := map[corev1.ResourceName]int64{}
	for name, n := range a.All() {
		if m := min(n, b.Get(name)); m > 0 {
			amounts[name] = m
		}
	}
	return resources.New(amounts)
}

func (a *assembler) requests(shares []pack.Share) resources.List {
	sum := make([]int64, len(a.p.resources))
	listed := make([]bool, len(a.p.resources))
	for _, s := range shares {
		for r, want := range a.p.requests[s.Class] {
			sum[r] += want * int64(s.Count)
			if _, ok := a.p.classes[s.Class].requests.Lookup(a.p.resources[r]); ok {
				listed[r] = true
			}
		}
	}
	amounts := map[corev1.ResourceName]int64{}
	for r, name := range a.p.resources {
		if listed[r] {
			amounts[name] = sum[r]
		}
	}
	return resources.New(amounts)
}

// requirements states what pool and pods ask of a node. Of pods with several
// ways to be placed only what the options show is certain.
func (a *assembler) requirements(pool *pool, l *pack.Launch) requirements.Set {
	set := pool.template
	for _, s := range l.Shares {
		if source := a.p.sources[s.Class][s.Variant]; source >= 0 {
			set = set.Intersect(a.p.classes[s.Class].alternatives[source].Set)
		}
	}
	// The name is not known yet, and what a node becomes by starting must not
	// be on it before.
	return set.Without(corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey)
}

// whereabouts states the zones and capacity types of options.
func whereabouts(options []cloudprovider.LaunchOption) []requirements.Requirement {
	var zones, capacityTypes []string
	lastZone, lastType := "", ""
	for _, o := range options {
		if o.Offering.Zone == lastZone && o.Offering.CapacityType == lastType {
			continue
		}
		lastZone, lastType = o.Offering.Zone, o.Offering.CapacityType
		if !slices.Contains(zones, o.Offering.Zone) {
			zones = append(zones, o.Offering.Zone)
		}
		if !slices.Contains(capacityTypes, o.Offering.CapacityType) {
			capacityTypes = append(capacityTypes, o.Offering.CapacityType)
		}
	}
	return []requirements.Requirement{
		requirements.In(corev1.LabelTopologyZone, zones...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes...),
	}
}

// sortAndName puts the new nodes in their stated order and names them.
func (a *assembler) sortAndName(plan *Plan) {
	tried := map[string]int{}
	for i := range a.p.pools {
		tried[a.p.pools[i].object.Name] = i
	}
	type place struct {
		pool  int
		price float64
		pod   *corev1.Pod
		node  int
	}
	order := make([]place, len(plan.Create))
	for i := range plan.Create {
		n := &plan.Create[i]
		order[i] = place{tried[n.Pool.Name], n.Price(), n.Pods[0], i}
	}
	slices.SortFunc(order, func(x, y place) int {
		if c := cmp.Or(cmp.Compare(x.pool, y.pool), -cmp.Compare(x.price, y.price)); c != 0 {
			return c
		}
		return comparePods(x.pod, y.pod)
	})
	sorted := make([]NewNode, len(order))
	number, last := 0, -1
	for i, o := range order {
		if o.pool != last {
			number, last = 0, o.pool
		}
		number++
		sorted[i] = plan.Create[o.node]
		sorted[i].Name = fmt.Sprintf("%s-%04d", sorted[i].Pool.Name, number)
	}
	plan.Create = sorted
}

// unplaced lists the pods without a place.
func (a *assembler) unplaced() []Unplaced {
	reasons := make([]*Reason, len(a.p.classes))
	var ranks []int32
	of := map[int32]int{}
	for c := range a.p.classes {
		rest := a.p.classes[c].pods[a.next[c]:]
		if len(rest) == 0 {
			continue
		}
		reasons[c] = a.p.explain(c)
		for _, rank := range rest {
			ranks = append(ranks, rank)
			of[rank] = c
		}
	}
	slices.Sort(ranks)
	out := make([]Unplaced, len(ranks))
	for i, rank := range ranks {
		out[i] = Unplaced{Pod: a.p.pods[rank], Reason: reasons[of[rank]]}
	}
	return out
}
