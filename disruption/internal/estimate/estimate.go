// Package estimate reads a cluster into numbers for package screen: classes of pods and
// what they ask for, the room on nodes and whom they admit, and what can be launched at
// which price. It says what new nodes cost at least for some pods, and which nodes to try
// to remove first. It knows nothing of rules, budgets and actions.
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

// Input is what an estimate is made from. It is read-only, and kept.
type Input struct {
	// Nodes are the managed nodes and others, in an order that is always the same.
	Nodes []Node
	// Entries are all nodes with their pods, also those that are to come.
	Entries []provisioning.Node
	// Pools may launch nodes.
	Pools []*v1.NodePool
	// Templates have what all nodes of a pool have, for those that do launch.
	Templates map[string]requirements.Set
	// Launches are the types that these can launch, cheapest first.
	Launches map[string][]Launch
	// DaemonSetPods are as in provisioning.Input.
	DaemonSetPods []*corev1.Pod
	// Classes tells which pods are alike.
	Classes *podclass.Classes
	// Vocabulary says which labels are well-known.
	Vocabulary *requirements.Vocabulary
	// Free is a pod as it is if it may change its domain, nil if it must not.
	Free func(*corev1.Pod) *corev1.Pod
}

// Node is a node as it is now.
type Node struct {
	Name  string
	Pool  string // that it counts for; empty if it is not managed
	Entry provisioning.Node
	Price float64
	Cost  float64       // of disrupting it: see Candidate.DisruptionCost of package disruption
	Pods  []*corev1.Pod // that need a place elsewhere when it goes
	Gone  bool          // it has gone already
}

// Estimate is a cluster in numbers, to find what is worth asking the engine about.
type Estimate struct {
	// Cluster has the nodes that are there, by number, and the classes of their pods.
	Cluster *screen.Cluster
	// Estimator says what becomes of pods when nodes go.
	Estimator *screen.Estimator

	in      Input
	nodes   []*Node               // by number
	names   []corev1.ResourceName // of the dimensions; the first is the CPU
	place   map[corev1.ResourceName]int
	classes []*podclass.Class // one of each
	classOf []int32           // by kind of pod; below zero for those of none
	vectors [][]int64         // by kind of pod: what one requests; nil while nobody asked
	groups  *antiAffinityGroups
	at      map[string]int       // by node: its number
	total   [][]int64            // by number: room for pods that move, with those that are there
	prices  map[string][]float64 // by pool, of a unit of each resource
	goods   *goods
	demands []demand // by class
}

// New reads a cluster as it is now. before, if not nil, is the estimate before of the
// same search: what it knows of what can be launched still holds.
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

// readClasses sorts the pods that may move into classes.
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

// readClass notes the class of a pod, and what it asks for if it is a new one.
func (e *Estimate) readClass(p *corev1.Pod, known map[string]int32, lists []resources.List) []resources.List {
	kind := e.in.Classes.Of(p)
	if _, found := e.Class(kind); found || !kind.Readable {
		return lists // of one that cannot be read the engine has said so, or will
	}
	company := e.groups.of(kind)
	key := classKey(kind.Pod, kind.Requests, company)
	class, found := known[key]
	if !found {
		class = int32(len(e.classes))
		known[key] = class
		e.classes = append(e.classes, kind)
		e.Cluster.Classes = append(e.Cluster.Classes, screen.Class{Company: company})
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

// Class is that of pods of a kind.
func (e *Estimate) Class(kind *podclass.Class) (int32, bool) {
	if kind.Number >= len(e.classOf) || e.classOf[kind.Number] < 0 {
		return 0, false
	}
	return e.classOf[kind.Number], true
}

// Vector is a list in the dimensions of the estimate.
func (e *Estimate) Vector(list resources.List) []int64 {
	out := make([]int64, len(e.names))
	for i, name := range e.names {
		out[i] = list.Get(name)
	}
	return out
}

// classKey is the same for pods that ask for the same and may run on the same
// nodes.
func classKey(p *corev1.Pod, requests resources.List, company screen.Company) string {
	var b strings.Builder
	b.WriteString(requests.String())
	for i, of := range company.Of {
		if of|company.Shuns[i] != 0 {
			fmt.Fprintf(&b, "|%d %x %x", i, of, company.Shuns[i])
		}
	}
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, "|%s %s %s %s", t.Key, t.Operator, t.Value, t.Effect)
	}
	WriteNodeDemand(&b, p)
	return b.String()
}

// WriteNodeDemand writes what is the same for pods that ask for the same labels of
// nodes.
func WriteNodeDemand(b *strings.Builder, p *corev1.Pod) {
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		fmt.Fprintf(b, "|%s=%s", key, p.Spec.NodeSelector[key])
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		text, _ := json.Marshal(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution) // plain data: it cannot fail
		b.Write(text)
	}
}

// readNodes reads the room on nodes, and what moves when they go.
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

// Of is what a pod asks for, and its class.
func (e *Estimate) Of(p *corev1.Pod) ([]int64, int32, bool) {
	class, known := e.Class(e.in.Classes.Of(p))
	if !known {
		return nil, 0, false
	}
	return e.Cluster.Classes[class].Request, class, true
}

// Free is the room on a node.
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

// At is the number of a node, if it is there.
func (e *Estimate) At(name string) (int, bool) {
	i, found := e.at[name]
	return i, found
}

// requested is what a pod of a kind requests.
func (e *Estimate) requested(kind *podclass.Class) []int64 {
	for len(e.vectors) <= kind.Number {
		e.vectors = append(e.vectors, nil)
	}
	if e.vectors[kind.Number] == nil {
		e.vectors[kind.Number] = e.Vector(kind.Requests)
	}
	return e.vectors[kind.Number]
}

// TakesPods reports whether a node is open to pods.
func TakesPods(n provisioning.Node) bool {
	if n.Node == nil {
		return false
	}
	q, found := n.Node.Status.Allocatable[corev1.ResourcePods]
	return !n.Node.Spec.Unschedulable && (!found || !q.IsZero())
}

// wanted is what the pods on the nodes of a pool ask for in sum.
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

// nodeKinds tells nodes apart by what the classes of an estimate ask about.
type nodeKinds struct {
	keys       []string // of labels
	known      map[string]int32
	nodes      []*corev1.Node // one of each kind
	labels     []requirements.Set
	vocabulary *requirements.Vocabulary
}

// selectorKeys are the labels that some class asks about.
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

// of is the kind of a node.
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

// admit says which kinds admit pods of a kind.
func (k *nodeKinds) admit(kind *podclass.Class) []bool {
	out := make([]bool, len(k.nodes))
	asked := kind.Asks(k.vocabulary)
	for i, node := range k.nodes {
		out[i] = Admits(node, k.labels[i], kind.Pod, asked)
	}
	return out
}

// Admits reports whether the labels and taints of a node let a pod run there.
func Admits(node *corev1.Node, labels requirements.Set, p *corev1.Pod, asked requirements.Pod) bool {
	return Tolerates(p, node.Spec.Taints) && slices.ContainsFunc(asked.Alternatives, func(a requirements.Alternative) bool {
		return labels.Compatible(a.Set, nil)
	})
}

// Tolerates reports whether a pod tolerates all taints that keep pods out. Comparisons of
// numbers are left to the engine.
func Tolerates(p *corev1.Pod, taints []corev1.Taint) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !podlife.Tolerates(p, t)
	})
}
