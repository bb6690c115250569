package disruption

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// estimate is a world in numbers, to find what is worth asking the engine about.
type estimate struct {
	w         *world
	names     []corev1.ResourceName // of the dimensions; the first is the CPU
	place     map[corev1.ResourceName]int
	classes   []*corev1.Pod // one of each
	classOf   map[string]int32
	cluster   *screen.Cluster
	estimator *screen.Estimator
	at        map[string]int       // by node: its number
	total     [][]int64            // by number: room for pods that move, with those that are there
	prices    map[string][]float64 // by pool, of a unit of each resource
	templates map[string]requirements.Set
	supplies  []screen.Supply // of all pools; nil while nobody asked
}

// newEstimate reads the world as it is now.
func newEstimate(w *world) *estimate {
	e := &estimate{w: w, place: map[corev1.ResourceName]int{}, classOf: map[string]int32{}, at: map[string]int{},
		cluster: &screen.Cluster{}, prices: map[string][]float64{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		e.dimension(name)
	}
	e.readClasses()
	e.readNodes()
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
	lists := []resources.List{}
	for _, m := range e.w.f.members {
		for _, p := range e.w.displaced[m.name] {
			list, err := resources.PodRequests(p)
			if err != nil {
				continue // the engine has refused it, or will
			}
			key := classKey(p, list)
			if _, known := e.classOf[key]; !known {
				e.classOf[key] = int32(len(e.classes))
				e.classes = append(e.classes, p)
				lists = append(lists, list.With(corev1.ResourcePods, 1))
				for name, n := range list.All() {
					if n > 0 {
						e.dimension(name)
					}
				}
			}
		}
	}
	for _, list := range lists {
		e.cluster.Classes = append(e.cluster.Classes, screen.Class{Request: e.vector(list)})
	}
}

func (e *estimate) vector(list resources.List) []int64 {
	out := make([]int64, len(e.names))
	for i, name := range e.names {
		out[i] = list.Get(name)
	}
	return out
}

// classKey is the same for pods that ask for the same and may run on the same
// nodes, as far as that is for one pod to say.
func classKey(p *corev1.Pod, requests resources.List) string {
	var b strings.Builder
	b.WriteString(requests.String())
	for _, key := range sortedKeys(p.Spec.NodeSelector) {
		fmt.Fprintf(&b, "|%s=%s", key, p.Spec.NodeSelector[key])
	}
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, "|%s %s %s %s", t.Key, t.Operator, t.Value, t.Effect)
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		text, _ := json.Marshal(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution) // plain data: it cannot fail
		b.Write(text)
	}
	return b.String()
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
		counts := map[int32]int32{}
		for _, p := range e.w.displaced[m.name] {
			request, class, ok := e.of(p)
			if !ok {
				continue
			}
			counts[class]++
			for d := range whole {
				whole[d] += request[d]
			}
		}
		for c := range e.classes {
			if k := counts[int32(c)]; k > 0 {
				n.Pods = append(n.Pods, screen.Count{Class: int32(c), Pods: k})
			}
		}
		if takesPods(entry) {
			n.Free = free
		}
		e.cluster.Nodes = append(e.cluster.Nodes, n)
		e.total = append(e.total, whole)
	}
	for c, p := range e.classes {
		e.cluster.Classes[c].Admits = kinds.admit(p)
	}
}

// of is what a pod asks for, and its class.
func (e *estimate) of(p *corev1.Pod) ([]int64, int32, bool) {
	list, err := resources.PodRequests(p)
	if err != nil {
		return nil, 0, false
	}
	class, known := e.classOf[classKey(p, list)]
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
		used, err := resources.PodRequests(p)
		if err != nil {
			continue
		}
		for d, name := range e.names {
			out[d] -= used.Get(name)
		}
		out[e.place[corev1.ResourcePods]]--
	}
	return out
}

func takesPods(n provisioning.Node) bool {
	if n.Node == nil {
		return false
	}
	q, found := n.Node.Status.Allocatable[corev1.ResourcePods]
	return !n.Node.Spec.Unschedulable && (!found || !q.IsZero())
}

// readPrices finds what resources cost at least on new nodes of each pool, and
// with that what each class costs.
func (e *estimate) readPrices() {
	e.templates = map[string]requirements.Set{}
	for _, pool := range e.w.in.NodePools {
		set, err := requirements.FromNodePool(pool, e.w.f.vocabulary)
		if err != nil || pool.Spec.Replicas != nil || !e.w.f.pools[pool.Name].ready() {
			continue
		}
		e.templates[pool.Name] = set
		e.prices[pool.Name] = screen.Prices(e.supply(pool.Name, set), e.wanted(pool.Name))
	}
	for c, p := range e.classes {
		e.cluster.Classes[c].Floor = math.Inf(1)
		asked, _ := requirements.FromPod(p, e.w.f.vocabulary)
		for _, pool := range e.w.in.NodePools {
			set, found := e.templates[pool.Name]
			if !found || !tolerates(p, pool.Spec.Template.Spec.Taints) || !slices.ContainsFunc(asked.Alternatives,
				func(a requirements.Alternative) bool { return set.Compatible(a.Set, e.w.f.vocabulary) }) {
				continue
			}
			class := &e.cluster.Classes[c]
			class.Floor = min(class.Floor, screen.Floor(class.Request, e.prices[pool.Name]))
		}
	}
}

// supply lists the types that a pool can launch, at their cheapest, less what
// DaemonSets surely take.
func (e *estimate) supply(pool string, template requirements.Set) []screen.Supply {
	var out []screen.Supply
	view := e.w.f.pools[pool]
	daemons := e.daemons(view.NodePool)
	for _, name := range sortedTypes(view) {
		t := view.types[name]
		best := math.Inf(1)
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Launchable() && o.Price > 0 && o.Price < best && admitsOffering(template, o) {
				best = o.Price
			}
		}
		if math.IsInf(best, 0) || !admitsType(template, t) {
			continue
		}
		if allocatable, err := t.Allocatable(); err == nil {
			room := e.vector(allocatable)
			for d, n := range daemons {
				room[d] = max(room[d]-n, 0)
			}
			out = append(out, screen.Supply{Room: room, Price: best})
		}
	}
	return out
}

// admitsType reports whether a template admits some value of each label of a
// type. It looks at the labels of the template only, which are few.
func admitsType(template requirements.Set, t *cloudprovider.InstanceType) bool {
	for r := range template.All() {
		if own, found := t.Requirements.Get(r.Key()); found && own.Intersect(r).Impossible() {
			return false
		}
	}
	return true
}

// admitsOffering reports whether a template admits where and as what an offering
// is sold.
func admitsOffering(template requirements.Set, o *cloudprovider.Offering) bool {
	zone, found := template.Get(corev1.LabelTopologyZone)
	if found && !zone.Has(o.Zone) {
		return false
	}
	kind, found := template.Get(v1.CapacityTypeLabelKey)
	return !found || kind.Has(o.CapacityType)
}

// daemons is what the DaemonSets ask for that run on every node of a pool.
func (e *estimate) daemons(pool *v1.NodePool) []int64 {
	out := make([]int64, len(e.names))
	for _, p := range e.w.in.DaemonSetPods {
		asked, err := requirements.FromPod(p, e.w.f.vocabulary)
		if err != nil || !tolerates(p, pool.Spec.Template.Spec.Taints) || !slices.ContainsFunc(asked.Alternatives,
			func(a requirements.Alternative) bool { return a.Set.Len() == 0 && a.NodeNames == nil }) {
			continue // whether it runs depends on the node
		}
		list, err := resources.PodRequests(p)
		if err != nil {
			continue
		}
		for d, n := range e.vector(list.With(corev1.ResourcePods, 1)) {
			out[d] += n
		}
	}
	return out
}

func sortedTypes(p *poolView) []string {
	out := make([]string, 0, len(p.types))
	for name := range p.types { // sorted below
		out = append(out, name)
	}
	slices.Sort(out)
	return out
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
