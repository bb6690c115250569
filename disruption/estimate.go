package disruption

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// estimate is a world in numbers, to find what is worth asking the engine about.
type estimate struct {
	w         *world
	names     []corev1.ResourceName // of the dimensions; the first is the CPU
	place     map[corev1.ResourceName]int
	classes   []*podKind // one of each
	classOf   []int32    // by kind of pod; below zero for those of none
	vectors   [][]int64  // by kind of pod: what one requests; nil while nobody asked
	companies *companies
	cluster   *screen.Cluster
	estimator *screen.Estimator
	at        map[string]int       // by node: its number
	total     [][]int64            // by number: room for pods that move, with those that are there
	prices    map[string][]float64 // by pool, of a unit of each resource
	goods     *goods
	demands   []demand // by class
}

// newEstimate reads the world as it is now. before, if not nil, is the one before:
// what it knows of pods and of what can be launched still holds.
func newEstimate(w *world, before *estimate) *estimate {
	e := &estimate{w: w, place: map[corev1.ResourceName]int{},
		at: map[string]int{}, cluster: &screen.Cluster{}, prices: map[string][]float64{}}
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
	e.estimator = screen.NewEstimator(e.cluster)
	return e
}

func (e *estimate) dimension(name corev1.ResourceName) {
	if _, known := e.place[name]; !known {
		e.place[name] = len(e.names)
		e.names = append(e.names, name)
	}
}

// readClasses sorts the pods that may move into classes.
func (e *estimate) readClasses() {
	e.companies = e.readCompanies()
	known := map[string]int32{}
	lists := []resources.List{}
	for _, m := range e.w.f.members {
		for _, p := range e.w.displaced[m.name] {
			lists = e.readClass(p, known, lists)
			if r := e.w.roamers[p]; r != nil && r.pinned == p && !r.of.left {
				lists = e.readClass(r.free, known, lists)
			}
		}
	}
	for c, list := range lists {
		e.cluster.Classes[c].Request = e.vector(list)
	}
}

// readClass notes the class of a pod, and what it asks for if it is a new one.
func (e *estimate) readClass(p *corev1.Pod, known map[string]int32, lists []resources.List) []resources.List {
	kind := e.w.kinds.of(p)
	if _, found := e.class(kind); found || !kind.readable {
		return lists // of one that cannot be read the engine has said so, or will
	}
	company := e.companies.of(kind)
	key := classKey(kind.pod, kind.requests, company)
	class, found := known[key]
	if !found {
		class = int32(len(e.classes))
		known[key] = class
		e.classes = append(e.classes, kind)
		e.cluster.Classes = append(e.cluster.Classes, screen.Class{Company: company})
		lists = append(lists, kind.requests.With(corev1.ResourcePods, 1))
		for name, n := range kind.requests.All() {
			if n > 0 {
				e.dimension(name)
			}
		}
	}
	for len(e.classOf) <= kind.number {
		e.classOf = append(e.classOf, -1)
	}
	e.classOf[kind.number] = class
	return lists
}

// class is that of pods of a kind.
func (e *estimate) class(kind *podKind) (int32, bool) {
	if kind.number >= len(e.classOf) || e.classOf[kind.number] < 0 {
		return 0, false
	}
	return e.classOf[kind.number], true
}

func (e *estimate) vector(list resources.List) []int64 {
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
	writeNodeDemand(&b, p)
	return b.String()
}

// writeNodeDemand writes what is the same for pods that ask for the same labels of
// nodes.
func writeNodeDemand(b *strings.Builder, p *corev1.Pod) {
	for _, key := range sortedKeys(p.Spec.NodeSelector) {
		fmt.Fprintf(b, "|%s=%s", key, p.Spec.NodeSelector[key])
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		text, _ := json.Marshal(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution) // plain data: it cannot fail
		b.Write(text)
	}
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for key := range m { // sorted below
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// readNodes reads the room on nodes, and what moves when they go.
func (e *estimate) readNodes() {
	kinds := &nodeKinds{keys: e.selectorKeys(), known: map[string]int32{}, vocabulary: e.w.f.vocabulary}
	for _, m := range e.w.f.members {
		i, found := e.w.at[m.name]
		if !found || e.w.leaving[m.name] {
			continue
		}
		entry := e.w.in.Nodes[i]
		e.at[m.name] = len(e.cluster.Nodes)
		n := screen.Node{Kind: kinds.of(entry)}
		n.Price, _ = m.price()
		free := e.free(entry)
		whole := slices.Clone(free)
		for _, p := range e.w.displaced[m.name] {
			request, class, ok := e.of(p)
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
		n.There = e.companies.all(entry.Pods)
		if takesPods(entry) {
			n.Free = free
		}
		e.cluster.Nodes = append(e.cluster.Nodes, n)
		e.total = append(e.total, whole)
	}
	for c, kind := range e.classes {
		e.cluster.Classes[c].Admits = kinds.admit(kind)
	}
}

// of is what a pod asks for, and its class.
func (e *estimate) of(p *corev1.Pod) ([]int64, int32, bool) {
	class, known := e.class(e.w.kinds.of(p))
	if !known {
		return nil, 0, false
	}
	return e.cluster.Classes[class].Request, class, true
}

// free is the room on a node.
func (e *estimate) free(n provisioning.Node) []int64 {
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
	out := e.vector(list)
	for _, p := range n.Pods {
		if p == nil || finished(p) {
			continue
		}
		kind := e.w.kinds.of(p)
		if !kind.readable {
			continue
		}
		for d, n := range e.requested(kind) {
			out[d] -= n
		}
		out[e.place[corev1.ResourcePods]]--
	}
	return out
}

// requested is what a pod of a kind requests.
func (e *estimate) requested(kind *podKind) []int64 {
	for len(e.vectors) <= kind.number {
		e.vectors = append(e.vectors, nil)
	}
	if e.vectors[kind.number] == nil {
		e.vectors[kind.number] = e.vector(kind.requests)
	}
	return e.vectors[kind.number]
}

func takesPods(n provisioning.Node) bool {
	if n.Node == nil {
		return false
	}
	q, found := n.Node.Status.Allocatable[corev1.ResourcePods]
	return !n.Node.Spec.Unschedulable && (!found || !q.IsZero())
}

// wanted is what the pods on the nodes of a pool ask for in sum.
func (e *estimate) wanted(pool string) []int64 {
	out := make([]int64, len(e.names))
	for _, m := range e.w.f.pools[pool].members {
		i, found := e.at[m.name]
		if !found {
			continue
		}
		for _, p := range e.cluster.Nodes[i].Pods {
			for d, n := range e.cluster.Classes[p.Class].Request {
				out[d] += n * int64(p.Pods)
			}
		}
	}
	return out
}
