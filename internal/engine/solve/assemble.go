package solve

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	"github.com/dovetail-sdk/dovetail/internal/engine/repair"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// assembler converts the counts of a packing to pods.
type assembler struct {
	p              *compile.Problem
	s              *attempt.Attempt
	st             *repair.State
	admittedCounts *attempt.AdmittedCounts
	rest           [][]int32 // by part: pods not assigned yet

	then   *repair.State // the state when the unplaced pods were decided; nil if all pods are placed
	sorter bitset.Set    // scratch space: pod IDs
	causes *diagnosis    // of unplaced pods; nil until needed
}

// assemble makes the solution of a packing and runs the passes over it.
func assemble(p *compile.Problem, s *attempt.Attempt, r *pack.Result) *Solution {
	a := &assembler{p: p, s: s, st: repair.New(p, s, r.Steps), admittedCounts: s.AdmittedCounts(p, r)}
	plan := a.newPlan(r)
	plan.of = a
	a.handOut(r)
	order := a.st.Run(a.order())
	if plan.closed = a.st.Closed; plan.closed {
		plan.PackingBound = 0 // the packer's bound holds for its own choices only
	}
	a.freeze()
	before := len(order)
	if order = a.st.ChooseOptions(order); len(order) > before {
		a.freeze()
	}
	plan.Unplaced = a.unplaced()
	for i, podIDs := range a.st.Bound {
		if len(podIDs) > 0 {
			a.sort(podIDs)
			plan.Bind = append(plan.Bind, model.Binding{Node: p.Nodes[i].Name(), Pods: a.pods(podIDs), After: p.Nodes[i].Ending})
		}
	}
	slices.SortFunc(plan.Bind, func(x, y model.Binding) int { return cmp.Compare(x.Node, y.Node) })
	a.create(plan)
	for i := range plan.Create {
		plan.Cost += plan.Create[i].Options[0].Offering.Price
	}
	plan.setSpareAside(p.Headroom)
	plan.Order = a.inOrder(order)
	return plan
}

// newPlan returns a solution without nodes.
func (a *assembler) newPlan(r *pack.Result) *Solution {
	p := a.p
	plan := &Solution{Offered: map[string]Offer{}, PackingBound: r.Bound, Stats: model.Stats{
		Pods:    len(p.Pods) - len(p.Headroom),
		Classes: len(p.Classes),
		Steps:   r.Steps,
	}}
	for i := range p.Pools {
		pl := &p.Pools[i]
		plan.Stats.Options += len(pl.Options)
		plan.Offered[pl.Object.Name] = Offer{Template: pl.Template, Types: pl.Types, Limits: pl.Limits, Options: pl.Options, Resources: p.Resources}
	}
	return plan
}

// handOut assigns pods to the nodes of a packing, as far as the admitted counts allow.
func (a *assembler) handOut(r *pack.Result) {
	a.rest = a.share()
	for i, shares := range r.Nodes {
		a.st.Bound[i] = a.mark(append(a.takePinned(i), a.take(shares)...))
	}
	for i := range r.New {
		a.newNodes(&r.New[i])
	}
}

// share divides the pods among the parts.
func (a *assembler) share() [][]int32 {
	out := make([][]int32, len(a.s.Parts))
	next := make([]int, len(a.p.Classes))
	for i := range a.s.Parts {
		part := &a.s.Parts[i]
		from := next[part.Class]
		out[i] = a.p.Classes[part.Class].Pods[from : from+part.Count]
		next[part.Class] += part.Count
	}
	return out
}

// take returns the pods of some shares, sorted by ID. It takes from a part at most the admitted
// count.
func (a *assembler) take(shares []pack.Share) []int32 {
	var podIDs []int32
	for _, s := range shares {
		if a.s.Items[s.Class].Units != nil {
			for _, part := range a.s.Items[s.Class].Parts {
				podIDs = append(podIDs, a.all(part)...)
			}
			continue
		}
		want := s.Count
		for _, part := range a.s.Items[s.Class].Parts {
			n := min(want, len(a.rest[part]))
			want -= n
			given := a.rest[part][:min(n, a.admittedCounts.Left[part])]
			a.rest[part] = a.rest[part][n:]
			a.admittedCounts.Left[part] -= len(given)
			podIDs = append(podIDs, given...)
		}
	}
	return podIDs
}

// takePinned returns the pods that are pinned to an existing node.
func (a *assembler) takePinned(node int) []int32 {
	var podIDs []int32
	for i, f := range a.s.Bundler.Pinned {
		if part := a.s.PinnedParts[i]; part >= 0 && f.Node == node {
			podIDs = append(podIDs, a.all(part)...)
		}
	}
	return podIDs
}

// all returns all pods of a part, at most the admitted count.
func (a *assembler) all(part int) []int32 {
	out := a.rest[part][:min(len(a.rest[part]), a.admittedCounts.Left[part])]
	a.rest[part] = nil
	return out
}

// mark records that pods have a place, and returns them.
func (a *assembler) mark(podIDs []int32) []int32 {
	for _, podID := range podIDs {
		a.st.Placed[podID] = true
	}
	return podIDs
}

// pods returns the pods with some IDs.
func (a *assembler) pods(podIDs []int32) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(podIDs))
	for i, podID := range podIDs {
		pods[i] = a.p.Pods[podID]
	}
	return pods
}

// sort sorts pod IDs. Many IDs are sorted through a set.
func (a *assembler) sort(podIDs []int32) {
	if len(a.sorter) == 0 {
		a.sorter = bitset.New(len(a.p.Pods))
	}
	if len(podIDs) < 16 || len(podIDs) < len(a.sorter)/4 {
		slices.Sort(podIDs)
		return
	}
	for _, podID := range podIDs {
		a.sorter.Add(int(podID))
	}
	i := 0
	for podID := range a.sorter.All() {
		podIDs[i] = int32(podID)
		i++
	}
	clear(a.sorter)
}

// newNodes makes the copies of a launch. They share everything except their pods.
func (a *assembler) newNodes(l *pack.Launch) {
	model := a.st.NewBinType(l.Pool, l.Options, l.Trait, a.requirements(&a.p.Pools[l.Pool], l), l.Relaxed)
	model.Wide = l.Wide
	model = a.st.InOneCell(model, a.classes(l.Shares))
	var last []int32
	var requests resources.List // of the pods in last
	for range l.Copies {
		if podIDs := a.mark(a.take(l.Shares)); len(podIDs) > 0 {
			if !slices.EqualFunc(podIDs, last, func(x, y int32) bool { return a.p.ClassOf[x] == a.p.ClassOf[y] }) {
				requests = a.requestsOf(podIDs)
			}
			last = podIDs
			a.st.New = append(a.st.New, &ledger.Bin{Node: -1, BinType: model, PodIDs: podIDs, Requests: requests})
		}
	}
}

// newNode converts a bin to a new node. The pods of the bin must be sorted.
func (a *assembler) newNode(s *ledger.Bin) model.NewNode {
	n := s.BinType.Node(a.p)
	n.Requests, n.Pods = s.Requests, a.pods(s.PodIDs)
	n.Drivers = a.p.Drivers(s.PodIDs, s.BinType.Options)
	if s.Late {
		n.Requests = a.requestsOf(s.PodIDs)
	}
	return n
}

// classes lists the classes of shares.
func (a *assembler) classes(shares []pack.Share) (out []int) {
	for _, s := range shares {
		for _, part := range a.s.Items[s.Class].Parts {
			out = append(out, a.s.Parts[part].Class)
		}
	}
	return out
}

// requestsOf returns the sum of the requests of pods, given by ID, restricted to resources that some
// pod lists.
func (a *assembler) requestsOf(podIDs []int32) resources.List {
	amounts := map[corev1.ResourceName]int64{}
	for _, podID := range podIDs {
		c := a.p.ClassOf[podID]
		for r, name := range a.p.Resources {
			if _, listed := a.p.Classes[c].Requests.Lookup(name); listed {
				amounts[name] += a.p.Requests[c][r]
			}
		}
	}
	return resources.New(amounts)
}

// requirements returns the requirements of pool and pods on a node. For pods with several
// alternatives, only the part common to them is certain.
func (a *assembler) requirements(pool *catalog.Pool, l *pack.Launch) requirements.Set {
	set := pool.Template
	for _, s := range l.Shares {
		set = set.Intersect(a.s.Items[s.Class].Sources[s.Variant])
	}
	return ledger.Unnamed(set)
}

// create sorts the new nodes into their documented order, converts and names them.
func (a *assembler) create(plan *Solution) {
	type ranked struct {
		pool  int
		price float64
		bin   *ledger.Bin
	}
	order := make([]ranked, len(a.st.New))
	for i, s := range a.st.New {
		a.sort(s.PodIDs)
		order[i] = ranked{s.BinType.Pool, s.BinType.Price(), s}
	}
	slices.SortFunc(order, func(x, y ranked) int { // no two have a pod in common, so the order is total
		return cmp.Or(cmp.Compare(x.pool, y.pool), -cmp.Compare(x.price, y.price), cmp.Compare(x.bin.PodIDs[0], y.bin.PodIDs[0]))
	})
	plan.Create = make([]model.NewNode, len(a.st.New))
	number, last := 0, -1
	for i := range order {
		a.st.New[i] = order[i].bin
		if order[i].pool != last {
			number, last = 0, order[i].pool
		}
		number++
		plan.Create[i] = a.newNode(a.st.New[i])
		plan.Create[i].Name = nameOf(plan.Create[i].Pool.Name, number)
	}
}

// nameOf returns the name of a new node, given its number in its pool.
func nameOf(pool string, number int) string {
	digits := strconv.Itoa(number)
	return pool + "-" + "0000"[min(len(digits), 4):] + digits
}

// freeze keeps a copy of the state for the reasons of unplaced pods.
func (a *assembler) freeze() {
	if slices.Contains(a.st.Placed, false) {
		a.then = a.st.Frozen()
	}
}

// unplaced lists the unplaced pods, without reasons.
func (a *assembler) unplaced() (out []model.Unplaced) {
	for podID, placed := range a.st.Placed {
		if !placed {
			out = append(out, model.Unplaced{Pod: a.p.Pods[podID]})
		}
	}
	return out
}

// setReasons sets the reasons of the unplaced pods.
func (a *assembler) setReasons(plan *Solution) {
	if len(plan.Unplaced)+len(plan.Spare) == 0 {
		return
	}
	reasons := make([]*model.Reason, len(a.p.Classes))
	planned := a.then.Planned()
	left, spare := plan.Unplaced, plan.Spare
	for podID, placed := range a.st.Placed {
		if placed {
			continue
		}
		c := a.p.ClassOf[podID]
		if reasons[c] == nil {
			reasons[c] = a.because(c, planned)
		}
		of := &left
		if a.p.Headroom[a.p.Pods[podID]] {
			of = &spare
		}
		(*of)[0].Reason, *of = reasons[c], (*of)[1:]
	}
}

// setSpareAside moves unplaced headroom pods from Unplaced to Spare.
func (s *Solution) setSpareAside(headroom map[*corev1.Pod]bool) {
	if len(headroom) == 0 {
		return
	}
	real := s.Unplaced[:0]
	for _, u := range s.Unplaced {
		if headroom[u.Pod] {
			s.Spare = append(s.Spare, u)
		} else {
			real = append(real, u)
		}
	}
	s.Unplaced = real
}
