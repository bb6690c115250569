package model

import (
	"maps"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Rooms are what is known of the room on each node, by name. They are not
// written after a problem has been compiled, so that all what-ifs on it can share
// them.
type Rooms struct {
	base  map[string]Room // of the first problem
	since map[string]Room // read by what-ifs since: of nodes that are not as they were
}

// With returns the rooms with those that have been read since.
func (r *Rooms) With(read map[string]Room) *Rooms {
	switch {
	case r == nil:
		return &Rooms{base: read}
	case len(read) == 0:
		return r
	case len(r.base) == 0:
		return &Rooms{base: read}
	}
	out := &Rooms{base: r.base, since: maps.Clone(r.since)}
	if out.since == nil {
		out.since = read
		return out
	}
	maps.Copy(out.since, read)
	return out
}

// Room is what a node has and what is taken of it, without the volumes and
// devices that are counted like resources.
type Room struct {
	Node        Node // as it was looked at
	Standing    LabelsAndTaints
	Ready       bool // it is initialised
	Leaves      bool // it is on its way out
	Capacity    resources.List
	Allocatable resources.List
	Taken       resources.List // by bound pods, and by daemons that are still to come
	Left        resources.List // allocatable less taken
	Absent      []int          // the daemons that are still to come
}

// PoolName is the pool that the node belongs to, if any.
func (r *Room) PoolName() string { return r.Standing.Labels[v1.NodePoolLabelKey] }

// Find returns what is known of a node that is the same as it was then.
func (r *Rooms) Find(n Node) (Room, bool) {
	if r == nil {
		return Room{}, false
	}
	known, ok := r.since[n.Name()]
	if !ok {
		known, ok = r.base[n.Name()]
	}
	same := ok && known.Node.Node == n.Node && known.Node.NodeClaim == n.NodeClaim && len(known.Node.Pods) == len(n.Pods) &&
		(len(n.Pods) == 0 || &known.Node.Pods[0] == &n.Pods[0])
	return known, same
}
