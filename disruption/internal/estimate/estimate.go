// Package estimate says, in microseconds, what removing nodes of a cluster would save: which of their
// pods fit on other nodes, and a lower bound on the price of new nodes for the rest. It also chooses
// the nodes to try first. It does not depend on rules, budgets or actions.
//
// Classes of pods with their requests, the room on nodes and the classes that they admit, the rules
// between the pods of a node, and the prices of new nodes are read from a state of the engine. Other
// constraints between pods, volumes that several pods share, and limits are left out. An estimate
// therefore only guides the search, and the engine decides.
package estimate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
	in      Input
	p       *compile.Problem // of the state
	cpu     int              // index of the CPU among the resources; it takes the place of the first
	sites   []site           // the nodes that are in the cluster, by number
	classes []class
	classOf []int32              // by kind: the class; negative if it has none
	at      map[string]int       // number of each node, by name
	prices  map[string][]float64 // price of a unit of each resource, by pool
	goods   *goods
	packing
}

// site is a node that is in the cluster.
type site struct {
	*Node
	kind  int32             // equal for nodes that admit the same classes
	free  []int64           // room for pods of other nodes; nil if it takes none
	whole []int64           // room for movable pods, counting the room that they use now
	pods  []Count           // pods that have to move, each class once
	there []pack.Membership // of all pods on the node, whether they move or not
}

// class is a group of pods with equal requests that may run on the same nodes, with the same pods.
type class struct {
	kind    int32 // of one of its pods
	number  int   // of that kind, in the problem
	request []int64
	admits  []bool            // by kind of nodes
	parts   []pack.Membership // of one pod, in rules that hold as they are: see compile.Rules
	alone   bool              // a node can have only one of the pods, because they exclude each other
	floor   float64           // least price of one pod on new nodes, in USD per hour; infinite if no new node can have the pod
	pools   []int             // the pools, by index in goods, that launch nodes for its pods
}

// New reads a cluster in its current state. before, if not nil, is an earlier estimate of the same
// search, whose data about launches is reused.
func New(in Input, before *Estimate) *Estimate {
	e := &Estimate{in: in, p: in.State.Problem, at: map[string]int{}, prices: map[string][]float64{}}
	e.cpu = max(0, slices.Index(e.p.Resources, corev1.ResourceCPU))
	e.readClasses()
	e.readNodes()
	if before != nil {
		e.goods = before.goods
	} else {
		e.goods = e.readGoods()
	}
	e.readPrices()
	e.packing = newPacking(e.sites)
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
			e.readClass(e.in.Kinds.of(p), known)
			if loose, found := e.in.Kinds.loose[p]; found {
				e.readClass(loose, known)
			}
		}
	}
}

func (e *Estimate) readClass(k int32, known map[string]int32) {
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
	c := class{kind: k, number: of.class, request: e.vector(e.p.Requests[of.class])}
	for _, part := range e.p.Rules.ByClass[of.class].All {
		if rule := &e.p.Rules.Node[part.Rule]; !rule.Spread {
			c.parts = append(c.parts, part)
			c.alone = c.alone || rule.Kind == pack.Apart && part.Both > 0
		}
	}
	key := fmt.Sprint(e.p.Admission.Ask(of.class), c.parts, of.pin.text())
	n, found := known[key]
	if !found {
		n = int32(len(e.classes))
		known[key] = n
		e.classes = append(e.classes, c)
	}
	e.classOf[k] = n
}

// Class returns the class of a pod, and false if it has none.
func (e *Estimate) Class(p *corev1.Pod) (int32, bool) { return e.classAs(p, nil) }

// classAs is Class, as a pod that may change its domain if the pod is in loose.
func (e *Estimate) classAs(p *corev1.Pod, loose map[*corev1.Pod]bool) (int32, bool) {
	k := e.in.Kinds.of(p)
	if loose[p] {
		k = e.in.Kinds.loose[p]
	}
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
		e.at[m.Name] = len(e.sites)
		free := e.free(m.Entry)
		n := site{Node: m, kind: kinds.of(at), whole: slices.Clone(free), there: slices.Clone(e.p.NodeParts[at])}
		for _, p := range m.Pods {
			class, ok := e.Class(p)
			if !ok {
				continue
			}
			if k := slices.IndexFunc(n.pods, func(c Count) bool { return c.Class == class }); k >= 0 {
				n.pods[k].Pods++
			} else {
				n.pods = append(n.pods, Count{Class: class, Pods: 1})
			}
			for d, want := range e.classes[class].request {
				n.whole[d] += want
			}
		}
		for _, p := range m.Entry.Pods {
			if k := e.in.Kinds.of(p); k >= 0 {
				n.there = pack.AddPods(n.there, 1, e.p.Rules.ByClass[e.in.Kinds.list[k].class].All...)
			}
		}
		if takesPods(m.Entry) {
			n.free = free
		}
		e.sites = append(e.sites, n)
	}
	for i := range e.classes {
		e.classes[i].admits = kinds.admit(&e.in.Kinds.list[e.classes[i].kind])
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
	for i := range e.sites {
		if e.sites[i].Pool != pool {
			continue
		}
		for _, p := range e.sites[i].pods {
			for d, n := range e.classes[p.Class].request {
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
		if slices.ContainsFunc(e.classes, func(c class) bool { return e.in.Kinds.list[c.kind].pin[key] != nil }) {
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

// readPrices computes lower bounds on the price of resources on new nodes of each pool, and from
// them the floor of each class.
func (e *Estimate) readPrices() {
	for i := range e.goods.pools {
		pool := &e.goods.pools[i]
		e.prices[pool.name] = unitPrices(pool.supplies, e.wanted(pool.name))
	}
	for c := range e.classes {
		class := &e.classes[c]
		class.floor = math.Inf(1)
		options := e.admitted(int32(c))
		for i := range e.goods.pools {
			if pool := &e.goods.pools[i]; !pool.of.Window(options).Empty() {
				class.floor = min(class.floor, worth(class.request, e.prices[pool.name]))
				class.pools = append(class.pools, i)
			}
		}
	}
}
