package provisioning

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/pack"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// assembler turns counts back into pods.
type assembler struct {
	p              *Problem
	s              *attempt
	admittedCounts *admittedCounts
	rest           [][]int32 // by part: the pods not handed out yet
	lists          map[string]optionList

	placed   []bool     // by pod
	classOf  []int      // by pod, once asked for
	bound    [][]int32  // by node that exists: its pods
	new      []*bin     // with the pods of the plan
	sorter   bitset.Set // scratch, of pod IDs
	leant    []int      // rules over nodes that were leant on; see hostSpread
	binTypes int        // that new nodes have been given so far
	last     bool       // the classes that wait for all others come in now
}

// assemble makes the plan that a packing stands for.
func (p *Problem) assemble(s *attempt, r *pack.Result) *Plan {
	a := &assembler{p: p, s: s, admittedCounts: s.admittedCounts(p, r), lists: map[string]optionList{}, placed: make([]bool, len(p.pods))}
	plan := a.newPlan(r)
	a.handOut(r)
	order := a.repair(plan, r)
	plan.Unplaced = a.unplaced()
	a.widen()
	a.keepOffSpot()
	a.came(capacityType)
	for i, podIDs := range a.bound {
		if len(podIDs) > 0 {
			a.sort(podIDs)
			plan.Bind = append(plan.Bind, Binding{Node: p.nodes[i].Name(), Pods: a.pods(podIDs)})
		}
	}
	slices.SortFunc(plan.Bind, func(x, y Binding) int { return cmp.Compare(x.Node, y.Node) })
	a.create(plan)
	for i := range plan.Create {
		plan.Cost += plan.Create[i].Price()
	}
	a.setBounds(plan)
	a.bufferStatus(plan)
	plan.Static, plan.Overlays = p.static, p.catalog.overlays
	plan.Order = a.inOrder(order)
	return plan
}

// newPlan is a plan without nodes.
func (a *assembler) newPlan(r *pack.Result) *Plan {
	p := a.p
	plan := &Plan{offered: map[string]offer{}, PackingBound: r.Bound, Stats: Stats{
		Pods:    len(p.pods) - len(p.headroom),
		Classes: len(p.classes),
		Steps:   r.Steps,
	}}
	for i := range p.pools {
		pl := &p.pools[i]
		plan.Stats.Options += len(pl.options)
		plan.offered[pl.object.Name] = offer{template: pl.template, types: pl.types, limits: pl.limits, options: pl.options, resources: p.resources}
	}
	return plan
}

// handOut gives pods to the nodes of a packing, as far as the admitted counts let them
// through.
func (a *assembler) handOut(r *pack.Result) {
	a.share()
	a.bound = make([][]int32, len(a.p.nodes))
	for i, shares := range r.Nodes {
		a.bound[i] = a.mark(append(a.takePinned(i), a.take(shares)...))
	}
	for i := range r.New {
		a.newNodes(&r.New[i])
	}
}

// repair changes the plan pass by pass, and returns the order in which pods can be
// bound.
func (a *assembler) repair(plan *Plan, r *pack.Result) []int32 {
	p := a.p
	order := a.replayOrder(a.order())
	a.came(replay)
	if !p.skips(insertLeft) {
		order = a.insertRest(order)
		a.came(insertLeft)
	}
	order, plan.ejected = a.makeRoom(order)
	a.came(ejectOthers)
	if a.s.rooms != nil || a.s.kept != nil || a.s.raised != nil || a.leant != nil || a.leavesSome() {
		plan.uneven = a.unevenness() // another attempt may be tried, or this is one
	}
	plan.leant = a.leant
	order, plan.closed = a.eliminateNodes(order, r.Steps)
	a.came(eliminate)
	if plan.closed = plan.closed || plan.ejected; plan.closed {
		plan.PackingBound = 0 // it is about what was chosen before
	}
	if !p.opts.Quick && a.swapBySoftScore() || plan.closed {
		a.came(swapPods)
		if !p.skips(insertAgain) {
			order = a.insert(order) // where pods went away there may be room for others
			a.came(insertAgain)
		}
	}
	order = a.letIn(order, plan, r.Steps)
	a.came(lettingIn)
	return order
}

// leavesSome says whether some pod that exists has no place.
func (a *assembler) leavesSome() bool {
	for podID, placed := range a.placed {
		if !placed && !a.p.headroom[a.p.pods[podID]] {
			return true
		}
	}
	return false
}

// share gives each part its pods.
func (a *assembler) share() {
	a.rest = make([][]int32, len(a.s.parts))
	next := make([]int, len(a.p.classes))
	for i := range a.s.parts {
		part := &a.s.parts[i]
		from := next[part.class]
		a.rest[i] = a.p.classes[part.class].pods[from : from+part.count]
		next[part.class] += part.count
	}
}

// take hands out pods, sorted. Of a part it gives no more than the admitted counts let
// through.
func (a *assembler) take(shares []pack.Share) []int32 {
	var podIDs []int32
	for _, s := range shares {
		if a.s.items[s.Class].units != nil {
			for _, part := range a.s.items[s.Class].parts {
				podIDs = append(podIDs, a.all(part)...)
			}
			continue
		}
		want := a.s.items[s.Class].pods(s.Count)
		for _, part := range a.s.items[s.Class].parts {
			n := min(want, len(a.rest[part]))
			want -= n
			given := a.rest[part][:min(n, a.admittedCounts.left[part])]
			a.rest[part] = a.rest[part][n:]
			a.admittedCounts.left[part] -= len(given)
			podIDs = append(podIDs, given...)
		}
	}
	return podIDs
}

// takePinned hands out the pods that can only go to a node that exists.
func (a *assembler) takePinned(node int) []int32 {
	var podIDs []int32
	for i, f := range a.s.bundler.pinned {
		if part := a.s.pinnedParts[i]; part >= 0 && f.node == node {
			podIDs = append(podIDs, a.all(part)...)
		}
	}
	return podIDs
}

// all hands out a whole part.
func (a *assembler) all(part int) []int32 {
	out := a.rest[part][:min(len(a.rest[part]), a.admittedCounts.left[part])]
	a.rest[part] = nil
	return out
}

// mark notes that pods have a place.
func (a *assembler) mark(podIDs []int32) []int32 {
	for _, podID := range podIDs {
		a.placed[podID] = true
	}
	return podIDs
}

// pods returns the pods of some pod IDs.
func (a *assembler) pods(podIDs []int32) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(podIDs))
	for i, podID := range podIDs {
		pods[i] = a.p.pods[podID]
	}
	return pods
}

// sort puts pod IDs in order: where there are many, by walking over a set of them.
func (a *assembler) sort(podIDs []int32) {
	if len(a.sorter) == 0 {
		a.sorter = bitset.New(len(a.p.pods))
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

// newNodes makes the copies of a launch. They share all but their pods.
func (a *assembler) newNodes(l *pack.Launch) {
	model := a.newBinType(l.Pool, l.Options, l.Trait, a.requirements(&a.p.pools[l.Pool], l), l.Relaxed)
	model.wide = l.Wide
	requests, whole := a.requests(l.Shares), a.count(l.Shares)
	for range l.Copies {
		if podIDs := a.mark(a.take(l.Shares)); len(podIDs) > 0 {
			s := &bin{node: -1, binType: model, podIDs: podIDs}
			if len(podIDs) == whole {
				s.requests = requests
			} else {
				s.requests = a.requestsOf(podIDs)
			}
			a.new = append(a.new, s)
		}
	}
}

// newNode writes a new node out. Its pods are in order.
func (a *assembler) newNode(s *bin) NewNode {
	n := s.binType.node(a.p)
	n.Requests, n.Pods = s.requests, a.pods(s.podIDs)
	if s.late {
		n.Requests = a.requestsOf(s.podIDs)
	}
	return n
}

func (a *assembler) requests(shares []pack.Share) resources.List {
	sum := make([]int64, len(a.p.resources))
	listed := make([]bool, len(a.p.resources))
	for _, s := range shares {
		if l := &a.s.items[s.Class]; l.units != nil {
			for i, part := range l.parts {
				a.addRequests(sum, listed, a.s.parts[part].class, l.units[i])
			}
			continue
		}
		a.addRequests(sum, listed, a.s.parts[a.s.items[s.Class].parts[0]].class, a.s.items[s.Class].pods(s.Count))
	}
	return a.list(sum, listed)
}

// count is how many pods shares stand for.
func (a *assembler) count(shares []pack.Share) int {
	n := 0
	for _, s := range shares {
		units := a.s.items[s.Class].pods(1)
		if l := &a.s.items[s.Class]; l.units != nil {
			units = 0
			for _, u := range l.units {
				units += u
			}
		}
		n += s.Count * units
	}
	return n
}

// requestsOf sums up what pods ask for, given by pod ID.
func (a *assembler) requestsOf(podIDs []int32) resources.List {
	a.findClasses()
	sum := make([]int64, len(a.p.resources))
	listed := make([]bool, len(a.p.resources))
	for _, podID := range podIDs {
		a.addRequests(sum, listed, a.classOf[podID], 1)
	}
	return a.list(sum, listed)
}

// findClasses works out which class each pod is of.
func (a *assembler) findClasses() {
	if a.classOf != nil {
		return
	}
	a.classOf = make([]int, len(a.p.pods))
	for c := range a.p.classes {
		for _, podID := range a.p.classes[c].pods {
			a.classOf[podID] = c
		}
	}
}

// list names the amounts of the resources that some pod asks for.
func (a *assembler) list(sum []int64, listed []bool) resources.List {
	amounts := map[corev1.ResourceName]int64{}
	for r, name := range a.p.resources {
		if listed[r] {
			amounts[name] = sum[r]
		}
	}
	return resources.New(amounts)
}

func (a *assembler) addRequests(sum []int64, listed []bool, class, count int) {
	for r, want := range a.p.requests[class][:len(sum)] {
		sum[r] += want * int64(count)
		if _, ok := a.p.classes[class].requests.Lookup(a.p.resources[r]); ok {
			listed[r] = true
		}
	}
}

// requirements states what pool and pods ask of a node. Of pods with several
// ways to be placed only what the options show is certain.
func (a *assembler) requirements(pool *pool, l *pack.Launch) requirements.Set {
	set := pool.template
	for _, s := range l.Shares {
		set = set.Intersect(a.s.items[s.Class].sources[s.Variant])
	}
	return unnamed(set)
}

// unnamed leaves out what cannot be asked of a new node: its name is not known
// yet, and what it becomes by starting must not be on it before.
func unnamed(set requirements.Set) requirements.Set {
	return set.Without(corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey)
}

// create puts the new nodes in their stated order, writes them out and names them.
func (a *assembler) create(plan *Plan) {
	type ranked struct {
		pool  int
		price float64
		bin   *bin
	}
	order := make([]ranked, len(a.new))
	for i, s := range a.new {
		a.sort(s.podIDs)
		order[i] = ranked{s.binType.pool, s.binType.price(), s}
	}
	slices.SortFunc(order, func(x, y ranked) int { // no two have a pod in common
		return cmp.Or(cmp.Compare(x.pool, y.pool), -cmp.Compare(x.price, y.price), cmp.Compare(x.bin.podIDs[0], y.bin.podIDs[0]))
	})
	plan.Create = make([]NewNode, len(a.new))
	number, last := 0, -1
	for i := range order {
		a.new[i] = order[i].bin
		if order[i].pool != last {
			number, last = 0, order[i].pool
		}
		number++
		plan.Create[i] = a.newNode(a.new[i])
		plan.Create[i].Name = nameOf(plan.Create[i].Pool.Name, number)
	}
}

// nameOf is the name of a new node of a pool, given its number there.
func nameOf(pool string, number int) string {
	digits := strconv.Itoa(number)
	return pool + "-" + "0000"[min(len(digits), 4):] + digits
}

// planned is what the new nodes take of the limits of each pool, each the most that
// it may be launched with.
func (a *assembler) planned() [][]int64 {
	out := make([][]int64, len(a.p.lowPools))
	for i := range out {
		out[i] = make([]int64, len(a.p.lowPools[i].Limits))
	}
	for _, s := range a.new {
		pool := s.binType.pool
		for l, n := range mostUses(&a.p.lowPools[pool], s.binType.options) {
			out[pool][l] += n
		}
	}
	return out
}

// unplaced lists the pods without a place.
func (a *assembler) unplaced() []Unplaced {
	if !slices.Contains(a.placed, false) {
		return nil
	}
	var out []Unplaced
	reasons := make([]*Reason, len(a.p.classes))
	of := make([]int, len(a.p.pods))
	planned := a.planned()
	for c := range a.p.classes {
		for _, podID := range a.p.classes[c].pods {
			of[podID] = c
			if !a.placed[podID] && reasons[c] == nil {
				reasons[c] = a.p.explain(c, a.s, a.admittedCounts, planned)
				if why := a.keptAway(c); why != nil {
					reasons[c] = why
				}
			}
		}
	}
	for podID, placed := range a.placed {
		if !placed {
			out = append(out, Unplaced{Pod: a.p.pods[podID], Reason: reasons[of[podID]]})
		}
	}
	return out
}
