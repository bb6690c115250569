package model

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cause is the kind of reason for which a pod cannot go to a node. Package provisioning describes
// each.
type Cause string

// The causes.
const (
	CauseUnsupported     Cause = "Unsupported"
	CauseInvalid         Cause = "Invalid"
	CauseGated           Cause = "SchedulingGated"
	CauseDeleting        Cause = "Deleting"
	CauseOtherScheduler  Cause = "OtherScheduler"
	CauseNoNodePool      Cause = "NoNodePool"
	CauseNodePools       Cause = "NodePools"
	CauseSpread          Cause = "TopologySpread"
	CauseAffinity        Cause = "PodAffinity"
	CauseAntiAffinity    Cause = "PodAntiAffinity"
	CauseHostPorts       Cause = "HostPorts"
	CauseVolumes         Cause = "Volumes"
	CauseDevices         Cause = "Devices"
	CauseNotReady        Cause = "NotReady"
	CauseNoInstanceTypes Cause = "NoInstanceTypes"
	CauseTaints          Cause = "Taints"
	CauseRequirements    Cause = "Requirements"
	CauseInstanceTypes   Cause = "InstanceTypes"
	CauseOfferings       Cause = "Offerings"
	CauseResources       Cause = "Resources"
	CauseMinValues       Cause = "MinValues"
	CauseNodes           Cause = "Nodes"
	CauseReservations    Cause = "Reservations"
	CauseLimits          Cause = "Limits"
)

// Reason says why a pod stays pending.
type Reason struct {
	Cause         Cause
	Detail        string
	Pools         []PoolReason
	ExistingNodes map[Cause]int
}

// PoolReason says why one NodePool cannot launch a node for a pod.
type PoolReason struct {
	NodePool   string
	Cause      Cause
	Taints     []corev1.Taint
	Conflicts  []requirements.Conflict
	Shortfalls []Shortfall
	Detail     string
	Options    int
	Steps      []Step
}

// Step is one of the constraints that together exclude all options of a pool.
type Step struct {
	Constraint string
	Removed    int
	Left       int
}

// Shortfall is a resource of which no instance type has enough for a pod.
type Shortfall struct {
	Resource     corev1.ResourceName
	Requested    int64
	Daemons      int64
	Largest      int64
	InstanceType string
}

// Unplaced is a pod that stays pending, with the reason.
type Unplaced struct {
	Pod    *corev1.Pod
	Reason *Reason
}

// Binding lists the pods that go to one node of the input.
type Binding struct {
	Node  string
	Pods  []*corev1.Pod
	After []*corev1.Pod
}

// NewNode is a node to launch: provisioning.NewNode.
type NewNode struct {
	Name             string
	Pool             *v1.NodePool
	Requirements     requirements.Set
	Labels           map[string]string
	Options          []cloudprovider.LaunchOption
	Pods             []*corev1.Pod
	Requests         resources.List
	Daemons          resources.List
	MinValuesRelaxed bool
	Drivers          map[string][]string // by instance type: drivers of the devices that its pods will be allocated
}

// MissedMinValues is a minValues of a NodePool of which the options of a new node have too few
// values.
type MissedMinValues struct {
	Key  string
	Want int
	Have int
}

// Stats is the size of a problem and the work it took.
type Stats struct {
	Pods    int
	Classes int
	Options int
	Steps   int
}
