package scenario

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Plan is an answer to a Scenario, and what it took to find.
type Plan struct {
	// Contender names who made the plan, with its version.
	Contender string `json:"contender"`
	// Scenario is the name of the scenario that it answers.
	Scenario string `json:"scenario"`

	// SolveSeconds, SetupSeconds and TruncateSeconds are wall time, an entry
	// for each repetition. Setup is everything from parsed objects to a solver
	// that is ready; solve is the decision alone; truncate is what has to
	// follow it before nodes can be launched, where a contender has such a
	// step.
	SolveSeconds    []float64 `json:"solveSeconds"`
	SetupSeconds    []float64 `json:"setupSeconds"`
	TruncateSeconds []float64 `json:"truncateSeconds,omitempty"`
	// AllocBytes and Allocs count what one solve allocates.
	AllocBytes uint64 `json:"allocBytes"`
	Allocs     uint64 `json:"allocs"`

	// Bound is a floor under the cost of new nodes that the contender proved,
	// in USD per hour; 0 if it has none.
	Bound float64 `json:"bound,omitempty"`

	// NewNodeClaims are the nodes to launch.
	NewNodeClaims []NewNodeClaim `json:"newNodeClaims"`
	// ExistingNodes are the nodes that take pods.
	ExistingNodes []ExistingNode `json:"existingNodes"`
	// PlacementOrder lists the placed pods in an order in which all rules
	// between them hold at each turn. Nil if the contender has no such order.
	PlacementOrder []string `json:"placementOrder,omitempty"`
	// Errors says of each pod that stays pending why.
	Errors map[string]string `json:"errors,omitempty"`
}

// NewNodeClaim is a node to launch. Whatever the requirements and the instance
// types together allow will do.
type NewNodeClaim struct {
	// NodePool is the name of its pool.
	NodePool string `json:"nodePool"`
	// Requirements bound its labels: zone, capacity type, architecture.
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	// InstanceTypes are the types that it may become, cheapest first if the
	// contender orders them.
	InstanceTypes []string          `json:"instanceTypes"`
	Taints        []corev1.Taint    `json:"taints,omitempty"`
	StartupTaints []corev1.Taint    `json:"startupTaints,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	// Pods are those it is for, in the order of placement if there is one.
	Pods []string `json:"pods"`
}

// ExistingNode lists the pending pods that go to a node that exists.
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
