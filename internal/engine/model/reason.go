package model

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Cause is the kind of thing that keeps a pod from a node. Package provisioning says
// what each stands for.
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

// Step is one constraint on the way from all options of a pool to none.
type Step struct {
	Constraint string
	Removed    int
	Left       int
}

// Shortfall is a resource of which no instance type has enough.
type Shortfall struct {
	Resource     corev1.ResourceName
	Requested    int64
	Daemons      int64
	Largest      int64
	InstanceType string
}

// Unplaced is a pod that stays pending, and why.
type Unplaced struct {
	Pod    *corev1.Pod
	Reason *Reason
}

// Binding lists the pods that go to a node of the input.
type Binding struct {
	Node string
	Pods []*corev1.Pod
}

// NewNode is a node to launch: a provisioning.NewNode.
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
	Drivers          map[string][]string // of the devices its pods are to have, by instance type
}

// MissedMinValues is a minValues of a NodePool that the options of a new node fall
// short of.
type MissedMinValues struct {
	Key  string
	Want int
	Have int
}

// Stats says how large a problem was and how much work it took.
type Stats struct {
	Pods    int
	Classes int
	Options int
	Steps   int
}
