package volume

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// LimitState says what a node publishes about the volumes of a driver.
type LimitState int

const (
	// LimitUnpublished: nothing, as the driver is not there or not there yet.
	// What is known of the instance type may stand in for it.
	LimitUnpublished LimitState = iota
	// LimitUnbounded: the driver is there, and names no limit.
	LimitUnbounded
	// LimitCounted: the driver is there and names a limit.
	LimitCounted
)

// csiNode is what a CSINode says.
type csiNode struct {
	limits   map[string]limit // by driver
	migrated []string         // plugins switched over to their drivers
}

type limit struct {
	state LimitState
	count int64
}

// newCSINode reads a CSINode. Of several entries for a driver the last with a
// count holds.
func newCSINode(n *storagev1.CSINode) csiNode {
	out := csiNode{limits: make(map[string]limit, len(n.Spec.Drivers))}
	for i := range n.Spec.Drivers {
		d := &n.Spec.Drivers[i]
		switch {
		case d.Allocatable != nil && d.Allocatable.Count != nil:
			out.limits[d.Name] = limit{LimitCounted, max(0, int64(*d.Allocatable.Count))}
		case out.limits[d.Name].state == LimitUnpublished:
			out.limits[d.Name] = limit{state: LimitUnbounded}
		}
	}
	if names := n.Annotations[corev1.MigratedPluginsAnnotationKey]; names != "" {
		out.migrated = strings.Split(names, ",")
	}
	return out
}

// Limit says how many volumes of a CSI driver the node can have attached in
// all, those included that are attached now. The number means something with
// LimitCounted only, and is zero otherwise.
func (x *Index) Limit(node, driver string) (int64, LimitState) {
	l := x.nodes[node].limits[driver]
	return l.count, l.state
}
