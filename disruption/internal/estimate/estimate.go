// Package estimate converts a cluster into numbers for package screen: classes of pods with their
// requests, the room on nodes and the classes that they admit, and the prices of new nodes. It
// computes a lower bound on the price of new nodes for some pods, and chooses the nodes to try
// first. It does not depend on rules, budgets or actions.
package estimate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Input is the input of an estimate. It is read-only, and the estimate keeps it.
type Input struct {
	// Nodes are all nodes, managed or not, in a fixed order.
	Nodes []Node
	// Entries are all nodes with their pods, including nodes that are still to come.
	Entries []provisioning.Node
	// Pools are the pools that may launch nodes.
	Pools []*v1.NodePool
	// Templates are the requirements that all nodes of a pool have, by pool, for pools that launch
	// nodes.
	Templates map[string]requirements.Set
	// Launches are the types that those pools can launch, by pool, cheapest first.
	Launches map[string][]Launch
	// DaemonSetPods are those of provisioning.Input.
	DaemonSetPods []*corev1.Pod
	// Classes groups pods that are alike.
	Classes *podclass.Classes
	// Vocabulary says which labels are well-known.
	Vocabulary *requirements.Vocabulary
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
	nodes   []*Node               // by number
	names   []corev1.ResourceName // resource of each dimension; the first is the CPU
	place   map[corev1.ResourceName]int
	classes []*podclass.Class // a representative of each class
	classOf []int32           // by number of the kind of pod: the class; negative if it has none
	vectors [][]int64         // by number of the kind of pod: its requests; nil until they are needed
	groups  *antiAffinityGroups
	at      map[string]int       // number of each node, by name
	total   [][]int64            // by number of the node: room for movable pods, counting the room that they use now
	prices  map[string][]float64 // price of a unit of each resource, by pool
	goods   *goods
	demands []demand // by class
}

// New reads a cluster in its current state. before, if not nil, is an earlier estimate of the same
// search, whose data about launches is reused.
func New(in Input, before *Estimate) *Estimate {
	e := &Estimate{in: in, place: map[corev1.ResourceName]int{},
		at: map[string]int{}, Cluster: &screen.Cluster{}, prices: map[string][]float64{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		e.dimension(name)
	}
	e.readClasses()
	e.readNodes()
	if before != nil && slices.Equal(before.names, e.names) {
		e.goods = before.goods
	} else {
		e.goods = e.readGoods()
	}
	e.readPrices()
	e.Estimator = screen.NewEstimator(e.Cluster)
	return e
}

func (e *Estimate) dimension(name corev1.ResourceName) {
	if _, known := e.place[name]; !known {
		e.place[name] = len(e.names)
		e.names = append(e.names, name)
	}
}

// readClasses assigns the movable pods to classes.
func (e *Estimate) readClasses() {
	e.groups = e.readGroups()
	known := map[string]int32{}
	lists := []resources.List{}
	for i := range e.in.Nodes {
		for _, p := range e.in.Nodes[i].Pods {
			lists = e.readClass(p, known, lists)
			if free := e.in.Free(p); free != nil {
				lists = e.readClass(free, known, lists)
			}
		}
	}
	for c, list := range lists {
		e.Cluster.Classes[c].Request = e.Vector(list)
	}
}

// readClass records the class of a pod. lists has the requests of the classes and is extended by
// those of a new class.
func (e *Estimate) readClass(p *corev1.Pod, known map[string]int32, lists []resources.List) []resources.List {
	kind := e.in.Classes.Of(p)
	if _, found := e.Class(kind); found || !kind.Readable {
		return lists // the engine reports a pod that cannot be read
	}
	groups := e.groups.of(kind)
	key := classKey(kind.Pod, kind.Requests, groups)
	class, found := known[key]
	if !found {
		class = int32(len(e.classes))
		known[key] = class
		e.classes = append(e.classes, kind)
		e.Cluster.Classes = append(e.Cluster.Classes, screen.Class{AntiAffinity: groups})
		lists = append(lists, kind.Requests.With(corev1.ResourcePods, 1))
		for name, n := range kind.Requests.All() {
			if n > 0 {
				e.dimension(name)
			}
		}
	}
	for len(e.classOf) <= kind.Number {
		e.classOf = append(e.classOf, -1)
	}
	e.classOf[kind.Number] = class
	return lists
}

// Class returns the class of pods of a kind, and false if it has none.
func (e *Estimate) Class(kind *podclass.Class) (int32, bool) {
	if kind.Number >= len(e.classOf) || e.classOf[kind.Number] < 0 {
		return 0, false
	}
	return e.classOf[kind.Number], true
}

// Vector returns a resource list as a vector in the dimensions of the estimate.
func (e *Estimate) Vector(list resources.List) []int64 {
	out := make([]int64, len(e.names))
	for i, name := range e.names {
		out[i] = list.Get(name)
	}
	return out
}

// classKey returns a key that is equal for pods with equal requests that may run on the same nodes.
func classKey(p *corev1.Pod, requests resources.List, groups screen.AntiAffinity) string {
	var b strings.Builder
	b.WriteString(requests.String())
	for i, of := range groups.Of {
		if of|groups.Excludes[i] != 0 {
			fmt.Fprintf(&b, "|%d %x %x", i, of, groups.Excludes[i])
		}
	}
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, "|%s %s %s %s", t.Key, t.Operator, t.Value, t.Effect)
	}
	WriteNodeDemand(&b, p)
	return b.String()
}

// WriteNodeDemand writes a text that is equal for pods with the same node selector and required
// node affinity.
func WriteNodeDemand(b *strings.Builder, p *corev1.Pod) {
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		fmt.Fprintf(b, "|%s=%s", key, p.Spec.NodeSelector[key])
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		text, _ := json.Marshal(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution) // plain data: encoding cannot fail
		b.Write(text)
	}
}

// readNodes reads the room on the nodes, and the pods that move when a node goes.
func (e *Estimate) readNodes() {
	kinds := &nodeKinds{keys: e.selectorKeys(), known: map[string]int32{}, vocabulary: e.in.Vocabulary}
	for i := range e.in.Nodes {
		m := &e.in.Nodes[i]
		if m.Gone {
			continue
		}
		e.at[m.Name] = len(e.Cluster.Nodes)
		n := screen.Node{Kind: kinds.of(m.Entry), Price: m.Price}
		free := e.Free(m.Entry)
		whole := slices.Clone(free)
		for _, p := range m.Pods {
			request, class, ok := e.Of(p)
			if !ok {
				continue
			}
			if k := slices.IndexFunc(n.Pods, func(c screen.Count) bool { return c.Class == class }); k >= 0 {
				n.Pods[k].Pods++
			} else {
				n.Pods = append(n.Pods, screen.Count{Class: class, Pods: 1})
			}
			for d := range whole {
				whole[d] += request[d]
			}
		}
		n.There = e.groups.all(m.Entry.Pods)
		if TakesPods(m.Entry) {
			n.Free = free
		}
		e.Cluster.Nodes, e.nodes = append(e.Cluster.Nodes, n), append(e.nodes, m)
		e.total = append(e.total, whole)
	}
	for c, kind := range e.classes {
		e.Cluster.Classes[c].Admits = kinds.admit(kind)
	}
}

// Of returns the requests and the class of a pod, and false if it has no class.
func (e *Estimate) Of(p *corev1.Pod) ([]int64, int32, bool) {
	class, known := e.Class(e.in.Classes.Of(p))
	if !known {
		return nil, 0, false
	}
	return e.Cluster.Classes[class].Request, class, true
}

// Free returns the free room on a node, in the dimensions of the estimate.
func (e *Estimate) Free(n provisioning.Node) []int64 {
	var status corev1.ResourceList
	if n.Node != nil {
		status = n.Node.Status.Allocatable
	} else {
		status = n.NodeClaim.Status.Allocatable
	}
	list, err := resources.FromResourceList(status)
	if err != nil {
		return make([]int64, len(e.names))
	}
	out := e.Vector(list)
	for _, p := range n.Pods {
		if p == nil || podlife.Finished(p) {
			continue
		}
		kind := e.in.Classes.Of(p)
		if !kind.Readable {
			continue
		}
		for d, n := range e.requested(kind) {
			out[d] -= n
		}
		out[e.place[corev1.ResourcePods]]--
	}
	return out
}

// At returns the number of a node, and false if the node is not in the cluster.
func (e *Estimate) At(name string) (int, bool) {
	i, found := e.at[name]
	return i, found
}

// requested returns the requests of a pod of a kind.
func (e *Estimate) requested(kind *podclass.Class) []int64 {
	for len(e.vectors) <= kind.Number {
		e.vectors = append(e.vectors, nil)
	}
	if e.vectors[kind.Number] == nil {
		e.vectors[kind.Number] = e.Vector(kind.Requests)
	}
	return e.vectors[kind.Number]
}

// TakesPods reports whether a node is schedulable and has room for pods.
func TakesPods(n provisioning.Node) bool {
	if n.Node == nil {
		return false
	}
	q, found := n.Node.Status.Allocatable[corev1.ResourcePods]
	return !n.Node.Spec.Unschedulable && (!found || !q.IsZero())
}

// wanted returns the total requests of the pods on the nodes of a pool.
func (e *Estimate) wanted(pool string) []int64 {
	out := make([]int64, len(e.names))
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

// nodeKinds groups nodes that are alike in what the classes of an estimate require.
type nodeKinds struct {
	keys       []string // labels that some class requires
	known      map[string]int32
	nodes      []*corev1.Node // a representative of each kind
	labels     []requirements.Set
	vocabulary *requirements.Vocabulary
}

// selectorKeys lists the labels that some class requires.
func (e *Estimate) selectorKeys() []string {
	seen := map[string]string{}
	for _, kind := range e.classes {
		for _, a := range kind.Asks(e.in.Vocabulary).Alternatives {
			for r := range a.Set.All() {
				seen[r.Key()] = ""
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// of returns the kind of a node.
func (k *nodeKinds) of(n provisioning.Node) int32 {
	node := n.Node
	if node == nil {
		node = &corev1.Node{}
	}
	labels := requirements.FromLabels(node.Labels, k.vocabulary)
	var b strings.Builder
	for _, key := range k.keys {
		value, _ := labels.Get(key)
		fmt.Fprintf(&b, "%s|", value)
	}
	for _, t := range node.Spec.Taints {
		fmt.Fprintf(&b, "%s=%s:%s|", t.Key, t.Value, t.Effect)
	}
	kind, found := k.known[b.String()]
	if !found {
		kind = int32(len(k.nodes))
		k.known[b.String()] = kind
		k.nodes, k.labels = append(k.nodes, node), append(k.labels, labels)
	}
	return kind
}

// admit reports for each kind of node whether it admits pods of a kind.
func (k *nodeKinds) admit(kind *podclass.Class) []bool {
	out := make([]bool, len(k.nodes))
	asked := kind.Asks(k.vocabulary)
	for i, node := range k.nodes {
		out[i] = Admits(node, k.labels[i], kind.Pod, asked)
	}
	return out
}

// Admits reports whether the labels and taints of a node admit a pod.
func Admits(node *corev1.Node, labels requirements.Set, p *corev1.Pod, asked requirements.Pod) bool {
	return Tolerates(p, node.Spec.Taints) && slices.ContainsFunc(asked.Alternatives, func(a requirements.Alternative) bool {
		return labels.Compatible(a.Set, requirements.EmptyVocabulary())
	})
}

// Tolerates reports whether a pod tolerates all taints with the effects NoSchedule and NoExecute.
// Numeric comparisons of tolerations are left to the engine.
func Tolerates(p *corev1.Pod, taints []corev1.Taint) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !podlife.Tolerates(p, t)
	})
}
