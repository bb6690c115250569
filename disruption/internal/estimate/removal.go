package estimate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Count is a number of pods of a class.
type Count struct {
	Class int32
	Pods  int32
}

// Outcome is the estimate for the pods of removed nodes.
type Outcome struct {
	// Moved is the number of pods that fit on other nodes, and Left the number of those that do
	// not.
	Moved, Left int
	// Rest are the pods that do not fit, by class. It is valid until the next estimate.
	Rest []Count
	// Floor is a lower bound on the price of new nodes for the pods in Rest, in USD per hour.
	Floor float64
	// Price is the price of the removed nodes, in USD per hour.
	Price float64
	// Steps is the number of classes on the removed nodes, each counted once for each node.
	Steps int
}

// Saving returns an upper bound on what removing the nodes saves, by the estimate, in USD per hour.
func (o Outcome) Saving() float64 { return o.Price - o.Floor }

// place is a number of pods of a class on a node, which is given by number.
type place struct {
	class, node, pods int32
}

// packing is where an estimate puts pods. Remove reuses its memory.
type packing struct {
	order  []int32 // nodes that take pods, the fullest first
	room   [][]int64
	there  [][]pack.Membership
	gone   []bool
	shut   []bool // set by Shut
	pods   []Count
	rest   []Count
	places []place
	used   []int32 // nodes whose room differs from the cluster's
	dirty  []bool  // the same, by number of the node
}

// newPacking returns a packing of nodes with the pods that are on them now.
func newPacking(sites []site) packing {
	k := packing{room: make([][]int64, len(sites)), there: make([][]pack.Membership, len(sites)),
		gone: make([]bool, len(sites)), shut: make([]bool, len(sites)), dirty: make([]bool, len(sites))}
	for i := range sites {
		if sites[i].free != nil {
			k.room[i], k.there[i] = slices.Clone(sites[i].free), slices.Clone(sites[i].there)
			k.order = append(k.order, int32(i))
		}
	}
	slices.SortFunc(k.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.room[a][0], k.room[b][0]), cmp.Compare(a, b))
	})
	return k
}

// Shut makes nodes take no pods. Each call replaces the nodes of the call before.
func (e *Estimate) Shut(nodes ...string) {
	clear(e.shut)
	for _, name := range nodes {
		e.shut[e.at[name]] = true
	}
}

// Remove estimates where the pods of some nodes of the cluster go if the nodes are removed
// together. The cluster does not change. The pods in loose may change their domain: see
// Kinds.Loosen.
//
// The classes whose pods cost most on new nodes, by the lower bound of the estimate, come first.
// The pods of each class go to the nodes with the least room in the first dimension; of equal
// nodes, to the one with the lower number. It is not safe for concurrent use.
func (e *Estimate) Remove(loose map[*corev1.Pod]bool, nodes ...string) Outcome {
	var o Outcome
	e.pods, e.rest, e.places = e.pods[:0], e.rest[:0], e.places[:0]
	for _, name := range nodes {
		i := e.at[name]
		o.Steps += len(e.sites[i].pods)
		if e.gone[i] {
			continue
		}
		e.gone[i] = true
		o.Price += e.sites[i].Price
		e.pods = append(e.pods, e.sites[i].pods...)
	}
	for p := range loose { // the order does not matter
		own, known := e.Class(p)
		as, found := e.classAs(p, loose)
		if known && found {
			e.pods = append(e.pods, Count{Class: own, Pods: -1}, Count{Class: as, Pods: 1})
		}
	}
	e.merge()
	for _, p := range e.pods {
		if p.Pods <= 0 {
			continue // all of them are counted in other classes
		}
		left := e.place(p)
		o.Moved += int(p.Pods - left)
		o.Left += int(left)
		if left > 0 {
			o.Floor += float64(left) * e.classes[p.Class].floor
			e.rest = append(e.rest, Count{Class: p.Class, Pods: left})
		}
	}
	if len(e.rest) > 0 {
		o.Rest = e.rest
	}
	for _, i := range e.used {
		copy(e.room[i], e.sites[i].free)
		e.there[i] = append(e.there[i][:0], e.sites[i].there...)
		e.dirty[i] = false
	}
	e.used = e.used[:0]
	for _, name := range nodes {
		e.gone[e.at[name]] = false
	}
	return o
}

// Places returns, by pod, the name of the node on which the last call of Remove put the pods of the
// removed nodes. It has the same arguments as that call.
func (e *Estimate) Places(loose map[*corev1.Pod]bool, nodes ...string) map[types.NamespacedName]string {
	places, out := slices.Clone(e.places), map[types.NamespacedName]string{}
	for _, name := range nodes {
		for _, p := range e.sites[e.at[name]].Pods {
			class, known := e.classAs(p, loose)
			at := slices.IndexFunc(places, func(l place) bool { return known && l.class == class && l.pods > 0 })
			if at >= 0 {
				places[at].pods--
				out[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = e.sites[places[at].node].Name
			}
		}
	}
	return out
}

// merge adds up the pods of each class, and sorts them by floor, the highest first.
func (e *Estimate) merge() {
	slices.SortFunc(e.pods, func(a, b Count) int { return cmp.Compare(a.Class, b.Class) })
	out := e.pods[:0]
	for _, p := range e.pods {
		if n := len(out); n > 0 && out[n-1].Class == p.Class {
			out[n-1].Pods += p.Pods
		} else {
			out = append(out, p)
		}
	}
	e.pods = out
	slices.SortStableFunc(e.pods, func(a, b Count) int {
		return cmp.Compare(e.classes[b.Class].floor, e.classes[a.Class].floor)
	})
}

// place puts pods of a class on nodes and returns the number of pods that are left.
func (e *Estimate) place(p Count) int32 {
	class := &e.classes[p.Class]
	from := 0
	for p.Pods > 0 {
		best, fit := e.tightestUsed(class, int64(p.Pods))
		fresh, position, n := e.tightest(class, int64(p.Pods), from)
		from = position
		if fresh >= 0 && (best < 0 || e.tighter(fresh, best)) {
			best, fit = fresh, n
		}
		if best < 0 {
			return p.Pods
		}
		e.take(best, class, fit)
		e.places = append(e.places, place{class: p.Class, node: int32(best), pods: int32(fit)})
		p.Pods -= int32(fit)
	}
	return 0
}

// tightestUsed returns the fullest node that takes pods of a class, among those whose room has
// changed, and how many it takes. The node is negative if there is none.
func (e *Estimate) tightestUsed(class *class, most int64) (node int, fit int64) {
	node = -1
	for _, u := range e.used {
		i := int(u)
		if n := e.takes(i, class, most); n > 0 && (node < 0 || e.tighter(i, node)) {
			node, fit = i, n
		}
	}
	return node, fit
}

// tightest is tightestUsed for the nodes whose room has not changed. It begins at position from of
// the order; the nodes at lower positions take no pods of the class. It also returns the position
// of the node.
func (e *Estimate) tightest(class *class, most int64, from int) (node, position int, fit int64) {
	if from == 0 {
		from, _ = slices.BinarySearchFunc(e.order, class.request[0], func(i int32, r int64) int {
			return cmp.Compare(e.sites[i].free[0], r)
		})
	}
	for at := from; at < len(e.order); at++ {
		i := int(e.order[at])
		if e.dirty[i] {
			continue
		}
		if n := e.takes(i, class, most); n > 0 {
			return i, at, n
		}
	}
	return -1, len(e.order), 0
}

// takes returns how many pods of a class a node takes, at most most.
func (e *Estimate) takes(i int, class *class, most int64) int64 {
	if e.gone[i] || e.shut[i] || !class.admits[e.sites[i].kind] {
		return 0
	}
	free := e.room[i]
	for d, r := range class.request {
		switch {
		case r <= 0:
		case free[d] < r:
			return 0
		case free[d] < r*most:
			most = free[d] / r
		}
	}
	if len(class.parts) == 0 {
		return most
	}
	if e.p.Rules.NodeExcluder(class.number, e.there[i]) != nil {
		return 0
	}
	return 1 // the next may not be allowed
}

func (e *Estimate) tighter(a, b int) bool {
	return cmp.Or(cmp.Compare(e.room[a][0], e.room[b][0]), cmp.Compare(a, b)) < 0
}

func (e *Estimate) take(node int, class *class, times int64) {
	if !e.dirty[node] {
		e.dirty[node] = true
		e.used = append(e.used, int32(node))
	}
	for d, r := range class.request {
		e.room[node][d] -= r * times
	}
	e.there[node] = pack.AddPods(e.there[node], 1, class.parts...) // with parts it is one pod
}
