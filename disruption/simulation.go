package disruption

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// simulation is the cluster as the engine is asked about it: nothing is pending, what
// is on its way out is gone, and nodes that are not to take pods have no room.
type simulation struct {
	cluster *Cluster
	opts    provisioning.Options
	in      provisioning.Input
	at      map[string]int // place in in.Nodes, by node

	market  *provisioning.Problem // in as it was compiled: nothing but nodes and pods has changed since
	shared  *CatalogCache         // the same for others
	refused error                 // why in cannot be compiled

	displaced map[string][]*corev1.Pod // by node: the pods that need a place when it goes
	promised  map[string]string        // by node: a pod that was placed there
	settled   *provisioning.Plan       // for the pods without a node, nil if there was none
	places    map[string]place         // by pod: where settled has it
	leaving   map[string]bool
	decided   []*candidateSet // what is under way: the actions of others, and what this search has found
	cordoned  []*stateNode    // take no pods in what-ifs
	kinds     *podclass.Classes
	defaults  *podterm.Defaults           // topology spreads of pods without any
	movable   map[*corev1.Pod]*movablePod // those that may change their domain, by pod, as it is and pinned
	landing   *landing                    // of the pods that actions move; nil where nothing is pinned
	stats     SearchStats
}

// newSimulation reads the cluster as it will be once some actions are under way. The
// error is that of ctx.
func newSimulation(ctx context.Context, f *Cluster, others []Action) (*simulation, error) {
	w, err := newSettled(ctx, f, others)
	if err != nil || w.refused != nil {
		return w, err
	}
	if f.pinSpread {
		w.pinSpread()
		w.landing.begin(others)
	}
	for _, name := range f.closed(others) {
		if i, found := w.at[name]; found && !w.leaving[name] {
			w.in.Nodes[i] = closedNode(w.in.Nodes[i])
		}
	}
	w.compile()
	return w, nil
}

// newSettled is newSimulation as far as the pods that wait have a place: it says what is
// promised, and answers no what-if. The error is that of ctx.
func newSettled(ctx context.Context, f *Cluster, others []Action) (*simulation, error) {
	w := &simulation{cluster: f, in: f.in.Input, at: map[string]int{}, displaced: map[string][]*corev1.Pod{},
		promised: map[string]string{}, leaving: map[string]bool{}}
	if f.opts.Provisioning != nil {
		w.opts = *f.opts.Provisioning
	}
	w.defaults = f.in.defaultSpread(&w.opts)
	w.kinds = podclass.New(f.countPods(), w.defaults != nil)
	w.opts.NoBounds = true // nothing here asks how cheap it could be
	if w.opts.MaxSteps == 0 && len(f.nodes) > smallCluster {
		w.opts.MaxSteps = 1 // no polish: what a search loses by it, it finds in the next
	}
	w.in.NodePools = w.pools()
	w.in.InstanceTypes = f.withoutUnavailable()
	w.in.Nodes, w.in.Pods = nil, pending(f.in.Pods)
	w.in.Pods = append(w.in.Pods, w.addNodes(others)...)
	if f.in.CatalogCache.fits(w) {
		w.shared, w.market = f.in.CatalogCache, f.in.CatalogCache.compiled
	}
	return w, w.settlePending(ctx)
}

// countPods is how many pods are on the nodes, and copies of them that a search makes.
func (f *Cluster) countPods() int {
	n := 0
	for _, m := range f.nodes {
		n += len(m.Node.Pods)
	}
	return n + n/2
}

// estimate reads the simulation as it is now, in numbers. before, if not nil, is the
// estimate before of the same search.
func (w *simulation) estimate(before *estimate.Estimate) *estimate.Estimate {
	in := estimate.Input{Entries: w.in.Nodes, Pools: w.in.NodePools, Templates: map[string]requirements.Set{}, Launches: w.shared.launches(),
		DaemonSetPods: w.in.DaemonSetPods, Classes: w.kinds, Vocabulary: w.cluster.vocabulary, Free: w.freeKind}
	for _, pool := range w.in.NodePools {
		if set, ok := w.cluster.template(pool); ok {
			in.Templates[pool.Name] = set
		}
	}
	for _, m := range w.cluster.nodes {
		n := estimate.Node{Name: m.name, Entry: w.in.Nodes[w.at[m.name]], Pods: w.displaced[m.name], Gone: w.leaving[m.name], Cost: (oneEviction + m.cost).float()}
		if n.Price, _ = m.price(); m.managed() && m.pool != nil {
			n.Pool = m.poolName
		}
		in.Nodes = append(in.Nodes, n)
	}
	return estimate.New(in, before)
}

// freeKind is a pinned pod as it is where it may change its domain, else nil.
func (w *simulation) freeKind(p *corev1.Pod) *corev1.Pod {
	if r := w.movable[p]; r != nil && r.pinned == p && !r.of.left {
		return r.free
	}
	return nil
}

// smallCluster is up to how many nodes the engine takes all its time.
const smallCluster = 30

// pools are those that may launch nodes to save money.
func (w *simulation) pools() []*v1.NodePool {
	if w.cluster.opts.Consolidation.NoReplacements {
		return nil
	}
	var out []*v1.NodePool
	for _, name := range w.cluster.poolNames {
		out = append(out, w.cluster.pools[name].NodePool)
	}
	return out
}

func pending(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p == nil })
}

// addNodes adds the nodes, and returns the pods that are about to lose theirs.
func (w *simulation) addNodes(others []Action) []*corev1.Pod {
	gone, moves := map[string]bool{}, map[*corev1.Pod]Move{}
	for _, a := range others {
		for _, t := range a.Targets {
			gone[t.Node] = gone[t.Node] || a.Step != Reboot
		}
		for _, m := range a.Moves {
			moves[m.Pod] = m
		}
	}
	var homeless []*corev1.Pod
	var bound []Move
	for _, m := range w.cluster.nodes {
		w.at[m.name] = len(w.in.Nodes)
		if !m.marked() && !gone[m.name] {
			w.in.Nodes = append(w.in.Nodes, m.Node)
			w.displaced[m.name] = m.movable()
			continue
		}
		w.leaving[m.name] = true
		entry := leavingNode(m.Node)
		entry.Pods = m.staying()
		w.in.Nodes = append(w.in.Nodes, entry)
		for _, p := range m.movable() {
			switch move, known := moves[p]; {
			case !known:
				homeless = append(homeless, onNode(p, ""))
			case move.Node != "":
				bound = append(bound, move)
			}
		}
	}
	for _, m := range bound {
		w.bind(m.Node, m.Pod)
	}
	for _, a := range others {
		if len(a.Targets) > 0 {
			w.reserve(a.Targets[0].Node, a.Replacements)
			w.decided = append(w.decided, w.cluster.partOf(a))
		}
	}
	return homeless
}

// movable lists the pods that need another place when the node goes, less those
// that end anyhow.
func (m *stateNode) movable() []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range m.pods {
		if p.reschedulable && p.DeletionTimestamp.IsZero() {
			out = append(out, p.Pod)
		}
	}
	return out
}

// staying lists the other pods of the node.
func (m *stateNode) staying() []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range m.pods {
		if !p.reschedulable || !p.DeletionTimestamp.IsZero() {
			out = append(out, p.Pod)
		}
	}
	return out
}

// onNode is a pod as it is once it runs on a node, or on none. The copy is
// shallow: nothing below is written.
func onNode(p *corev1.Pod, node string) *corev1.Pod {
	moved := *p
	moved.Spec.NodeName = node
	return &moved
}

// bind puts a pod on a node.
func (w *simulation) bind(node string, p *corev1.Pod) {
	i, found := w.at[node]
	if !found || w.leaving[node] {
		return
	}
	w.in.Nodes[i].Pods = append(slices.Clone(w.in.Nodes[i].Pods), onNode(p, node))
	if w.promised[node] == "" {
		w.promised[node] = podObject(p)
	}
}

// keepSpare keeps spare room for a pod of a buffer on a node. It needs another
// place when the node goes, as any pod does, but does not keep the node from going.
func (w *simulation) keepSpare(node string, p *corev1.Pod) {
	if i, found := w.at[node]; found && !w.leaving[node] {
		w.in.Nodes[i].Pods = append(slices.Clone(w.in.Nodes[i].Pods), onNode(p, node))
		w.displaced[node] = append(slices.Clone(w.displaced[node]), p)
	}
}

// place is where a pod without a node finds one: on one that there is, or a new one.
type place struct {
	name string
	node *provisioning.NewNode
}

// settlePending gives pods that wait a place on nodes that exist, as kube-
// scheduler will. What needs new nodes is for provisioning, and is left out but
// where those nodes count for the limits of a pool.
func (w *simulation) settlePending(ctx context.Context) error {
	if len(w.in.Pods) == 0 && len(w.in.Buffers) == 0 {
		return nil
	}
	problem := w.market
	if problem != nil {
		problem, w.refused = problem.WithNodes(w.in.Nodes, w.in.Pods)
	} else {
		w.compile()
		problem = w.market
	}
	if w.refused != nil {
		return nil
	}
	plan, err := w.solve(ctx, problem, len(w.in.Pods))
	if err != nil {
		return err
	}
	w.settled = plan
	waiting := map[string]bool{}
	for _, p := range w.in.Pods {
		waiting[podObject(p)] = true
	}
	w.places = make(map[string]place, len(waiting))
	for i := range plan.Create {
		for _, p := range plan.Create[i].Pods {
			w.places[podObject(p)] = place{node: &plan.Create[i]}
		}
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if waiting[podObject(p)] {
				w.bind(b.Node, p)
				w.places[podObject(p)] = place{name: b.Node}
			} else {
				w.keepSpare(b.Node, p)
			}
		}
	}
	for i := range plan.Create { // what limits have left is less by those
		if n := &plan.Create[i]; len(n.Pool.Spec.Limits) > 0 {
			w.in.Nodes = append(w.in.Nodes, replacementNode(fmt.Sprintf("~pending~%d", i), n))
		}
	}
	if w.in.Pods = nil; len(w.in.Buffers) > 0 {
		w.in.Buffers, w.market, w.shared = nil, nil, nil
	}
	return nil
}

// compile prepares the engine for what-ifs: each of them reads only those nodes
// that are not as they are here.
func (w *simulation) compile() {
	if w.market == nil {
		w.market, w.refused = provisioning.Prepare(w.in, &w.opts)
	} else if w.refused == nil {
		w.market, w.refused = w.market.WithNodes(w.in.Nodes, w.in.Pods)
	}
	if w.shared == nil && w.refused == nil {
		w.shared = newCatalogCache(w)
	}
}

// solve asks the engine.
func (w *simulation) solve(ctx context.Context, p *provisioning.Problem, pods int) (*provisioning.Plan, error) {
	w.stats.Simulations++
	w.stats.Steps += 1 + pods
	progress.Report(ctx, progress.Event{Work: work, Stage: "what-ifs", Done: w.stats.Simulations, Unit: "asked"})
	plan, err := p.Solve(progress.With(ctx, nil))
	if err != nil {
		return nil, err
	}
	for i := range plan.Create {
		// The pool of a market that was passed on may be an older copy.
		n := &plan.Create[i]
		n.Pool = w.cluster.pools[n.Pool.Name].NodePool
	}
	return plan, nil
}

// closed names the nodes that take no pod that is moved to save money.
func (f *Cluster) closed(others []Action) []string {
	var out []string
	for _, s := range f.settling() {
		out = append(out, s.Node)
	}
	for _, a := range others {
		if a.Step == Reboot {
			for _, t := range a.Targets {
				out = append(out, t.Node)
			}
		}
	}
	for _, m := range f.nodes {
		if m.managed() && (!m.initialized() || m.rebooting()) {
			out = append(out, m.name)
		}
	}
	return out
}

// leavingNode is a node that is being deleted.
func leavingNode(n provisioning.Node) provisioning.Node {
	when := metav1.Unix(1, 0) // whenever: only that it is set matters
	if n.Node != nil {
		node := *n.Node
		node.DeletionTimestamp = &when
		n.Node = &node
	}
	if n.NodeClaim != nil {
		claim := *n.NodeClaim
		claim.DeletionTimestamp = &when
		n.NodeClaim = &claim
	}
	return n
}

// closedNode is a node without room for more pods.
func closedNode(n provisioning.Node) provisioning.Node {
	if n.Node != nil {
		node := *n.Node
		node.Status.Allocatable = noPods(node.Status.Allocatable)
		n.Node = &node
	}
	if n.NodeClaim != nil {
		claim := *n.NodeClaim
		claim.Status.Allocatable = noPods(claim.Status.Allocatable)
		n.NodeClaim = &claim
	}
	return n
}

func noPods(list corev1.ResourceList) corev1.ResourceList {
	out := list.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	out[corev1.ResourcePods] = *resource.NewQuantity(0, resource.DecimalSI)
	return out
}

// replacementNode is a node to come, as one that exists and takes nothing more.
func replacementNode(name string, n *provisioning.NewNode) provisioning.Node {
	option := n.Options[0]
	labels := option.NodeLabels()
	for key, value := range n.Labels { // by key: the order does not matter
		labels[key] = value
	}
	labels[corev1.LabelHostname] = name
	labels[v1.NodeRegisteredLabelKey], labels[v1.NodeInitializedLabelKey] = "true", "true"
	capacity := option.InstanceType.Capacity.ResourceList()
	room := noPods(capacity)
	taints := n.Pool.Spec.Template.Spec.Taints
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: room}}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: v1.NodeClaimSpec{Taints: taints},
		Status: v1.NodeClaimStatus{ProviderID: "replacement://" + name, Capacity: capacity, Allocatable: room}}
	out := provisioning.Node{Node: node, NodeClaim: claim}
	for _, p := range n.Pods {
		out.Pods = append(out.Pods, onNode(p, name))
	}
	return out
}

// candidateSet is some nodes that go together, as they share what replaces them, and
// what becomes of their pods.
type candidateSet struct {
	targets []*stateNode // by name
	nodes   []provisioning.NewNode
	moves   []Move
	spare   []Move // of spare room: pods of buffers, which no action names
	outcome outcome
	saving  float64
	tied    bool     // turned down for the sake of a topology spread or an affinity
	alone   bool     // the engine was asked about it by itself, with its pods free to go anywhere
	turn    int      // after which others of the same what-if its pods may land
	after   []string // nodes of actions that have to be done first
}

// try asks the engine what becomes of the pods of some nodes that are removed
// together, and parts the answer: nodes are in one part if pods of both go to
// one new node. The parts are in the order of their first nodes.
func (w *simulation) try(ctx context.Context, targets []*stateNode) ([]*candidateSet, error) {
	without, home, err := w.emptied(targets)
	if err != nil {
		w.refused = err
		return nil, nil
	}
	w.market = without // it knows the nodes that have changed since
	plan, err := w.solve(ctx, without, len(home))
	if err != nil {
		return nil, err
	}
	return w.parts(targets, plan, home), nil
}

// emptied is the cluster without some nodes: what to solve to find places for their
// pods, and the node of each of these. The error is that of the engine.
func (w *simulation) emptied(targets []*stateNode) (*provisioning.Problem, map[string]*stateNode, error) {
	nodes, pods := slices.Clone(w.in.Nodes), slices.Clone(w.in.Pods)
	home, free := map[string]*stateNode{}, w.moving(targets)
	for _, m := range targets {
		for _, p := range w.displaced[m.name] {
			home[podObject(p)] = m
		}
		n := &nodes[w.at[m.name]]
		for _, p := range n.Pods {
			if p != nil && home[podObject(p)] == m {
				if free[p] != nil {
					p = free[p]
				}
				pods = append(pods, onNode(p, ""))
			}
		}
		*n = leavingNode(*n)
	}
	for _, m := range w.cordoned {
		nodes[w.at[m.name]] = closedNode(nodes[w.at[m.name]])
	}
	without, err := w.market.WithNodes(nodes, pods)
	return without, home, err
}

func (w *simulation) parts(targets []*stateNode, plan *provisioning.Plan, home map[string]*stateNode) []*candidateSet {
	g := newJoints(targets)
	for i := range plan.Create {
		var first *stateNode
		for _, p := range plan.Create[i].Pods {
			m := home[podObject(p)]
			if first == nil {
				first = m
			}
			if m != nil {
				g.join(first, m)
			}
		}
	}
	byRoot := map[*stateNode]*candidateSet{}
	var out []*candidateSet
	for _, m := range targets {
		root := g.root(m)
		if byRoot[root] == nil {
			byRoot[root] = &candidateSet{}
			out = append(out, byRoot[root])
		}
		byRoot[root].targets = append(byRoot[root].targets, m)
	}
	of := func(m *stateNode) *candidateSet { return byRoot[g.root(m)] }
	for i := range plan.Create {
		n := &plan.Create[i]
		m := home[podObject(n.Pods[0])]
		if m == nil {
			continue // not for these nodes
		}
		pt := of(m)
		for _, p := range n.Pods {
			if from := home[podObject(p)]; from != nil {
				pt.moves = append(pt.moves, Move{Pod: p, From: from.name, Replacement: len(pt.nodes)})
			}
		}
		pt.nodes = append(pt.nodes, *n)
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if from := home[podObject(p)]; from != nil {
				pt := of(from)
				pt.moves = append(pt.moves, Move{Pod: p, From: from.name, Node: b.Node, Replacement: -1})
			}
		}
	}
	for _, u := range plan.Unplaced {
		if from := home[podObject(u.Pod)]; from != nil {
			if pt := of(from); !pt.outcome.bad() {
				pt.outcome = forbid(ruleUnplaced, "no other place for %s: %s", podObject(u.Pod), u.Reason)
				pt.outcome.object = podObject(u.Pod)
			}
		}
	}
	for _, pt := range out {
		pt.finish(w)
	}
	return out
}

// finish sorts a part, and puts the pods of the input in the place of copies.
func (pt *candidateSet) finish(w *simulation) {
	slices.SortFunc(pt.targets, func(a, b *stateNode) int { return strings.Compare(a.name, b.name) })
	original := map[string]*corev1.Pod{}
	for _, m := range pt.targets {
		for _, p := range m.pods {
			original[podObject(p.Pod)] = p.Pod
		}
	}
	kept := pt.moves[:0]
	for _, move := range pt.moves {
		if p := original[podObject(move.Pod)]; p != nil {
			move.Pod = p
			kept = append(kept, move)
		} else {
			pt.spare = append(pt.spare, move)
		}
	}
	pt.moves = kept
	slices.SortFunc(pt.moves, func(a, b Move) int { return comparePods(a.Pod, b.Pod) })
	sortReplacements(pt)
}

// sortReplacements puts the dearest first.
func sortReplacements(pt *candidateSet) {
	order := make([]int, len(pt.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pt.nodes[b].Price(), pt.nodes[a].Price()), strings.Compare(pt.nodes[a].Name, pt.nodes[b].Name))
	})
	nodes, place := make([]provisioning.NewNode, len(order)), make([]int, len(order))
	for to, from := range order {
		nodes[to], place[from] = pt.nodes[from], to
	}
	pt.nodes = nodes
	for i := range pt.moves {
		if r := pt.moves[i].Replacement; r >= 0 {
			pt.moves[i].Replacement = place[r]
		}
	}
}

// judge decides whether a part is worth doing to save money.
func (f *Cluster) judge(pt *candidateSet, totals map[string]poolTotals) {
	if pt.outcome.bad() {
		return
	}
	required := f.required(pt.targets, totals)
	nodes, v := priceRules(pt.targets, pt.nodes, required)
	if !v.bad() {
		nodes, v = f.spotRules(pt.targets, nodes)
	}
	if v.bad() {
		pt.outcome = v
		return
	}
	pt.nodes = nodes
	removed, cost := priceOf(pt.targets), totalPrice(nodes)
	pt.saving = removed - cost
	if pt.saving <= priceSlack || pt.saving < required-priceSlack {
		pt.outcome = notCheaper(pt.targets, nodes, removed, cost, required)
		return
	}
	pt.outcome = f.balanced(totals, pt.targets, pt.saving)
}

// needy names the first pod of a node that needs a new one, "" if none does.
func (pt *candidateSet) needy(m *stateNode) string {
	for _, move := range pt.moves { // by namespace and name
		if move.Node == "" && move.From == m.name {
			return podObject(move.Pod)
		}
	}
	return ""
}

// carryOut makes the simulation what it is once a part is done.
func (w *simulation) carryOut(pt *candidateSet) {
	w.decided = append(slices.Clip(w.decided), pt)
	for _, m := range pt.targets {
		i := w.at[m.name]
		entry := leavingNode(w.in.Nodes[i])
		entry.Pods = m.staying()
		w.in.Nodes[i] = entry
		w.leaving[m.name] = true
	}
	w.moved(pt)
	for _, move := range pt.moves {
		if move.Node != "" {
			w.bind(move.Node, move.Pod)
		}
	}
	for _, move := range pt.spare {
		if move.Node != "" {
			w.keepSpare(move.Node, move.Pod)
		}
	}
	for i := range pt.nodes {
		name := fmt.Sprintf("%s~%d", pt.targets[0].name, i)
		w.in.Nodes = append(w.in.Nodes, replacementNode(name, &pt.nodes[i]))
	}
}

// partOf is an action as a part, as far as its nodes go.
func (f *Cluster) partOf(a Action) *candidateSet {
	pt := &candidateSet{nodes: a.Replacements}
	for _, t := range a.Targets {
		if m := f.byName[t.Node]; m != nil && a.Step != Reboot {
			pt.targets = append(pt.targets, m)
		}
	}
	return pt
}

// action is a part as an action.
func (pt *candidateSet) action(r Reason) Action {
	a := Action{Reason: r, Step: Replace, Detail: pt.detail(), Simulated: true, Replacements: pt.nodes, Moves: pt.moves, After: pt.after,
		Savings: priceOf(pt.targets) - totalPrice(pt.nodes)}
	units := evictionUnits(0)
	for _, m := range pt.targets {
		a.Targets = append(a.Targets, m.target())
		units += oneEviction + m.cost
	}
	slices.SortFunc(a.Targets, func(x, y Target) int { return strings.Compare(x.String(), y.String()) })
	a.DisruptionCost = units.float()
	return a
}

// detail says in one line what becomes of the pods of a part, and what that saves.
func (pt *candidateSet) detail() string {
	subject, object := "they cost", "them"
	if len(pt.targets) == 1 {
		subject, object = "it costs", "it"
	}
	d := pt.destinations()
	text := fmt.Sprintf("%s %s", subject, usd(priceOf(pt.targets)))
	if len(pt.nodes) > 0 {
		text += fmt.Sprintf(", and what replaces %s %s: %s", object, usd(d.price()), d.launches())
	}
	if d.other > 0 {
		text += "; " + d.room()
	}
	return text
}

// joints groups nodes.
type joints map[*stateNode]*stateNode

func newJoints(targets []*stateNode) joints {
	g := joints{}
	for _, m := range targets {
		g[m] = m
	}
	return g
}

func (g joints) root(m *stateNode) *stateNode {
	for g[m] != m {
		m = g[m]
	}
	return m
}

func (g joints) join(a, b *stateNode) {
	if a == nil || b == nil {
		return
	}
	if x, y := g.root(a), g.root(b); x != y {
		if y.name < x.name {
			x, y = y, x
		}
		g[y] = x
	}
}

// partOf is an action that is decided already, with what it does to pods. Where it
// leaves these to the next plan, that is taken to do what it would do now.
func (w *simulation) partOf(a *Action) *candidateSet {
	if a.Simulated || a.Step == Reboot {
		return &candidateSet{moves: a.Moves, nodes: a.Replacements}
	}
	pt := &candidateSet{}
	for _, t := range a.Targets {
		m := w.cluster.byName[t.Node]
		if m == nil {
			continue
		}
		for _, p := range m.movable() {
			move := Move{Pod: p, From: m.name, Replacement: -1}
			if w.places[podObject(p)].node != nil {
				move.Replacement = len(pt.nodes)
				pt.nodes = append(pt.nodes, *w.places[podObject(p)].node)
			}
			move.Node = w.places[podObject(p)].name
			pt.moves = append(pt.moves, move)
		}
	}
	return pt
}
