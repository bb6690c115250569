package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Room is a node as it was read: who may run there, what it has and what is taken of it,
// without the volumes and devices that are counted like resources. It is not written once a
// problem has been compiled, so that all problems with the same node share it.
type Room struct {
	Node
	Standing         LabelsAndTaints
	SoftTaints       []corev1.Taint // that pods would rather not have
	Ready            bool           // it is initialised
	Leaves           bool           // it is on its way out
	BoundMemberships []int32        // the kinds of its pods
	Constraining     []int32        // those of them that keep others away
	Capacity         resources.List
	CapacityFault    error // why there is no capacity: of matter where a limit counts it
	Allocatable      resources.List
	Taken            resources.List // by bound pods, and by daemons that are still to come
	Left             resources.List // allocatable less taken
	Daemons          []int          // those that are still to come
}

// NewRoom reads what does not depend on others.
func NewRoom(n Node) *Room {
	return &Room{
		Node:       n,
		Standing:   LabelsAndTaints{Name: n.HostName(), Labels: n.Labels(), Taints: n.Taints()},
		SoftTaints: n.softTaints(),
		Ready:      n.Initialized(),
		Leaves:     n.Leaving(),
	}
}

// PoolName is the pool that the node belongs to, if any.
func (r *Room) PoolName() string { return r.Standing.Labels[v1.NodePoolLabelKey] }

// Settling says whether the node has not started so far, or is starting again.
func (r *Room) Settling() bool { return !r.Ready || r.rebooting() }

// ReadyLabels are those of the node once it has started. into is scratch space
// that is filled on the first call.
func (r *Room) ReadyLabels(into map[string]string) map[string]string {
	if !r.Settling() {
		return r.Standing.Labels
	}
	if len(into) == 0 {
		maps.Copy(into, r.Standing.Labels)
		into[v1.NodeRegisteredLabelKey] = "true"
		into[v1.NodeInitializedLabelKey] = "true"
	}
	return into
}

// Rooms are the nodes of a problem, by name, each with its room: that of the problem
// before, where the node is as it was. They are not written once a problem has been
// compiled.
type Rooms struct {
	Nodes []Node
	Of    []*Room // by node
	Marks []Mark  // by node
	Read  []int   // the nodes whose room is not that of the problem before

	// Free is what is left on each node of some resources, if nothing else is counted.
	Free      []int64
	Resources []corev1.ResourceName

	columns map[string]*LabelColumn // by label that was asked about

	kept []run   // the nodes whose room is
	gone []*Room // of the problem before: those that are not among Of
	used map[string]PoolUse
}

// run is nodes in a row that are as they were: so many from at on, which in the problem
// before were those from was on.
type run struct{ at, was, count int }

// Mark is what loops over all nodes ask of each, so that they need not look at its room.
type Mark uint8

const (
	Ready      Mark = 1 << iota // it is initialised
	Leaves                      // it is on its way out
	Tainted                     // it has taints that pods must tolerate
	Shunned                     // it has taints that pods would rather not have
	Constrains                  // a pod there keeps others away
	Coming                      // it may yet get labels, as it is not registered
)

func (r *Room) mark() (out Mark) {
	for _, m := range []struct {
		mark Mark
		is   bool
	}{{Ready, r.Ready}, {Leaves, r.Leaves}, {Tainted, len(r.Standing.Taints) > 0}, {Shunned, len(r.SoftTaints) > 0}, {Constrains, len(r.Constraining) > 0}, {Coming, r.NodeClaim != nil && !r.Registered()}} {
		if m.is {
			out |= m.mark
		}
	}
	return out
}

// Mark marks the nodes, once the kinds of their pods are known.
func (r *Rooms) Mark(before *Rooms) {
	r.Marks = make([]Mark, len(r.Nodes))
	if before != nil {
		CarryOver(r, r.Marks, before.Marks, 1)
	}
	for _, i := range r.Read {
		r.Marks[i] = r.Of[i].mark()
	}
}

// CarryOver copies what is known of the nodes that are as they were, of which there are so
// many values of each.
func CarryOver[T any](r *Rooms, now, before []T, width int) {
	for _, k := range r.kept {
		copy(now[k.at*width:(k.at+k.count)*width], before[k.was*width:])
	}
}

// NewRooms returns the rooms of nodes, in any order, and reports what is wrong with the
// list. Those of Read are nil. before may be nil, and the rooms there that may not be
// taken over are told by stale.
//
// It compares two pointers and a slice for each node that is as it was, where both are in
// one order; names are looked at only where something has changed.
func NewRooms(nodes []Node, before *Rooms, stale func(*Room) bool, f *Faults) *Rooms {
	if before == nil {
		before = &Rooms{}
	} else if out := newRooms(nodes); out.follow(nodes, before, stale) && !out.apart() {
		return out
	}
	sorted := SortedNodes(nodes, f)
	out := newRooms(sorted)
	if out.follow(sorted, before, stale) {
		return out
	}
	out = &Rooms{Nodes: sorted, Of: make([]*Room, len(sorted))} // at fault
	for i := range sorted {
		out.Read = append(out.Read, i)
	}
	return out
}

func newRooms(nodes []Node) *Rooms {
	return &Rooms{Nodes: make([]Node, 0, len(nodes)), Of: make([]*Room, 0, len(nodes))}
}

// follow takes over what is known of nodes, and says whether these are sound as far as
// they are not known, and by name.
func (r *Rooms) follow(nodes []Node, before *Rooms, stale func(*Room) bool) bool {
	next := 0 // of before
	for i := range nodes {
		n := &nodes[i]
		if next == len(before.Nodes) || !same(n, &before.Nodes[next]) {
			name := n.Name()
			if name == "" || slices.Contains(n.Pods, nil) || len(r.Nodes) > 0 && r.Nodes[len(r.Nodes)-1].Name() >= name {
				return false
			}
			for next < len(before.Nodes) && before.Nodes[next].Name() < name {
				r.gone = append(r.gone, before.Of[next])
				next++
			}
		}
		var known *Room
		if next < len(before.Nodes) {
			switch old := before.Of[next]; {
			case same(n, &before.Nodes[next]) && !stale(old):
				known = old
				r.keep(i, next)
				next++
			case before.Nodes[next].Name() == n.Name():
				r.gone = append(r.gone, old)
				next++
			}
		}
		if known == nil {
			r.Read = append(r.Read, i)
		}
		r.Nodes, r.Of = append(r.Nodes, *n), append(r.Of, known)
	}
	r.gone = append(r.gone, before.Of[next:]...)
	return true
}

// keep notes that a node is as it was.
func (r *Rooms) keep(at, was int) {
	if n := len(r.kept); n > 0 && r.kept[n-1].at+r.kept[n-1].count == at && r.kept[n-1].was+r.kept[n-1].count == was {
		r.kept[n-1].count++
		return
	}
	r.kept = append(r.kept, run{at, was, 1})
}

// same says whether nodes are made of the same objects.
func same(a, b *Node) bool {
	return a.Node == b.Node && a.NodeClaim == b.NodeClaim && SameList(a.Pods, b.Pods)
}

// SameList says whether lists have the same objects in the same order.
func SameList[T any](a, b []*T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// apart says whether a NodeClaim may be listed beside its Node, as far as that is not
// known of the problem before. SortedNodes tells.
func (r *Rooms) apart() bool {
	claims, nodes := map[string]bool{}, map[string]bool{}
	changed := false
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Node == nil {
			claims[n.NodeClaim.Name], nodes[n.NodeClaim.Status.NodeName] = true, true
			changed = changed || r.Of[i] == nil
		}
	}
	if len(claims) == 0 {
		return false
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Node == nil || !changed && r.Of[i] != nil {
			continue
		}
		if nodes[n.Node.Name] || n.NodeClaim != nil && claims[n.NodeClaim.Name] {
			return true
		}
	}
	return false
}

// PoolUse is what the nodes of a pool have that are not on their way out.
type PoolUse struct {
	Sum resources.List
	// Odd says that the sum is not known, as some capacity cannot be read or is less than
	// nothing, or there is too much of it.
	Odd bool
}

// Used is what the nodes of a pool have that are not on their way out. All rooms must
// have been read.
func (r *Rooms) Used(pool string) PoolUse { return r.used[pool] }

// SumUp works out what pools have, from what they had in the problem before.
func (r *Rooms) SumUp(before *Rooms) {
	r.used = map[string]PoolUse{}
	if before != nil {
		r.used = maps.Clone(before.used)
	}
	for _, room := range r.gone {
		r.count(room, resources.List.Sub)
	}
	for _, i := range r.Read {
		r.count(r.Of[i], resources.List.Add)
	}
}

// Close lets go of what compiling the problem took from the one before.
func (r *Rooms) Close() { r.Read, r.kept, r.gone = nil, nil, nil }

func (r *Rooms) count(room *Room, by func(a, b resources.List) (resources.List, error)) {
	pool := room.PoolName()
	if pool == "" || room.Leaves {
		return
	}
	use := r.used[pool]
	sum, err := by(use.Sum, room.Capacity.With(NodesResource, 1))
	use.Sum, use.Odd = sum, use.Odd || err != nil || room.CapacityFault != nil || len(room.Capacity.Negative()) > 0
	r.used[pool] = use
}
