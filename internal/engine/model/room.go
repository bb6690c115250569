package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Room is one node as it was read: its labels and taints, its capacity and what is used of it,
// without volumes and devices. It is read-only once a problem has been compiled, so problems with
// the same node share it.
type Room struct {
	Node
	Standing         LabelsAndTaints
	SoftTaints       []corev1.Taint // PreferNoSchedule taints
	Ready            bool           // it is initialised
	Leaves           bool           // it is being deleted
	BoundMemberships []int32        // membership kinds of its pods
	Constraining     []int32        // those of BoundMemberships whose constraints can exclude other pods
	Capacity         resources.List
	CapacityFault    error // why Capacity is not known; reported only where a limit needs it
	Allocatable      resources.List
	Taken            resources.List // by bound pods, and by daemons that are expected on the node
	Left             resources.List // Allocatable minus Taken
	Daemons          []int          // daemons that are expected and not there yet
}

// NewRoom reads a node. It fills the fields that depend on this node alone.
func NewRoom(n Node) *Room {
	return &Room{
		Node:       n,
		Standing:   LabelsAndTaints{Name: n.HostName(), Labels: n.Labels(), Taints: n.Taints()},
		SoftTaints: n.softTaints(),
		Ready:      n.Initialized(),
		Leaves:     n.Leaving(),
	}
}

// PoolName returns the name of the node's pool, "" if it has none.
func (r *Room) PoolName() string { return r.Standing.Labels[v1.NodePoolLabelKey] }

// Settling says whether the node is starting for the first time or rebooting.
func (r *Room) Settling() bool { return !r.Ready || r.rebooting() }

// ReadyLabels returns the labels that the node has once it has started. into is scratch space,
// filled on the first call.
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

// Rooms are the nodes of a problem, by name, with their rooms. A node that has not changed since
// the previous problem keeps its Room. Rooms are read-only once a problem has been compiled.
type Rooms struct {
	Nodes []Node
	Of    []*Room // by node
	Marks []Mark  // by node

	Changed []int   // nodes whose Room is not the one of the previous problem
	Read    []int   // those of them whose Room has to be read
	Others  []*Room // by node: its Room before the node last changed, nil if it has not

	// Free is, by node and by entry of Resources, what is left on the node if nothing else is
	// counted.
	Free      []int64
	Resources []corev1.ResourceName

	columns map[string]*LabelColumn // by label, for the labels that were asked for

	kept []run   // nodes whose Room comes from the previous problem
	gone []*Room // Rooms of the previous problem that are not in Of
	used map[string]PoolUse
}

// run is a sequence of unchanged nodes: count nodes from index at on, which had the indexes from
// was on in the previous problem.
type run struct{ at, was, count int }

// Mark holds the facts that loops over all nodes need, so that they need not read each Room.
type Mark uint8

const (
	Ready      Mark = 1 << iota // it is initialised
	Leaves                      // it is being deleted
	Tainted                     // it has hard taints
	Shunned                     // it has PreferNoSchedule taints
	Constrains                  // constraints of a pod on it can exclude other pods
	Coming                      // it is not registered, so its labels may change
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

// Mark computes the marks of all nodes. The memberships of bound pods must be known.
func (r *Rooms) Mark(before *Rooms) {
	r.Marks = make([]Mark, len(r.Nodes))
	if before != nil {
		CarryOver(r, r.Marks, before.Marks, 1)
	}
	for _, i := range r.Changed {
		r.Marks[i] = r.Of[i].mark()
	}
}

// CarryOver copies values of unchanged nodes from the previous problem, width values for each node.
func CarryOver[T any](r *Rooms, now, before []T, width int) {
	for _, k := range r.kept {
		copy(now[k.at*width:(k.at+k.count)*width], before[k.was*width:])
	}
}

// NewRooms returns the rooms of nodes, which may be in any order, and reports faults of the list.
// Of is nil for the nodes in Read. before is the previous problem, or nil; its rooms for which
// stale returns true are not reused.
//
// If both lists have the same order, an unchanged node costs the comparison of two pointers and a
// slice. Names are compared only where something has changed.
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
	out = &Rooms{Nodes: sorted, Of: make([]*Room, len(sorted)), Others: make([]*Room, len(sorted))} // the list has faults, so nothing is reused
	for i := range sorted {
		out.Changed, out.Read = append(out.Changed, i), append(out.Read, i)
	}
	return out
}

func newRooms(nodes []Node) *Rooms {
	return &Rooms{Nodes: make([]Node, 0, len(nodes)), Of: make([]*Room, 0, len(nodes)), Others: make([]*Room, 0, len(nodes))}
}

// follow reuses the rooms of unchanged nodes. It returns false if the changed nodes have faults or
// the list is not sorted by name.
func (r *Rooms) follow(nodes []Node, before *Rooms, stale func(*Room) bool) bool {
	next := 0 // index in before
	for i := range nodes {
		n := &nodes[i]
		if next == len(before.Nodes) || !SameNode(n, &before.Nodes[next]) {
			name := n.Name()
			if name == "" || slices.Contains(n.Pods, nil) || len(r.Nodes) > 0 && r.Nodes[len(r.Nodes)-1].Name() >= name {
				return false
			}
			for next < len(before.Nodes) && before.Nodes[next].Name() < name {
				r.gone = append(r.gone, before.Of[next])
				next++
			}
		}
		var known, other *Room
		kept := false
		if next < len(before.Nodes) {
			switch old := before.Of[next]; {
			case SameNode(n, &before.Nodes[next]) && !stale(old):
				known, other, kept = old, before.Others[next], true
				r.keep(i, next)
				next++
			case before.Nodes[next].Name() == n.Name():
				if o := before.Others[next]; o != nil && SameNode(n, &o.Node) {
					known = o
				}
				if old.Launched() {
					other = old
				}
				r.gone = append(r.gone, old)
				next++
			}
		}
		if !kept {
			r.Changed = append(r.Changed, i)
		}
		if known == nil {
			r.Read = append(r.Read, i)
		}
		r.Nodes, r.Of, r.Others = append(r.Nodes, *n), append(r.Of, known), append(r.Others, other)
	}
	r.gone = append(r.gone, before.Of[next:]...)
	return true
}

// keep records that node at is node was of the previous problem, unchanged.
func (r *Rooms) keep(at, was int) {
	if n := len(r.kept); n > 0 && r.kept[n-1].at+r.kept[n-1].count == at && r.kept[n-1].was+r.kept[n-1].count == was {
		r.kept[n-1].count++
		return
	}
	r.kept = append(r.kept, run{at, was, 1})
}

// SameNode says whether two nodes consist of the same objects, compared by pointer.
func SameNode(a, b *Node) bool {
	return a.Node == b.Node && a.NodeClaim == b.NodeClaim && SameList(a.Pods, b.Pods) && SameList(a.Ending, b.Ending)
}

// SameList says whether two lists have the same pointers in the same order.
func SameList[T any](a, b []*T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// apart says whether a NodeClaim may be listed apart from its Node. Only SortedNodes decides that;
// apart looks only at what has changed since the previous problem.
func (r *Rooms) apart() bool {
	claims, nodes := map[string]bool{}, map[string]bool{}
	changed := false
	same := func(i int) bool { _, found := slices.BinarySearch(r.Changed, i); return !found }
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Node == nil {
			claims[n.NodeClaim.Name], nodes[n.NodeClaim.Status.NodeName] = true, true
			changed = changed || !same(i)
		}
	}
	if len(claims) == 0 {
		return false
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Node == nil || !changed && same(i) {
			continue
		}
		if nodes[n.Node.Name] || n.NodeClaim != nil && claims[n.NodeClaim.Name] {
			return true
		}
	}
	return false
}

// PoolUse is the capacity of the nodes of a pool that are not terminating.
type PoolUse struct {
	Sum resources.List
	// Odd says that Sum is not known: some capacity is unreadable or negative, or the sum
	// overflows.
	Odd bool
}

// Used returns the capacity of the nodes of a pool that are not terminating. All rooms must have
// been read.
func (r *Rooms) Used(pool string) PoolUse { return r.used[pool] }

// SumUp computes the use of all pools, starting from that of the previous problem.
func (r *Rooms) SumUp(before *Rooms) {
	r.used = map[string]PoolUse{}
	if before != nil {
		r.used = maps.Clone(before.used)
	}
	for _, room := range r.gone {
		r.count(room, resources.List.Sub)
	}
	for _, i := range r.Changed {
		r.count(r.Of[i], resources.List.Add)
	}
}

// Close drops what only the compilation of the problem needed.
func (r *Rooms) Close() { r.Changed, r.Read, r.kept, r.gone = nil, nil, nil, nil }

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
