package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
	"github.com/dovetail-sdk/dovetail/internal/parallel"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Simulation is the input of the engine for what-ifs: no pods are pending, nodes on their way out
// are gone, and nodes that may not take pods have no room.
type Simulation struct {
	Cluster *state.Cluster
	Opts    provisioning.Options
	In      provisioning.Input
	At      map[string]int // index in In.Nodes, by name

	Problem  *provisioning.Problem // In, compiled: only nodes and pods have changed since
	Compiled *Compiled             // In as it was compiled first
	Refused  error                 // why In cannot be compiled

	Displaced map[string][]*corev1.Pod       // by node name: the pods that need a place when it is removed
	Promised  map[string]string              // by node name: a pod that was placed there
	Settled   *provisioning.Plan             // of the pods without a node; nil if there were none
	places    map[types.NamespacedName]place // by pod: its place in the plan above
	Leaving   map[string]bool
	departing map[string]state.Departure   // by name of a node that leaves
	decided   []*CandidateSet              // sets being carried out: earlier decisions, and what this search has found
	cordoned  []*state.StateNode           // nodes that take no pods in what-ifs
	closed    map[string]provisioning.Node // the original entries of nodes closed by Close
	moves     *engine.State                // the pods as the engine moves them one by one; nil until it is needed
	kinds     *estimate.Kinds              // of those pods
	pins      map[*corev1.Pod]*pin         // of pods that keep to some domains
	BindOrder *BindOrder                   // checks the order of moves; nil if no pods are pinned, or the input is refused
	Stats     Stats
	copies    *copies // of objects, for what-ifs
	Width     int     // how many what-ifs are answered at a time
	ahead     *ahead  // what-ifs that are likely to be asked next, and are being answered
}

// Work is the name under which progress is reported.
const Work = "disruption.Propose"

// Config has the settings of a simulation.
type Config struct {
	// Provisioning are the options of the engine; nil is its defaults.
	Provisioning *provisioning.Options
	// Pin pins pods to the domains of their required constraints.
	Pin bool
	// Before has the input that an earlier simulation compiled; nil if there was none.
	Before *Compiled
	// Receivers are the names of settling nodes that take pods all the same.
	Receivers map[string]bool
}

// Width returns how many what-ifs are answered at a time.
func (c *Config) Width() int {
	if c.Provisioning == nil {
		return parallel.Width(0)
	}
	return parallel.Width(c.Provisioning.Parallel)
}

// Decision is an action that leaves its pods to the next plan. Its nodes are removed or rebooted.
type Decision struct {
	Name    string   // name of its first target
	Nodes   []string // names of its targets; a machine without a Node is empty
	Reboots bool
	By      time.Time // the latest end of the drain, in addition to limits in the NodeClaims; zero is no limit
}

// Move is a pod with its new place: a node, or a replacement by index.
type Move struct {
	Pod         *corev1.Pod
	From        string
	Node        string // empty if the node is yet to be launched
	Replacement int    // index of the replacement; -1 if the pod goes to Node
}

// Stats counts the work done.
type Stats struct {
	Steps, WhatIfs, Simulations int
}

// New reads the cluster in the state after the earlier decisions have begun. It gives places to
// pending pods, and to pods that lose their node by these decisions, but none on nodes that may be
// about to go. The error is that of ctx.
func New(ctx context.Context, f *state.Cluster, config Config, begun []Decision, going []string) (*Simulation, error) {
	w := withCatalog(f, config)
	w.In.Pods = pending(f.In.Pods)
	w.In.Pods = append(w.In.Pods, w.addNodes(begun)...)
	for _, name := range going {
		w.Close(name)
	}
	if err := w.settlePending(ctx); err != nil || w.Refused != nil {
		return w, err
	}
	w.In.Pods, w.In.Buffers, w.In.Nominated = nil, nil, nil
	for _, name := range going {
		w.Open(name)
	}
	if config.Pin {
		if w.readState(); w.Refused != nil {
			return w, nil
		}
		w.BindOrder = &BindOrder{State: w.moves, w: w}
		w.pin()
		w.BindOrder.begin(begun)
	}
	// These nodes take no pod that is moved to save money.
	for _, m := range f.Nodes {
		_, settles := f.Settles(m)
		rebooted := slices.ContainsFunc(begun, func(d Decision) bool { return d.Reboots && slices.Contains(d.Nodes, m.Name) })
		if !w.Leaving[m.Name] && (m.Closed() || rebooted || settles && !config.Receivers[m.Name]) {
			w.In.Nodes[w.At[m.Name]] = ClosedNode(w.In.Nodes[w.At[m.Name]])
		}
	}
	w.Compile()
	return w, nil
}

// withCatalog returns a simulation without nodes and pods.
func withCatalog(f *state.Cluster, config Config) *Simulation {
	w := &Simulation{Cluster: f, In: f.In.Input, At: map[string]int{}, Displaced: map[string][]*corev1.Pod{},
		Promised: map[string]string{}, Leaving: map[string]bool{}, departing: map[string]state.Departure{}, closed: map[string]provisioning.Node{}, copies: &copies{gone: map[nodeObjects]nodeObjects{}, shut: map[nodeObjects]nodeObjects{}}, ahead: &ahead{}}
	if config.Provisioning != nil {
		w.Opts = *config.Provisioning
	}
	w.Width = config.Width()
	w.Opts.Parallel = 1    // within a what-if
	w.Opts.NoBounds = true // lower bounds are not needed here
	if w.Opts.MaxSteps == 0 && len(f.Nodes) > smallCluster {
		w.Opts.MaxSteps = 1 // no improvement steps: what this search misses, the next finds
	}
	w.In.NodePools = w.pools()
	w.In.InstanceTypes = f.WithoutUnavailable()
	w.In.Nodes, w.In.Pods = nil, nil
	w.Problem = config.Before.problemWith(w.Opts)
	return w
}

// Begin carries out an action that leaves its pods to the next plan. Their new places are unknown.
// If the action was decided before the simulation was made, nothing changes.
func (w *Simulation) Begin(d Decision) {
	w.Forget()
	cs := &CandidateSet{}
	for _, name := range d.Nodes {
		i, found := w.At[name]
		switch {
		case !found || w.Leaving[name]:
		case d.Reboots:
			w.In.Nodes[i] = ClosedNode(w.In.Nodes[i])
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
	if w.BindOrder != nil {
		w.BindOrder.Takes(cs)
	}
	w.CarryOut(cs)
	for _, m := range cs.Targets {
		w.In.Nodes[w.At[m.Name]].Pods = w.departing[m.Name].Staying
	}
}

// departs records the departure of a node that is removed without a replacement, and returns it.
func (w *Simulation) departs(m *state.StateNode, by time.Time) state.Departure {
	w.departing[m.Name] = w.Cluster.Departs(m, by)
	return w.departing[m.Name]
}

// StopLaunching makes the engine launch no more nodes.
func (w *Simulation) StopLaunching() {
	w.In.NodePools, w.In.InstanceTypes = nil, nil
	w.Compile()
}

// Cordon keeps the nodes from taking pods in what-ifs, until it is called again.
func (w *Simulation) Cordon(nodes []*state.StateNode) {
	w.Forget()
	w.cordoned = nodes
}

// Close keeps pods off a node that may be about to go, until Open is called.
func (w *Simulation) Close(node string) {
	w.Forget()
	if i, found := w.At[node]; found && !w.Leaving[node] {
		if _, closed := w.closed[node]; !closed {
			w.closed[node] = w.In.Nodes[i]
			w.In.Nodes[i] = ClosedNode(w.In.Nodes[i])
		}
	}
}

// Open undoes Close, unless the node has been removed meanwhile.
func (w *Simulation) Open(node string) {
	w.Forget()
	if before, closed := w.closed[node]; closed && !w.Leaving[node] {
		w.In.Nodes[w.At[node]] = before
	}
	delete(w.closed, node)
}

// Estimate returns an estimate of the current state. before, if not nil, is an earlier estimate of
// the same search. It returns nil if the engine refuses the input.
func (w *Simulation) Estimate(before *estimate.Estimate) *estimate.Estimate {
	if w.readState(); w.moves == nil {
		return nil
	}
	in := estimate.Input{State: w.moves, Launches: len(w.In.NodePools) > 0, Kinds: w.kinds}
	for _, m := range w.Cluster.Nodes {
		n := estimate.Node{Name: m.Name, Entry: w.In.Nodes[w.At[m.Name]], Pods: w.Displaced[m.Name], Gone: w.Leaving[m.Name], Cost: state.DisruptionCost(m)}
		if n.Price, _ = m.Price(); m.Managed() && m.Pool != nil {
			n.Pool = m.PoolName
		}
		in.Nodes = append(in.Nodes, n)
	}
	return estimate.New(in, before)
}

// smallCluster is the number of nodes up to which the engine's steps are not limited.
const smallCluster = 30

// pools returns the pools that may launch nodes. Static pools have zero replicas here, because no
// pod may be moved to a node for which no NodeClaim exists.
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
	var displaced []*corev1.Pod
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
			displaced = append(displaced, podlife.Moved(p, ""))
		}
	}
	for i := range begun {
		w.decided = append(w.decided, &CandidateSet{Targets: w.targetsOf(&begun[i])})
	}
	return displaced
}

// bind binds a pod to a node, and promises it the place.
func (w *Simulation) bind(node string, p *corev1.Pod) {
	if w.put(node, p) && w.Promised[node] == "" {
		w.Promised[node] = state.PodObject(p)
	}
}

// put adds a pod to a node, and reports false if the node is not there or leaves.
func (w *Simulation) put(node string, p *corev1.Pod) bool {
	i, found := w.At[node]
	if !found || w.Leaving[node] {
		return false
	}
	w.In.Nodes[i].Pods = append(slices.Clone(w.In.Nodes[i].Pods), podlife.Moved(p, node))
	return true
}

// keepSpare reserves room for a buffer pod on a node. When the node is removed, the room is needed
// elsewhere, as for any pod. But the node may still be removed.
func (w *Simulation) keepSpare(node string, p *corev1.Pod) {
	if w.put(node, p) {
		w.Displaced[node] = append(slices.Clone(w.Displaced[node]), p)
	}
}

// place is the place of a pod without a node: an existing or a new node.
type place struct {
	name string
	node *provisioning.NewNode
}

// settlePending gives pending pods a place on existing nodes, as kube-scheduler will. Pods that
// need new nodes are left to provisioning, except that those nodes count for the limits of their
// pools.
func (w *Simulation) settlePending(ctx context.Context) error {
	if len(w.In.Pods) == 0 && len(w.In.Buffers) == 0 {
		return nil
	}
	if w.Compile(); w.Refused != nil {
		return nil
	}
	plan, err := w.Solve(ctx, w.Problem, len(w.In.Pods))
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
	for i := range plan.Create { // new nodes use up limits
		if n := &plan.Create[i]; len(n.Pool.Spec.Limits) > 0 {
			w.In.Nodes = append(w.In.Nodes, replacementNode(fmt.Sprintf("~pending~%d", i), n))
		}
	}
	return nil
}

// Solve runs the engine on a problem with the given number of pods, and counts the work.
func (w *Simulation) Solve(ctx context.Context, p *provisioning.Problem, pods int) (*provisioning.Plan, error) {
	w.count(ctx, pods)
	return w.plan(ctx, p)
}

// count counts the work of a what-if with the given number of pods.
func (w *Simulation) count(ctx context.Context, pods int) {
	w.Stats.Simulations++
	w.Stats.Steps += 1 + pods
	progress.Report(ctx, progress.Event{Work: Work, Stage: "what-ifs", Done: w.Stats.Simulations, Unit: "asked"})
}

// plan runs the engine on a problem.
func (w *Simulation) plan(ctx context.Context, p *provisioning.Problem) (*provisioning.Plan, error) {
	plan, err := p.Solve(progress.With(ctx, nil))
	if err != nil {
		return nil, err
	}
	for i := range plan.Create {
		n := &plan.Create[i] // its pool may be a copy: see pools
		n.Pool = w.Cluster.Pools[n.Pool.Name].NodePool
	}
	return plan, nil
}

// ClosedNode returns a copy of a node without room for more pods.
func ClosedNode(n provisioning.Node) provisioning.Node {
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
	out := corev1.ResourceList{}
	maps.Copy(out, list)
	out[corev1.ResourcePods] = *resource.NewQuantity(0, resource.DecimalSI)
	return out
}

// replacementNode returns a new node as an existing node that takes no more pods.
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

// ComingNode returns a replacement as a node that has come up as the cheapest of its options. The
// node has no pods.
func ComingNode(name string, n *provisioning.NewNode) (provisioning.Node, error) {
	option := n.Options[0]
	room, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return provisioning.Node{}, errors.New(words.FirstLine(err))
	}
	out := replacementNode(name, n)
	out.Pods = nil
	out.Node.Status.Allocatable, out.NodeClaim.Status.Allocatable = room.ResourceList(), room.ResourceList()
	out.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return out, nil
}

// CarryOut changes the simulation to the state after a set is carried out.
func (w *Simulation) CarryOut(cs *CandidateSet) {
	w.Forget()
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

// targetsOf returns the nodes that a decision removes.
func (w *Simulation) targetsOf(d *Decision) []*state.StateNode {
	var out []*state.StateNode
	for _, name := range d.Nodes {
		if m := w.Cluster.ByName[name]; m != nil && !d.Reboots {
			out = append(out, m)
		}
	}
	return out
}

// setOf returns a decision as a set, with the moves that the next plan would make now.
func (w *Simulation) setOf(d *Decision) *CandidateSet {
	cs := &CandidateSet{}
	for _, m := range w.targetsOf(d) {
		for _, p := range w.departing[m.Name].Displaced {
			to := w.places[state.NameOf(p)]
			move := Move{Pod: p, From: m.Name, Node: to.name, Replacement: -1}
			if to.node != nil {
				move.Replacement = len(cs.Nodes)
				cs.Nodes = append(cs.Nodes, *to.node)
			}
			cs.Moves = append(cs.Moves, move)
		}
	}
	return cs
}

// Compiled is the input that a simulation compiled first, for reuse by the next simulation.
type Compiled struct {
	problem *provisioning.Problem
	opts    provisioning.Options
}

// problemWith returns the problem if it has the options, or else nil.
func (c *Compiled) problemWith(opts provisioning.Options) *provisioning.Problem {
	if c == nil || !reflect.DeepEqual(c.opts, opts) {
		return nil
	}
	return c.problem
}

// Compile prepares the engine for what-ifs, which then read only what differs from Problem.
func (w *Simulation) Compile() {
	w.Forget()
	if w.Refused != nil {
		return
	}
	if w.Problem == nil {
		w.Problem, w.Refused = provisioning.Prepare(w.In, &w.Opts)
	} else {
		w.Problem, w.Refused = w.Problem.WithInput(w.In)
	}
	if w.Compiled == nil && w.Refused == nil {
		w.Compiled = &Compiled{w.Problem, w.Opts}
	}
}
