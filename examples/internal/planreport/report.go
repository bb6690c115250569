// Package planreport writes a plan of package provisioning down: as data that programs read, as a
// table, and in words for one pod or one new node.
package planreport

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
)

// schema names the form of the json and yaml output. Within v1 fields are
// added, but none is removed or changes its meaning.
const schema = "dovetail.whatif/v1"

// Report is a plan as it is printed. reference.md describes the fields; the table
// is drawn from them too, so that both say the same.
type Report struct {
	Schema   string        `json:"schema"`
	Verified bool          `json:"verified"`
	Cost     Cost          `json:"cost"`
	NewNodes []newNode     `json:"newNodes"`
	Bindings []binding     `json:"bindings"`
	Unplaced []UnplacedPod `json:"unplaced"`
	Input    inputCounts   `json:"input"`
	Stats    stats         `json:"stats"`

	Order       []string     `json:"order"`
	StaticPools []staticPool `json:"staticPools"`
	Buffers     []buffer     `json:"buffers"`
	Overlays    []overlay    `json:"overlays"`
}

// Cost is in USD per hour. Gap is USDPerHour over LowerBound less one; there is none
// where the bound is zero.
type Cost struct {
	USDPerHour float64  `json:"usdPerHour"`
	NodeCost   float64  `json:"nodeCostUSDPerHour,omitempty"` // the part that is not for instances
	LowerBound float64  `json:"lowerBoundUSDPerHour"`
	Gap        *float64 `json:"gap,omitempty"`
}

type newNode struct {
	Name             string                                    `json:"name"`
	NodePool         string                                    `json:"nodePool"`
	InstanceType     string                                    `json:"instanceType"`
	Zone             string                                    `json:"zone"`
	CapacityType     string                                    `json:"capacityType"`
	USDPerHour       float64                                   `json:"usdPerHour"`
	NodeCost         float64                                   `json:"nodeCostUSDPerHour,omitempty"`
	Utilization      *inventory.Utilization                    `json:"utilization,omitempty"`
	Requests         map[string]string                         `json:"requests"`
	DaemonRequests   map[string]string                         `json:"daemonRequests"`
	MinValuesRelaxed bool                                      `json:"minValuesRelaxed"`
	MissedMinValues  []missedMinValues                         `json:"missedMinValues,omitempty"`
	Requirements     []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Labels           map[string]string                         `json:"labels"`
	Pods             []podRef                                  `json:"pods"`
	OptionCount      int                                       `json:"optionCount"`
	Options          []option                                  `json:"options"`
}

// missedMinValues is a minValues of the pool that was lowered.
type missedMinValues struct {
	Key  string `json:"key"`
	Want int    `json:"want"`
	Have int    `json:"have"`
}

// option is one way to launch a node.
type option struct {
	InstanceType  string  `json:"instanceType"`
	Zone          string  `json:"zone"`
	CapacityType  string  `json:"capacityType"`
	ReservationID string  `json:"reservationID,omitempty"`
	USDPerHour    float64 `json:"usdPerHour"`
}

// binding is an existing node that takes pods. Utilization counts the pods it
// had and those it takes.
type binding struct {
	Node         string                 `json:"node"`
	NodePool     string                 `json:"nodePool,omitempty"`
	InstanceType string                 `json:"instanceType,omitempty"`
	Zone         string                 `json:"zone,omitempty"`
	CapacityType string                 `json:"capacityType,omitempty"`
	Utilization  *inventory.Utilization `json:"utilization,omitempty"`
	Pods         []podRef               `json:"pods"`
}

type podRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner     string `json:"workload"` // "Deployment/web"; what has no owner is "Pod/web-1"

	workload inventory.Workload
}

// UnplacedPod is a pod that stays pending, and why.
type UnplacedPod struct {
	podRef
	Reason reason `json:"reason"`
}

type reason struct {
	Cause         string         `json:"cause"`
	Message       string         `json:"message"`
	Detail        string         `json:"detail,omitempty"`
	NodePools     []poolReason   `json:"nodePools"`
	ExistingNodes map[string]int `json:"existingNodes,omitempty"`
}

type poolReason struct {
	NodePool   string      `json:"nodePool"`
	Cause      string      `json:"cause"`
	Message    string      `json:"message"`
	Detail     string      `json:"detail,omitempty"`
	Taints     []string    `json:"taints,omitempty"`
	Conflicts  []conflict  `json:"conflicts,omitempty"`
	Shortfalls []shortfall `json:"shortfalls,omitempty"`

	OptionCount int    `json:"optionCount,omitempty"`
	Steps       []step `json:"steps,omitempty"`
}

// step is a constraint that removed some of the ways to launch a node.
type step struct {
	Constraint string `json:"constraint"`
	Removed    int    `json:"removed"`
	Left       int    `json:"left"`
}

// conflict is a label on which the pool, or its instance types, and the pod
// disagree. Requirements are in the notation of package requirements.
type conflict struct {
	Key  string `json:"key"`
	Have string `json:"have"`
	Want string `json:"want"`
	Hint string `json:"hint,omitempty"`
}

// shortfall is a resource of which there is too little. Requested is by the
// pod and the DaemonSets together.
type shortfall struct {
	Resource     string `json:"resource"`
	Requested    string `json:"requested"`
	Daemons      string `json:"daemons"`
	Largest      string `json:"largest"`
	InstanceType string `json:"instanceType"`
}

// inputCounts says what was read.
type inputCounts struct {
	NodePools     int            `json:"nodePools"`
	InstanceTypes int            `json:"instanceTypes"`
	Nodes         int            `json:"nodes"`
	Pods          int            `json:"pods"`
	DaemonSets    int            `json:"daemonSets"`
	Ignored       map[string]int `json:"ignored"`
	Notes         []string       `json:"notes"`
}

type stats struct {
	Classes int `json:"classes"`
	Options int `json:"options"`
	Steps   int `json:"steps"`
}
