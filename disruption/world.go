package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// world is the cluster as the engine is asked about it: nothing is pending, what
// is on its way out is gone, and nodes that are not to take pods have no room.
type world struct {
	f    *Fleet
	opts provisioning.Options
	in   provisioning.Input
	at   map[string]int // place in in.Nodes, by node

	market  *provisioning.Problem // in as it was compiled: nothing but nodes and pods has changed since
	shared  *Market               // the same for others
	refused error                 // why in cannot be compiled

	displaced map[string][]*corev1.Pod // by node: the pods that need a place when it goes
	promised  map[string]string        // by node: a pod that was placed there
	settled   *provisioning.Plan       // for the pods without a node, nil if there was none
	places    map[string]place         // by pod: where settled has it
	leaving   map[string]bool
	decided   []*part   // what is under way: the actions of others, and what this search has found
	shut      []*member // take no pods in what-ifs
	kinds     *podKinds
	defaults  *podterm.Defaults       // topology spreads of pods without any
	roamers   map[*corev1.Pod]*roamer // those that may change their domain, by pod, as it is and pinned
	balance   *balance                // of topology spreads; nil where nothing is pinned
	stats     SearchStats
}

// newWorld reads the fleet as it will be once some actions are under way. The
// error is that of ctx.
func newWorld(ctx context.Context, f *Fleet, others []Action) (*world, error) {
	w, err := newSettled(ctx, f, others)
	if err != nil || w.refused != nil {
		return w, err
	}
	if f.pinSpread {
		w.pinSpread()
		w.balance.begin(others)
	}
	for _, name := range f.closed(others) {
		if i, found := w.at[name]; found && !w.leaving[name] {
			w.in.Nodes[i] = closedNode(w.in.Nodes[i])
		}
	}
	w.compile()
	return w, nil
}

// newSettled is newWorld as far as the pods that wait have a place: it says what is
// promised, and answers no what-if. The error is that of ctx.
func newSettled(ctx context.Context, f *Fleet, others []Action) (*world, error) {
	w := &world{f: f, in: f.in.Input, at: map[string]int{}, displaced: map[string][]*corev1.Pod{},
		promised: map[string]string{}, leaving: map[string]bool{}, kinds: newPodKinds(f.countPods())}
	if f.opts.Provisioning != nil {
		w.opts = *f.opts.Provisioning
	}
	w.defaults = f.in.defaultSpread(&w.opts)
	w.kinds.key.defaults = w.defaults != nil
	w.opts.NoBounds = true // nothing here asks how cheap it could be
	if w.opts.MaxSteps == 0 && len(f.members) > smallFleet {
		w.opts.MaxSteps = 1 // no polish: what a search loses by it, it finds in the next
	}
	w.in.NodePools = w.pools()
	w.in.InstanceTypes = f.withoutShortages()
	w.in.Nodes, w.in.Pods = nil, pending(f.in.Pods)
	w.in.Pods = append(w.in.Pods, w.addNodes(others)...)
	if f.in.Market.fits(w) {
		w.shared, w.market = f.in.Market, f.in.Market.compiled
	}
	return w, w.settlePending(ctx)
}

// countPods is how many pods are on the nodes, and copies of them that a search makes.
func (f *Fleet) countPods() int {
	n := 0
	for _, m := range f.members {
		n += len(m.Node.Pods)
	}
	return n + n/2
}

// smallFleet is up to how many nodes the engine takes all its time.
const smallFleet = 30

// pools are those that may launch nodes to save money.
func (w *world) pools() []*v1.NodePool {
	if w.f.opts.NoReplacements {
		return nil
	}
	var out []*v1.NodePool
	for _, name := range w.f.poolNames {
		out = append(out, w.f.pools[name].NodePool)
	}
	return out
}

func pending(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p == nil })
}

// addNodes adds the nodes, and returns the pods that are about to lose theirs.
func (w *world) addNodes(others []Action) []*corev1.Pod {
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
	for _, m := range w.f.members {
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
			w.decided = append(w.decided, w.f.partOf(a))
		}
	}
	return homeless
}

// movable lists the pods that need another place when the node goes, less those
// that end anyhow.
func (m *member) movable() []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range m.pods {
		if p.reschedulable && p.DeletionTimestamp.IsZero() {
			out = append(out, p.Pod)
		}
	}
	return out
}

// staying lists the other pods of the node.
func (m *member) staying() []*corev1.Pod {
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
func (w *world) bind(node string, p *corev1.Pod) {
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
func (w *world) keepSpare(node string, p *corev1.Pod) {
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
func (w *world) settlePending(ctx context.Context) error {
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
func (w *world) compile() {
	if w.market == nil {
		w.market, w.refused = provisioning.Prepare(w.in, &w.opts)
	} else if w.refused == nil {
		w.market, w.refused = w.market.WithNodes(w.in.Nodes, w.in.Pods)
	}
	if w.shared == nil && w.refused == nil {
		w.shared = newMarket(w)
	}
}

// solve asks the engine.
func (w *world) solve(ctx context.Context, p *provisioning.Problem, pods int) (*provisioning.Plan, error) {
	w.stats.Simulations++
	w.stats.Steps += 1 + pods
	return p.Solve(ctx)
}

// closed names the nodes that take no pod that is moved to save money.
func (f *Fleet) closed(others []Action) []string {
	var out []string
	for _, s := range f.Settling() {
		out = append(out, s.Node)
	}
	for _, a := range others {
		if a.Step == Reboot {
			for _, t := range a.Targets {
				out = append(out, t.Node)
			}
		}
	}
	for _, m := range f.members {
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
