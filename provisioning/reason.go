package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cause is the kind of thing that keeps a pod from a node, or a plan from following a preference:
// see GivenUpPreference. The set is closed within a major version.
type Cause string

const (
	// CauseUnsupported: the pod uses a feature that the engine does not model;
	// Reason.Detail names it.
	CauseUnsupported Cause = "Unsupported"
	// CauseInvalid: the pod itself cannot be scheduled anywhere, as its node
	// selection contradicts itself or something in it cannot be read.
	CauseInvalid Cause = "Invalid"
	// CauseGated: the pod has scheduling gates, which Reason.Detail lists.
	CauseGated Cause = "SchedulingGated"
	// CauseDeleting: the pod is being deleted.
	CauseDeleting Cause = "Deleting"
	// CauseOtherScheduler: the pod is for a scheduler that
	// Options.SchedulerNames does not name; Reason.Detail names it.
	CauseOtherScheduler Cause = "OtherScheduler"
	// CauseNoNodePool: there is no NodePool that may launch nodes.
	CauseNoNodePool Cause = "NoNodePool"
	// CauseNodePools: every NodePool refused the pod, each for a reason of its
	// own listed in Reason.Pools.
	CauseNodePools Cause = "NodePools"

	// CauseSpread: a topology spread constraint keeps the pod out of every
	// place that has room. This cause and the next two are named only if there is such
	// a place, which the pod could have without the constraint.
	CauseSpread Cause = "TopologySpread"
	// CauseAffinity: a required pod affinity term of the pod does.
	CauseAffinity Cause = "PodAffinity"
	// CauseAntiAffinity: a required anti-affinity term does, of the pod or of
	// a pod that is there.
	CauseAntiAffinity Cause = "PodAntiAffinity"
	// CauseHostPorts: a pod that is there binds a port that the pod binds too.
	CauseHostPorts Cause = "HostPorts"
	// CauseVolumes: a volume of the pod cannot be used, or not there. Of a NodePool it
	// says so where the pool would have the labels that the pod itself asks for.
	CauseVolumes Cause = "Volumes"
	// CauseDevices: the resource claims of the pod cannot be met, or not there.
	CauseDevices Cause = "Devices"

	// CauseNotReady: the pool launches nothing now: it is being deleted, not
	// ready or static.
	CauseNotReady Cause = "NotReady"
	// CauseNoInstanceTypes: the pool has no catalog, or its own requirements
	// leave nothing of it, as where they contradict each other.
	CauseNoInstanceTypes Cause = "NoInstanceTypes"
	// CauseTaints: the pod does not tolerate a taint of the pool.
	CauseTaints Cause = "Taints"
	// CauseRequirements: the pod and the pool ask for different labels.
	CauseRequirements Cause = "Requirements"
	// CauseInstanceTypes: pool and pod agree, but no instance type has the
	// labels both ask for.
	CauseInstanceTypes Cause = "InstanceTypes"
	// CauseOfferings: instance types would do, but none is available where and
	// how the pod may run.
	CauseOfferings Cause = "Offerings"
	// CauseResources: no instance type left is large enough.
	CauseResources Cause = "Resources"
	// CauseMinValues: too few distinct values are left to satisfy a minValues
	// of the pool.
	CauseMinValues Cause = "MinValues"
	// CauseNodes: instance types would do, and no limit is in the way, but
	// constraints between pods leave none.
	CauseNodes Cause = "Nodes"
	// CauseReservations: only reserved capacity would do, and what the
	// reservations have left goes to other pods.
	CauseReservations Cause = "Reservations"
	// CauseLimits: the limits of the pool leave no room for another node.
	CauseLimits Cause = "Limits"
)

// Reason says why a pod stays pending. String renders it as one line.
type Reason struct {
	Cause Cause

	// Detail completes Cause: the feature that is not supported, the
	// requirement that contradicts itself.
	Detail string

	// Pools says why each NodePool refused, in the order they were tried, for
	// CauseNodePools. For CauseSpread, CauseAffinity and CauseAntiAffinity it says what
	// is in the way of a new node where the constraint lets the pod, and is empty if
	// that is nowhere. It is empty for other causes, which hold whatever the pool.
	Pools []PoolReason

	// ExistingNodes counts the nodes that were looked at and had no place for
	// the pod, by what each refused it for: where a constraint between pods lets it, if
	// Cause is one.
	ExistingNodes map[Cause]int
}

// PoolReason says why one NodePool cannot launch a node for a pod. Of a pod
// with several alternatives (ORed node selector terms) it describes the one
// that came furthest.
type PoolReason struct {
	NodePool string
	Cause    Cause

	// Taints that are not tolerated, for CauseTaints.
	Taints []corev1.Taint
	// Conflicts between what the pool and the pod ask for, its volumes and
	// resource claims too, for CauseRequirements, CauseVolumes and CauseDevices.
	Conflicts []requirements.Conflict
	// Shortfalls by resource, for CauseResources.
	Shortfalls []Shortfall
	// Detail completes Cause in words where the fields above do not.
	Detail string

	// Options is how many ways the pool has to launch a node, and Steps says in
	// order what removed how many of them. Steps ends with the one that left
	// none, or with what else was in the way.
	Options int
	Steps   []Step
}

// Step is one constraint on the way from all options of a pool to none.
type Step struct {
	Constraint string // in words, such as "topology.kubernetes.io/zone = a"
	Removed    int    // options it removed of those that were left
	Left       int    // options that were left then
}

// Shortfall is a resource of which no instance type has enough. Where each
// resource could be had, but no type has enough of all, it is one of which the
// type that comes closest has not enough; the Detail of the PoolReason says so.
type Shortfall struct {
	Resource     corev1.ResourceName
	Requested    int64  // by the pod and the daemons of the node, in the units of package resources
	Daemons      int64  // the daemons' part of Requested
	Largest      int64  // allocatable of the best type that is otherwise suitable
	InstanceType string // that type
}
