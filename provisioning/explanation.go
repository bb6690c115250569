package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cause is the kind of reason for which a node excludes a pod, or a plan gives a preference up: see
// GivenUpPreference. No cause is added or removed within a major version.
type Cause string

const (
	// CauseUnsupported: the pod uses a feature that the engine does not model;
	// Explanation.Detail names it.
	CauseUnsupported Cause = "Unsupported"
	// CauseInvalid: no node can take the pod, because its node selection contradicts itself or part
	// of the pod cannot be read.
	CauseInvalid Cause = "Invalid"
	// CauseGated: the pod has scheduling gates, which Explanation.Detail lists.
	CauseGated Cause = "SchedulingGated"
	// CauseDeleting: the pod is being deleted.
	CauseDeleting Cause = "Deleting"
	// CauseOtherScheduler: the pod is for a scheduler that
	// Options.SchedulerNames does not name; Explanation.Detail names it.
	CauseOtherScheduler Cause = "OtherScheduler"
	// CauseNoNodePool: there is no NodePool that may launch nodes.
	CauseNoNodePool Cause = "NoNodePool"
	// CauseNodePools: every NodePool refused the pod, each for a cause of its own in Explanation.Pools.
	CauseNodePools Cause = "NodePools"

	// CauseSpread: a topology spread constraint excludes the pod from every place with room. This
	// cause and the next two are used only if there is such a place, which the pod could have
	// without the constraint.
	CauseSpread Cause = "TopologySpread"
	// CauseAffinity: a required pod affinity term of the pod excludes it from every place with
	// room.
	CauseAffinity Cause = "PodAffinity"
	// CauseAntiAffinity: a required anti-affinity term, of the pod or of a pod in the same domain,
	// excludes it from every place with room.
	CauseAntiAffinity Cause = "PodAntiAffinity"
	// CauseHostPorts: another pod binds a host port of the pod already.
	CauseHostPorts Cause = "HostPorts"
	// CauseVolumes: a volume of the pod cannot be used, or not on these nodes. For a NodePool it is
	// used if the pool would have the labels that the pod itself requires.
	CauseVolumes Cause = "Volumes"
	// CauseDevices: the resource claims of the pod cannot be satisfied, or not on these nodes.
	CauseDevices Cause = "Devices"

	// CauseNotReady: the pool launches nothing now, because it is being deleted, not ready or
	// static.
	CauseNotReady Cause = "NotReady"
	// CauseNoInstanceTypes: the pool has no instance types, or its own requirements, which may
	// contradict each other, exclude all of them.
	CauseNoInstanceTypes Cause = "NoInstanceTypes"
	// CauseTaints: the pod does not tolerate a taint of the pool.
	CauseTaints Cause = "Taints"
	// CauseRequirements: pod and pool require different values of a label.
	CauseRequirements Cause = "Requirements"
	// CauseInstanceTypes: pod and pool agree, but no instance type has the labels that both
	// require.
	CauseInstanceTypes Cause = "InstanceTypes"
	// CauseOfferings: instance types are suitable, but no offering is available with the zone and
	// capacity type that the pod may use.
	CauseOfferings Cause = "Offerings"
	// CauseResources: no suitable instance type is large enough.
	CauseResources Cause = "Resources"
	// CauseMinValues: too few distinct values are left to satisfy a minValues
	// of the pool.
	CauseMinValues Cause = "MinValues"
	// CauseNodes: instance types are suitable and within limits, but constraints between pods
	// exclude them.
	CauseNodes Cause = "Nodes"
	// CauseReservations: only reserved capacity is suitable, and what the reservations have left
	// goes to other pods.
	CauseReservations Cause = "Reservations"
	// CauseLimits: the limits of the pool leave no room for another node.
	CauseLimits Cause = "Limits"
)

// Explanation says why a pod stays pending. String renders it on one line.
type Explanation struct {
	Cause Cause

	// Detail completes Cause, for example with the feature that is not supported or the requirement
	// that contradicts itself.
	Detail string

	// For CauseNodePools, Pools says why each NodePool refused the pod, in the order in which pools
	// were tried. For CauseSpread, CauseAffinity and CauseAntiAffinity it says what excludes a new
	// node in the domains that the constraint allows, and is empty if there are none. For other
	// causes, which are the same for all pools, it is empty.
	Pools []PoolExplanation

	// ExistingNodes is, by cause, the number of existing nodes that exclude the pod. If Cause is a
	// constraint between pods, only nodes in the domains that the constraint allows are counted.
	ExistingNodes map[Cause]int
}

// PoolExplanation says why one NodePool cannot launch a node for a pod. For a pod with several
// alternatives (ORed node selector terms) it describes the one that passed most checks.
type PoolExplanation struct {
	NodePool string
	Cause    Cause

	// Taints are the taints that are not tolerated, for CauseTaints.
	Taints []corev1.Taint
	// Conflicts are those between the requirements of the pool and of the pod, its volumes and its
	// resource claims, for CauseRequirements, CauseVolumes and CauseDevices.
	Conflicts []requirements.Conflict
	// Shortfalls are the resources missing, for CauseResources.
	Shortfalls []Shortfall
	// Detail completes Cause where the fields above do not.
	Detail string

	// Options is the number of ways in which the pool can launch a node. Filters lists, in order, how
	// many of them each constraint removes. The last filter is the one that left none, or another
	// cause that excludes the rest.
	Options int
	Filters []Filter
}

// Filter is one of the constraints that together exclude all options of a pool.
type Filter struct {
	Constraint string // for example "topology.kubernetes.io/zone = a"
	Removed    int    // number of options that it removes
	Left       int    // number of options left after it
}

// Shortfall is a resource of which no instance type has enough. If every resource is available in a
// sufficient amount on some type, but never all on one type, it is a resource of which the closest
// type has too little; the Detail of the PoolExplanation says so.
type Shortfall struct {
	Resource     corev1.ResourceName
	Requested    int64  // by the pod and the daemons of the node, in base units of package resources
	Daemons      int64  // the daemons' part of Requested
	Largest      int64  // allocatable of the best type that is suitable otherwise
	InstanceType string // the type with Largest
}
