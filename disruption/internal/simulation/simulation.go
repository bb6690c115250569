package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Simulation is the cluster as the engine is asked about it: nothing is pending, what
// is on its way out is gone, and nodes that are not to take pods have no room.
type Simulation struct {
	Cluster *state.Cluster
	config  Config
	Opts    provisioning.Options
	In      provisioning.Input
	At      map[string]int // place in in.Nodes, by node

	Market  *provisioning.Problem // in as it was compiled: nothing but nodes and pods has changed since
	Shared  *Market               // the same for others
	Refused error                 // why in cannot be compiled

	Displaced map[string][]*corev1.Pod       // by node: the pods that need a place when it goes
	Promised  map[string]string              // by node: a pod that was placed there
	Settled   *provisioning.Plan             // for the pods without a node, nil if there was none
	places    map[types.NamespacedName]place // by pod: where settled has it
	Leaving   map[string]bool
	departing map[string]state.Departure   // by node that leaves
	decided   []*CandidateSet              // what is under way: the actions of others, and what this search has found
	Cordoned  []*state.StateNode           // take no pods in what-ifs
	closed    map[string]provisioning.Node // those that Close has closed, as they were
	Kinds     *podclass.Classes
	Defaults  *podterm.Defaults           // topology spreads of pods without any
	movable   map[*corev1.Pod]*movablePod // those that may change their domain, by pod, as it is and pinned
	Landing   *Landing                    // of the pods that actions move; nil where nothing is pinned
	Stats     Stats
}

// Work is whose progress is reported.
const Work = "disruption.Propose"

// Config says what a simulation is to keep to.
type Config struct {
	// Provisioning are the options of the engine; nil means its defaults.
	Provisioning *provisioning.Options
	// Pin has pods stay in the domains that they are spread over.
	Pin bool
	// Market is what an earlier simulation was compiled from, nil if there was none.
	Market *Market
	// Receivers are nodes that take pods although they settle, by name.
	Receivers map[string]bool
}

// Decision is an action that leaves its pods to the next plan: its nodes go, or are
// rebooted.
type Decision struct {
	Name    string   // of its first target
	Nodes   []string // its targets; a machine without a node is empty
	Reboots bool
	By      time.Time // when their drain has ended at the latest, in addition to what their NodeClaims say; zero is no limit
}

// Move is a pod that finds another place: on a node, or on the replacement of that
// index.
type Move struct {
	Pod         *corev1.Pod
	From        string
	Node        string // empty if it is yet to be launched
	Replacement int    // -1 if it goes to Node
}

// Stats says how much work was done.
type Stats struct {
	Steps, WhatIfs, Simulations int
}

// New reads the cluster as it will be once what was decided is under way, and gives the
// pods that wait, and those that lose their node by it, their places: none on nodes that may
// be about to go. The error is that of ctx.
func New(ctx context.Context, f *state.Cluster, config Config, begun []Decision, going []string) (*Simulation, error) {
	w := &Simulation{Cluster: f, config: config, In: f.In.Input, At: map[string]int{}, Displaced: map[string][]*corev1.Pod{},
		Promised: map[string]string{}, Leaving: map[string]bool{}, departing: map[string]state.Departure{}, closed: map[string]provisioning.Node{}}
	if config.Provisioning != nil {
		w.Opts = *config.Provisioning
	}
	w.Defaults = defaultSpread(&f.In.Input, &w.Opts)
	w.Kinds = podclass.New(f.CountPods(), w.Defaults != nil)
	w.Opts.NoBounds = true // nothing here asks how cheap it could be
	if w.Opts.MaxSteps == 0 && len(f.Nodes) > smallCluster {
		w.Opts.MaxSteps = 1 // no polish: what a search loses by it, it finds in the next
	}
	w.In.NodePools = w.pools()
	w.In.InstanceTypes = f.WithoutUnavailable()
	w.In.Nodes, w.In.Pods = nil, pending(f.In.Pods)
	w.In.Pods = append(w.In.Pods, w.addNodes(begun)...)
	if config.Market.fits(w) {
		w.Shared, w.Market = config.Market, config.Market.compiled
	}
	for _, name := range going {
		w.Close(name)
	}
	if err := w.settlePending(ctx); err != nil || w.Refused != nil {
		return w, err
	}
	for _, name := range going {
		w.Open(name)
	}
	if config.Pin {
		w.pinSpread()
		w.Landing.begin(begun)
	}
	for _, name := range ClosedNodes(f, begun, config.Receivers) {
		if i, found := w.At[name]; found && !w.Leaving[name] {
			w.In.Nodes[i] = closedNode(w.In.Nodes[i])
		}
	}
	w.Compile()
	return w, nil
}

// Begin has an action begin that leaves its pods to the next plan. Where these will go is
// not known, unless it was decided before the simulation was made: then nothing changes.
func (w *Simulation) Begin(d Decision) {
	cs := &CandidateSet{}
	for _, name := range d.Nodes {
		i, found := w.At[name]
		switch {
		case !found || w.Leaving[name]:
		case d.Reboots:
			w.In.Nodes[i] = closedNode(w.In.Nodes[i])
			delete(w.closed, name)
		default:
			m := w.Cluster.ByName[name]
			cs.Targets = append(cs.Targets, m)
			for _, p := range w.departs(m, d.By).Displaced {
				cs.Moves = append(cs.Moves, Move{Pod: p, From: name, Replacement: -1})
			}
		}
	}
	if len(cs.Targets) == 0 {
		return
	}
	if w.Landing != nil {
		w.Landing.Takes(cs)
	}
	w.CarryOut(cs)
	for _, m := range cs.Targets {
		w.In.Nodes[w.At[m.Name]].Pods = w.departing[m.Name].Staying
	}
}

// departs notes what becomes of the pods of a node that leaves without a replacement.
func (w *Simulation) departs(m *state.StateNode, by time.Time) state.Departure {
	w.departing[m.Name] = w.Cluster.Departs(m, by)
	return w.departing[m.Name]
}

// StopLaunching keeps the engine from launching nodes from now on.
func (w *Simulation) StopLaunching() {
	w.In.NodePools, w.In.InstanceTypes, w.Market, w.Shared = nil, nil, nil, nil
	if w.Refused == nil {
		w.Compile()
	}
}

// Close keeps pods from a node that may be about to go, until it is opened again.
func (w *Simulation) Close(node string) {
	if i, found := w.At[node]; found && !w.Leaving[node] {
		if _, closed := w.closed[node]; !closed {
			w.closed[node] = w.In.Nodes[i]
			w.In.Nodes[i] = closedNode(w.In.Nodes[i])
		}
	}
}

// Open takes Close back, unless the node goes by now.
func (w *Simulation) Open(node string) {
	if before, closed := w.closed[node]; closed && !w.Leaving[node] {
		w.In.Nodes[w.At[node]] = before
	}
	delete(w.closed, node)
}

// Estimate reads the simulation as it is now, in numbers. before, if not nil, is the
// estimate before of the same search.
func (w *Simulation) Estimate(before *estimate.Estimate) *estimate.Estimate {
	in := estimate.Input{Entries: w.In.Nodes, Pools: w.In.NodePools, Templates: map[string]requirements.Set{}, Launches: w.Shared.launches(),
		DaemonSetPods: w.In.DaemonSetPods, Classes: w.Kinds, Vocabulary: w.Cluster.Vocabulary, Free: w.freeKind}
	for _, pool := range w.In.NodePools {
		if set, ok := w.Cluster.Template(pool); ok {
			in.Templates[pool.Name] = set
		}
	}
	for _, m := range w.Cluster.Nodes {
		n := estimate.Node{Name: m.Name, Entry: w.In.Nodes[w.At[m.Name]], Pods: w.Displaced[m.Name], Gone: w.Leaving[m.Name], Cost: state.DisruptionCost(m)}
		if n.Price, _ = m.Price(); m.Managed() && m.Pool != nil {
			n.Pool = m.PoolName
		}
		in.Nodes = append(in.Nodes, n)
	}
	return estimate.New(in, before)
}

// freeKind is a pinned pod as it is where it may change its domain, else nil.
func (w *Simulation) freeKind(p *corev1.Pod) *corev1.Pod {
	if r := w.movable[p]; r != nil && r.pinned == p && !r.of.left {
		return r.free
	}
	return nil
}

// smallCluster is up to how many nodes the engine takes all its time.
const smallCluster = 30

// pools are those that may launch nodes. Static pools are short of none here, because no pod may
// be moved to a node that no NodeClaim asks for yet.
func (w *Simulation) pools() []*v1.NodePool {
	var out []*v1.NodePool
	for _, name := range w.Cluster.PoolNames {
		pool := w.Cluster.Pools[name].NodePool
		if w.Cluster.Pools[name].Static() {
			full := *pool
			full.Spec.Replicas = new(int64)
			pool = &full
		}
		out = append(out, pool)
	}
	return out
}

func pending(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p == nil })
}

// addNodes adds the nodes, and returns the pods that are about to lose theirs.
func (w *Simulation) addNodes(begun []Decision) []*corev1.Pod {
	gone, by := map[string]bool{}, map[string]time.Time{}
	for _, a := range begun {
		for _, name := range a.Nodes {
			gone[name], by[name] = gone[name] || !a.Reboots, a.By
		}
	}
	var homeless []*corev1.Pod
	for _, m := range w.Cluster.Nodes {
		w.At[m.Name] = len(w.In.Nodes)
		if !m.Marked() && !gone[m.Name] {
			w.In.Nodes = append(w.In.Nodes, m.Node)
			w.Displaced[m.Name] = m.Movable()
			continue
		}
		w.Leaving[m.Name] = true
		entry, d := m.Node.Leaving(), w.departs(m, by[m.Name])
		entry.Pods = d.Staying
		w.In.Nodes = append(w.In.Nodes, entry)
		for _, p := range d.Displaced {
			homeless = append(homeless, podlife.Moved(p, ""))
		}
	}
	for i := range begun {
		w.decided = append(w.decided, &CandidateSet{Targets: w.targetsOf(&begun[i])})
	}
	return homeless
}

// bind puts a pod on a node.
func (w *Simulation) bind(node string, p *corev1.Pod) {
	i, found := w.At[node]
	if !found || w.Leaving[node] {
		return
	}
	w.In.Nodes[i].Pods = append(slices.Clone(w.In.Nodes[i].Pods), podlife.Moved(p, node))
	if w.Promised[node] == "" {
		w.Promised[node] = state.PodObject(p)
	}
}

// keepSpare keeps spare room for a pod of a buffer on a node. It needs another
// place when the node goes, as any pod does, but does not keep the node from going.
func (w *Simulation) keepSpare(node string, p *corev1.Pod) {
	if i, found := w.At[node]; found && !w.Leaving[node] {
		w.In.Nodes[i].Pods = append(slices.Clone(w.In.Nodes[i].Pods), podlife.Moved(p, node))
		w.Displaced[node] = append(slices.Clone(w.Displaced[node]), p)
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
func (w *Simulation) settlePending(ctx context.Context) error {
	if len(w.In.Pods) == 0 && len(w.In.Buffers) == 0 {
		return nil
	}
	problem := w.Market
	if problem != nil {
		problem, w.Refused = problem.WithNodes(w.In.Nodes, w.In.Pods)
	} else {
		w.Compile()
		problem = w.Market
	}
	if w.Refused != nil {
		return nil
	}
	plan, err := w.Solve(ctx, problem, len(w.In.Pods))
	if err != nil {
		return err
	}
	w.Settled = plan
	waiting := map[types.NamespacedName]bool{}
	for _, p := range w.In.Pods {
		waiting[state.NameOf(p)] = true
	}
	w.places = make(map[types.NamespacedName]place, len(waiting))
	for i := range plan.Create {
		for _, p := range plan.Create[i].Pods {
			w.places[state.NameOf(p)] = place{node: &plan.Create[i]}
		}
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if waiting[state.NameOf(p)] {
				w.bind(b.Node, p)
				w.places[state.NameOf(p)] = place{name: b.Node}
			} else {
				w.keepSpare(b.Node, p)
			}
		}
	}
	for i := range plan.Create { // what limits have left is less by those
		if n := &plan.Create[i]; len(n.Pool.Spec.Limits) > 0 {
			w.In.Nodes = append(w.In.Nodes, replacementNode(fmt.Sprintf("~pending~%d", i), n))
		}
	}
	if w.In.Pods = nil; len(w.In.Buffers) > 0 {
		w.In.Buffers, w.Market, w.Shared = nil, nil, nil
	}
	return nil
}

// Compile prepares the engine for what-ifs: each of them reads only those nodes
// that are not as they are here.
func (w *Simulation) Compile() {
	if w.Market == nil {
		w.Market, w.Refused = provisioning.Prepare(w.In, &w.Opts)
	} else if w.Refused == nil {
		w.Market, w.Refused = w.Market.WithNodes(w.In.Nodes, w.In.Pods)
	}
	if w.Shared == nil && w.Refused == nil {
		w.Shared = newMarket(w)
	}
}

// Solve asks the engine.
func (w *Simulation) Solve(ctx context.Context, p *provisioning.Problem, pods int) (*provisioning.Plan, error) {
	w.Stats.Simulations++
	w.Stats.Steps += 1 + pods
	progress.Report(ctx, progress.Event{Work: Work, Stage: "what-ifs", Done: w.Stats.Simulations, Unit: "asked"})
	plan, err := p.Solve(progress.With(ctx, nil))
	if err != nil {
		return nil, err
	}
	for i := range plan.Create {
		// The pool of a market that was passed on may be an older copy.
		n := &plan.Create[i]
		n.Pool = w.Cluster.Pools[n.Pool.Name].NodePool
	}
	return plan, nil
}

// ClosedNodes names the nodes that take no pod that is moved to save money. Receivers do
// although they settle.
func ClosedNodes(f *state.Cluster, others []Decision, receivers map[string]bool) []string {
	var out []string
	for _, s := range f.Settling() {
		if !receivers[s.Node] {
			out = append(out, s.Node)
		}
	}
	for _, a := range others {
		if a.Reboots {
			out = append(out, a.Nodes...)
		}
	}
	for _, m := range f.Nodes {
		if m.Managed() && (!m.Initialized() || m.Rebooting()) {
			out = append(out, m.Name)
		}
	}
	return out
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
	maps.Copy(labels, n.Labels)
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
		out.Pods = append(out.Pods, podlife.Moved(p, name))
	}
	return out
}

// CarryOut makes the simulation what it is once a set is done.
func (w *Simulation) CarryOut(cs *CandidateSet) {
	w.decided = append(slices.Clip(w.decided), cs)
	for _, m := range cs.Targets {
		i := w.At[m.Name]
		entry := w.In.Nodes[i].Leaving()
		entry.Pods = m.Staying()
		w.In.Nodes[i] = entry
		w.Leaving[m.Name] = true
	}
	w.moved(cs)
	for _, move := range cs.Moves {
		if move.Node != "" {
			w.bind(move.Node, move.Pod)
		}
	}
	for _, move := range cs.spare {
		if move.Node != "" {
			w.keepSpare(move.Node, move.Pod)
		}
	}
	for i := range cs.Nodes {
		name := fmt.Sprintf("%s~%d", cs.Targets[0].Name, i)
		w.In.Nodes = append(w.In.Nodes, replacementNode(name, &cs.Nodes[i]))
	}
}

// targetsOf are the nodes of a decision that go.
func (w *Simulation) targetsOf(d *Decision) []*state.StateNode {
	var out []*state.StateNode
	for _, name := range d.Nodes {
		if m := w.Cluster.ByName[name]; m != nil && !d.Reboots {
			out = append(out, m)
		}
	}
	return out
}

// setOf is a decision with what the next plan would do now to its pods.
func (w *Simulation) setOf(d *Decision) *CandidateSet {
	cs := &CandidateSet{}
	for _, m := range w.targetsOf(d) {
		for _, p := range w.departing[m.Name].Displaced {
			move := Move{Pod: p, From: m.Name, Replacement: -1}
			if w.places[state.NameOf(p)].node != nil {
				move.Replacement = len(cs.Nodes)
				cs.Nodes = append(cs.Nodes, *w.places[state.NameOf(p)].node)
			}
			move.Node = w.places[state.NameOf(p)].name
			cs.Moves = append(cs.Moves, move)
		}
	}
	return cs
}

// namespaces are those that affinity terms may be about.
func (w *Simulation) namespaces() *podterm.Namespaces {
	return &podterm.Namespaces{Declared: w.In.Namespaces, Pods: func(yield func(*corev1.Pod) bool) {
		for _, p := range w.Cluster.In.Pods { // also those that have found a place, or none
			if !yield(p) {
				return
			}
		}
		for _, m := range w.Cluster.Nodes {
			for _, p := range m.Node.Pods {
				if !yield(p) {
					return
				}
			}
		}
	}}
}

// kubernetes is in which versions of Kubernetes places have to be valid.
func (w *Simulation) kubernetes() minors.Range {
	kubernetes, _ := minors.Parse(w.Opts.Kubernetes) // the engine reports the fault
	return kubernetes
}

// defaultSpread are the topology spreads of pods that have none of their own, nil if
// there are none.
func defaultSpread(in *provisioning.Input, opts *provisioning.Options) *podterm.Defaults {
	if len(opts.DefaultSpread) == 0 {
		return nil
	}
	controllers := map[types.UID]*metav1.LabelSelector{}
	for _, c := range in.Controllers {
		controllers[c.UID] = c.Selector
	}
	return podterm.NewDefaults(opts.DefaultSpread, in.Services, controllers)
}
