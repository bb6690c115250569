// Package estimate converts a cluster into numbers for package screen: classes of pods with their
// requests, the room on nodes and the classes that they admit, and the prices of new nodes. All of
// these are read from a state of the engine. The package computes a lower bound on the price of new
// nodes for some pods, and chooses the nodes to try first. It does not depend on rules, budgets or
// actions.
package estimate

import (
	"encoding/binary"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
	engine "github.com/dovetail-sdk/dovetail/internal/engine/state"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Input is the input of an estimate. It is read-only, and the estimate keeps it.
type Input struct {
	// State has the nodes and pods as the engine reads them.
	State *engine.State
	// Nodes are all nodes, managed or not, in a fixed order.
	Nodes []Node
	// Launches says whether new nodes may be launched.
	Launches bool
	// Kinds groups the pods of the state.
	Kinds *Kinds
	// Free returns the pod without its pin if it may change its domain, and otherwise nil.
	Free func(*corev1.Pod) *corev1.Pod
}

// Node is one node of the estimate.
type Node struct {
	Name  string
	Pool  string // pool whose node it is; empty if it is not managed
	Entry provisioning.Node
	Price float64
	Cost  float64       // disruption cost: see Candidate.DisruptionCost of package disruption
	Pods  []*corev1.Pod // pods that need another place when the node goes
	Gone  bool          // it is no longer in the cluster
}

// Estimate is a cluster in numbers. It guides the search for sets that are worth simulating.
type Estimate struct {
	// Cluster has the nodes that are in the cluster, by number, and the classes of their pods.
	Cluster *screen.Cluster
	// Estimator estimates where pods go when nodes are removed.
	Estimator *screen.Estimator

	in      Input
	p       *compile.Problem // of the state
	cpu     int              // index of the CPU among the resources; it takes the place of the first
	nodes   []*Node          // by number
	classes []int32          // by class: a kind of its pods
	classOf []int32          // by kind: the class; negative if it has none
	at      map[string]int   // number of each node, by name
	total   [][]int64        // by number of the node: room for movable pods, counting the room that they use now
	apart   apartRules
	prices  map[string][]float64 // price of a unit of each resource, by pool
	goods   *goods
	pools   [][]int // by class: the pools, by index in goods, that launch nodes for its pods
}

// New reads a cluster in its current state. before, if not nil, is an earlier estimate of the same
// search, whose data about launches is reused.
func New(in Input, before *Estimate) *Estimate {
	e := &Estimate{in: in, p: in.State.Problem, at: map[string]int{}, Cluster: &screen.Cluster{}, prices: map[string][]float64{}}
	e.cpu = max(0, slices.Index(e.p.Resources, corev1.ResourceCPU))
	e.apart = newApartRules(e.p.Rules)
	e.readClasses()
	e.readNodes()
	if before != nil {
		e.goods = before.goods
	} else {
		e.goods = e.readGoods()
	}
	e.readPrices()
	e.Estimator = screen.NewEstimator(e.Cluster)
	return e
}

// vector returns a vector of the engine without its slots, with the CPU first.
func (e *Estimate) vector(of []int64) []int64 {
	out := slices.Clone(e.p.OfResources(of))
	if len(out) > 0 {
		out[0], out[e.cpu] = out[e.cpu], out[0]
	}
	return out
}

// readClasses assigns the movable pods to classes: pods with equal requests that may run on the same
// nodes and exclude the same pods from theirs.
func (e *Estimate) readClasses() {
	known := map[string]int32{}
	for i := range e.in.Nodes {
		for _, p := range e.in.Nodes[i].Pods {
			e.readClass(p, known)
			if free := e.in.Free(p); free != nil {
				e.readClass(free, known)
			}
		}
	}
}

func (e *Estimate) readClass(p *corev1.Pod, known map[string]int32) {
	k := e.in.Kinds.of(p)
	if k < 0 {
		return
	}
	for len(e.classOf) <= int(k) {
		e.classOf = append(e.classOf, -1)
	}
	of := &e.in.Kinds.list[k]
	if e.classOf[k] >= 0 || e.p.Classes[of.class].Refusal != nil {
		return // the engine reports a pod that cannot be read
	}
	apart := e.apart.of(e.p.Rules.ByClass[of.class].All)
	key := binary.AppendVarint(nil, int64(e.p.Admission.Ask(of.class)))
	for i := range apart.Of {
		key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, apart.Of[i]), apart.Excludes[i])
	}
	key = append(key, of.pin.text()...)
	class, found := known[string(key)]
	if !found {
		class = int32(len(e.classes))
		known[string(key)] = class
		e.classes = append(e.classes, k)
		e.Cluster.Classes = append(e.Cluster.Classes, screen.Class{Request: e.vector(e.p.Requests[of.class]), AntiAffinity: apart})
	}
	e.classOf[k] = class
}

// Class returns the class of a pod, and false if it has none.
func (e *Estimate) Class(p *corev1.Pod) (int32, bool) {
	k := e.in.Kinds.of(p)
	if k < 0 || int(k) >= len(e.classOf) || e.classOf[k] < 0 {
		return 0, false
	}
	return e.classOf[k], true
}

// readNodes reads the room on the nodes, and the pods that move when a node goes.
func (e *Estimate) readNodes() {
	kinds := newNodeKinds(e)
	for i := range e.in.Nodes {
		m := &e.in.Nodes[i]
		at := e.in.State.Node(m.Name)
		if m.Gone || at < 0 {
			continue
		}
		e.at[m.Name] = len(e.Cluster.Nodes)
		n := screen.Node{Kind: kinds.of(at), Price: m.Price}
		free := e.free(m.Entry)
		whole := slices.Clone(free)
		for _, p := range m.Pods {
			class, ok := e.Class(p)
			if !ok {
				continue
			}
			if k := slices.IndexFunc(n.Pods, func(c screen.Count) bool { return c.Class == class }); k >= 0 {
				n.Pods[k].Pods++
			} else {
				n.Pods = append(n.Pods, screen.Count{Class: class, Pods: 1})
			}
			for d, n := range e.Cluster.Classes[class].Request {
				whole[d] += n
			}
		}
		n.There = e.apart.of(e.p.NodeParts[at])
		for _, p := range m.Entry.Pods {
			if k := e.in.Kinds.of(p); k >= 0 {
				e.apart.add(&n.There, e.p.Rules.ByClass[e.in.Kinds.list[k].class].All)
			}
		}
		if takesPods(m.Entry) {
			n.Free = free
		}
		e.Cluster.Nodes, e.nodes = append(e.Cluster.Nodes, n), append(e.nodes, m)
		e.total = append(e.total, whole)
	}
	for c, k := range e.classes {
		e.Cluster.Classes[c].Admits = kinds.admit(&e.in.Kinds.list[k])
	}
}

// free returns the free room on a node of the state; nil if the state does not have the node.
func (e *Estimate) free(n provisioning.Node) []int64 {
	at := e.in.State.Node(n.Name())
	if at < 0 {
		return nil
	}
	out := slices.Clone(e.p.OfResources(e.p.Nodes[at].Free))
	for _, p := range n.Pods {
		if p == nil {
			continue
		}
		if k := e.in.Kinds.of(p); k >= 0 {
			for d, n := range e.p.OfResources(e.p.Requests[e.in.Kinds.list[k].class]) {
				out[d] -= n
			}
		}
	}
	return e.vector(out)
}

// HasRoom reports whether a node of the state takes pods and has room for the requests of a pod.
func (e *Estimate) HasRoom(n provisioning.Node, p *corev1.Pod) bool {
	room := e.free(n)
	if room == nil || !takesPods(n) {
		return false
	}
	c := e.in.State.Class(p)
	if c < 0 || e.p.Classes[c].Refusal != nil {
		return true // the engine says what is wrong with the pod
	}
	for d, want := range e.vector(e.p.Requests[c]) {
		if want > 0 && want > room[d] {
			return false
		}
	}
	return true
}

// Suits reports whether the labels and taints of a node admit a pod. The pin of the pod does not
// count.
func (e *Estimate) Suits(p *corev1.Pod, node string) bool {
	c, at := e.in.State.Class(p), e.in.State.Node(node)
	return c >= 0 && at >= 0 && e.p.Nodes[at].Verdict.Open.Has(c)
}

// At returns the number of a node, and false if the node is not in the cluster.
func (e *Estimate) At(name string) (int, bool) {
	i, found := e.at[name]
	return i, found
}

// takesPods reports whether a node is schedulable and has room for pods.
func takesPods(n provisioning.Node) bool {
	if n.Node == nil {
		return false
	}
	q, found := n.Node.Status.Allocatable[corev1.ResourcePods]
	return !n.Node.Spec.Unschedulable && (!found || !q.IsZero())
}

// wanted returns the total requests of the pods on the nodes of a pool.
func (e *Estimate) wanted(pool string) []int64 {
	out := make([]int64, len(e.p.Resources))
	for i, m := range e.nodes {
		if m.Pool != pool {
			continue
		}
		for _, p := range e.Cluster.Nodes[i].Pods {
			for d, n := range e.Cluster.Classes[p.Class].Request {
				out[d] += n * int64(p.Pods)
			}
		}
	}
	return out
}

// nodeKinds groups nodes that admit the same classes.
type nodeKinds struct {
	p     *compile.Problem
	keys  []int // labels that some pin restricts, by number in the domain table
	known map[string]int32
	nodes []*model.Existing // a node of each kind
}

func newNodeKinds(e *Estimate) *nodeKinds {
	k := &nodeKinds{p: e.p, known: map[string]int32{}}
	for i, key := range e.p.Table.Keys {
		if slices.ContainsFunc(e.classes, func(c int32) bool { return e.in.Kinds.list[c].pin[key] != nil }) {
			k.keys = append(k.keys, i)
		}
	}
	return k
}

// of returns the kind of a node.
func (k *nodeKinds) of(node int) int32 {
	n := &k.p.Nodes[node]
	key := binary.AppendVarint(nil, int64(n.Verdict.Number))
	for _, at := range k.keys {
		key = binary.AppendVarint(key, int64(n.At[at]))
	}
	out, found := k.known[string(key)]
	if !found {
		out = int32(len(k.nodes))
		k.known[string(key)] = out
		k.nodes = append(k.nodes, n)
	}
	return out
}

// admit reports for each kind of node whether it admits pods of a kind.
func (k *nodeKinds) admit(pods *kind) []bool {
	out := make([]bool, len(k.nodes))
	for i, n := range k.nodes {
		out[i] = n.Verdict.Open.Has(pods.class)
		for _, at := range k.keys {
			values := pods.pin[k.p.Table.Keys[at]]
			out[i] = out[i] && (values == nil || n.At[at] >= 0 && slices.Contains(values, k.p.Table.Values[at][n.At[at]]))
		}
	}
	return out
}

// apartRules numbers the rules by which pods exclude others from their node: anti-affinity over the
// hostname, host ports and volumes.
type apartRules struct {
	number []int // by rule over nodes; -1 for a rule of another kind
	words  int
}

func newApartRules(r *compile.Rules) apartRules {
	out, n := apartRules{number: make([]int, len(r.Node))}, 0
	for i := range r.Node {
		if out.number[i] = -1; r.Node[i].Kind == pack.Apart {
			out.number[i] = n
			n++
		}
	}
	out.words = (n + 63) / 64
	return out
}

// of returns memberships as sets of groups.
func (a *apartRules) of(parts []pack.Membership) screen.AntiAffinity {
	if a.words == 0 {
		return screen.AntiAffinity{}
	}
	bits := make([]uint64, 2*a.words)
	out := screen.AntiAffinity{Of: bits[:a.words:a.words], Excludes: bits[a.words:]}
	a.add(&out, parts)
	return out
}

// add adds memberships to sets of groups.
func (a *apartRules) add(to *screen.AntiAffinity, parts []pack.Membership) {
	for _, part := range parts {
		n := a.number[part.Rule]
		if n < 0 {
			continue
		}
		if part.Members > 0 {
			to.Of[n/64] |= 1 << (n % 64)
		}
		if part.Owners > 0 {
			to.Excludes[n/64] |= 1 << (n % 64)
		}
	}
}

// readPrices computes lower bounds on the price of resources on new nodes of each pool, and from
// them the floor of each class.
func (e *Estimate) readPrices() {
	for i := range e.goods.pools {
		pool := &e.goods.pools[i]
		e.prices[pool.name] = screen.Prices(pool.supplies, e.wanted(pool.name))
	}
	e.pools = make([][]int, len(e.classes))
	for c := range e.classes {
		class := &e.Cluster.Classes[c]
		class.Floor = math.Inf(1)
		options := e.admitted(int32(c))
		for i := range e.goods.pools {
			if pool := &e.goods.pools[i]; !pool.of.Window(options).Empty() {
				class.Floor = min(class.Floor, screen.Floor(class.Request, e.prices[pool.name]))
				e.pools[c] = append(e.pools[c], i)
			}
		}
	}
}
