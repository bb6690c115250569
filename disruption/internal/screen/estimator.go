package screen

import (
	"cmp"
	"slices"
)

// Estimator makes estimates. It reuses memory between calls, so it is not safe for concurrent use.
type Estimator struct {
	c      *Cluster
	order  []int32 // nodes that take pods, the fullest first
	room   [][]int64
	there  []AntiAffinity
	gone   []bool
	shut   []bool // set by Shut
	pods   []Count
	rest   []Count
	places []Place
	used   []change // nodes whose room differs from the cluster's
	dirty  []bool
}

// change is a node with its previous room.
type change struct {
	node int32
	free []int64
}

// NewEstimator returns an estimator for a cluster.
func NewEstimator(c *Cluster) *Estimator {
	e := &Estimator{c: c, room: make([][]int64, len(c.Nodes)), there: make([]AntiAffinity, len(c.Nodes)),
		gone: make([]bool, len(c.Nodes)), shut: make([]bool, len(c.Nodes)), dirty: make([]bool, len(c.Nodes))}
	for i := range c.Nodes {
		if c.Nodes[i].Free != nil {
			e.there[i] = AntiAffinity{Of: slices.Clone(c.Nodes[i].There.Of), Excludes: slices.Clone(c.Nodes[i].There.Excludes)}
			e.room[i] = slices.Clone(c.Nodes[i].Free)
			e.order = append(e.order, int32(i))
		}
	}
	slices.SortFunc(e.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(e.room[a][0], e.room[b][0]), cmp.Compare(a, b))
	})
	return e
}

// Remove estimates where the pods of some nodes go if the nodes, given by number, are removed
// together. The cluster does not change.
//
// The classes whose pods cost most on new nodes, by the lower bound of the estimate, come first.
// The pods of each class go to the nodes with the least room in the first dimension; of equal
// nodes, to the one with the lower number.
func (e *Estimator) Remove(nodes ...int) Outcome { return e.RemoveWith(nil, nodes...) }

// Shut makes nodes, given by number, take no pods. Each call replaces the nodes of the call before.
func (e *Estimator) Shut(nodes ...int) {
	clear(e.shut)
	for _, i := range nodes {
		e.shut[i] = true
	}
}

// RemoveWith is Remove with some pods counted in other classes than their own.
func (e *Estimator) RemoveWith(swaps []Swap, nodes ...int) Outcome {
	var o Outcome
	e.pods, e.rest, e.places = e.pods[:0], e.rest[:0], e.places[:0]
	for _, i := range nodes {
		if e.gone[i] {
			continue
		}
		e.gone[i] = true
		o.Price += e.c.Nodes[i].Price
		e.pods = append(e.pods, e.c.Nodes[i].Pods...)
	}
	for _, s := range swaps {
		e.pods = append(e.pods, Count{Class: s.Own, Pods: -1}, Count{Class: s.Other, Pods: 1})
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
			o.Floor += float64(left) * e.c.Classes[p.Class].Floor
			e.rest = append(e.rest, Count{Class: p.Class, Pods: left})
		}
	}
	if len(e.rest) > 0 {
		o.Rest = e.rest
	}
	for _, s := range e.used {
		copy(e.room[s.node], s.free)
		copy(e.there[s.node].Of, e.c.Nodes[s.node].There.Of)
		copy(e.there[s.node].Excludes, e.c.Nodes[s.node].There.Excludes)
		e.dirty[s.node] = false
	}
	e.used = e.used[:0]
	for _, i := range nodes {
		e.gone[i] = false
	}
	return o
}

// Places returns where the last estimate put the pods that fit. It is valid until the next
// estimate.
func (e *Estimator) Places() []Place { return e.places }

// merge adds up the pods of each class, and sorts them by floor, the highest first.
func (e *Estimator) merge() {
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
		return cmp.Compare(e.c.Classes[b.Class].Floor, e.c.Classes[a.Class].Floor)
	})
}

// place puts pods of a class on nodes and returns the number of pods that are left.
func (e *Estimator) place(p Count) int32 {
	class := &e.c.Classes[p.Class]
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
		e.places = append(e.places, Place{Class: p.Class, Node: int32(best), Pods: int32(fit)})
		p.Pods -= int32(fit)
	}
	return 0
}

// tightestUsed returns the fullest node that takes pods of a class, among those whose room has
// changed, and how many it takes. The node is negative if there is none.
func (e *Estimator) tightestUsed(class *Class, most int64) (node int, fit int64) {
	node = -1
	for _, u := range e.used {
		i := int(u.node)
		if n := e.takes(i, class, most); n > 0 && (node < 0 || e.tighter(i, node)) {
			node, fit = i, n
		}
	}
	return node, fit
}

// tightest is tightestUsed for the nodes whose room has not changed. It begins at position from of
// the order; the nodes at lower positions take no pods of the class. It also returns the position
// of the node.
func (e *Estimator) tightest(class *Class, most int64, from int) (node, position int, fit int64) {
	if from == 0 {
		from, _ = slices.BinarySearchFunc(e.order, class.Request[0], func(i int32, r int64) int {
			return cmp.Compare(e.c.Nodes[i].Free[0], r)
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
func (e *Estimator) takes(i int, class *Class, most int64) int64 {
	if e.gone[i] || e.shut[i] || !class.Admits[e.c.Nodes[i].Kind] {
		return 0
	}
	if !class.AntiAffinity.compatible(e.there[i]) {
		return 0
	}
	if class.AntiAffinity.Alone() {
		most = 1
	}
	free := e.room[i]
	for d, r := range class.Request {
		switch {
		case r <= 0:
		case free[d] < r:
			return 0
		case free[d] < r*most:
			most = free[d] / r
		}
	}
	return most
}

func (e *Estimator) tighter(a, b int) bool {
	return cmp.Or(cmp.Compare(e.room[a][0], e.room[b][0]), cmp.Compare(a, b)) < 0
}

func (e *Estimator) take(node int, class *Class, times int64) {
	free := e.room[node]
	if !e.dirty[node] {
		e.dirty[node] = true
		if n := len(e.used); n < cap(e.used) { // reuse the memory of an earlier call
			e.used = e.used[:n+1]
			e.used[n].node, e.used[n].free = int32(node), append(e.used[n].free[:0], free...)
		} else {
			e.used = append(e.used, change{int32(node), slices.Clone(free)})
		}
	}
	for d, r := range class.Request {
		free[d] -= r * times
	}
	for i, of := range class.AntiAffinity.Of {
		e.there[node].Of[i] |= of
		e.there[node].Excludes[i] |= class.AntiAffinity.Excludes[i]
	}
}
