package scenario

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Plan is an answer to a Scenario, with the time and memory that it took.
type Plan struct {
	// Contender names who made the plan, with its version.
	Contender string `json:"contender"`
	// Scenario is the name of the scenario that the plan answers.
	Scenario string `json:"scenario"`

	// SolveSeconds, SetupSeconds and TruncateSeconds are wall time, with one entry for each
	// repetition. Set-up is everything from parsed objects to a solver that is ready. Solve is the
	// decision alone. Truncate is the step between the decision and the launch of nodes, if the
	// contender has one.
	SolveSeconds    []float64 `json:"solveSeconds"`
	SetupSeconds    []float64 `json:"setupSeconds"`
	TruncateSeconds []float64 `json:"truncateSeconds,omitempty"`
	// AllocBytes and Allocs are the bytes and objects that one solve allocates.
	AllocBytes uint64 `json:"allocBytes"`
	Allocs     uint64 `json:"allocs"`

	// Bound is a lower bound on the cost of new nodes that the contender proved, in USD per hour; 0
	// if it has none.
	Bound float64 `json:"bound,omitempty"`

	// NewNodeClaims are the nodes to launch.
	NewNodeClaims []NewNodeClaim `json:"newNodeClaims"`
	// ExistingNodes are the nodes that take pods.
	ExistingNodes []ExistingNode `json:"existingNodes"`
	// PlacementOrder lists the placed pods in an order of binding in which no pod breaks a rule at
	// its turn. Nil if the contender has no such order.
	PlacementOrder []string `json:"placementOrder,omitempty"`
	// Errors gives the reason for each pod that stays pending, by PodKey.
	Errors map[string]string `json:"errors,omitempty"`
}

// NewNodeClaim is a node to launch. The requirements and the instance types together say what may
// be launched.
type NewNodeClaim struct {
	// NodePool is the name of its pool.
	NodePool string `json:"nodePool"`
	// Requirements restrict the labels of the node: zone, capacity type, architecture.
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	// InstanceTypes are the types that the node may become, cheapest first if the contender orders
	// them.
	InstanceTypes []string          `json:"instanceTypes"`
	Taints        []corev1.Taint    `json:"taints,omitempty"`
	StartupTaints []corev1.Taint    `json:"startupTaints,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	// Pods are the pods of the node, by PodKey, in the order of placement if there is one.
	Pods []string `json:"pods"`
}

// ExistingNode lists the pending pods that are bound to an existing node.
type ExistingNode struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// Placed returns the number of pods on new nodes and on existing ones.
func (p *Plan) Placed() (onNew, onExisting int) {
	for _, c := range p.NewNodeClaims {
		onNew += len(c.Pods)
	}
	for _, n := range p.ExistingNodes {
		onExisting += len(n.Pods)
	}
	return onNew, onExisting
}
