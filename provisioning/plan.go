package provisioning

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/solve"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Plan is the result for an Input: every pod of Input.Pods is in exactly one of Create, Bind,
// Unplaced and the Pods of Static. A Plan is data, and nothing of it is carried out yet. It shares
// memory with the Input and between its nodes, so treat it as read-only.
type Plan struct {
	// Create lists the nodes to launch: by pool in the order in which pools are tried, then by
	// descending price, then by the name of the first pod.
	Create []NewNode

	// Bind lists the existing nodes that get pods, sorted by node name.
	Bind []Binding

	// Unplaced lists the pods that stay pending, sorted by namespace and name.
	Unplaced []Unplaced

	// GivenUp lists the preferences that the nodes of pods do not satisfy, with the causes: one
	// entry for pods that are equal, sorted by the first of Pods and then in the order in which the
	// pod lists its preferences. A pod may be in several entries. It is nil with Preferences
	// Ignore, and pods of buffers are left out because they do not exist.
	GivenUp []GivenUpPreference

	// Order lists the pods of Create, Bind and Static in an order in which kube-scheduler may bind
	// them one by one: each constraint between pods (topology spread, affinity) is satisfied when
	// the pod that has it is bound, whichever of its options each new node is launched by.
	Order []*corev1.Pod

	// Static lists how many nodes static NodePools (those with spec.replicas) lack or have too
	// many, sorted by pool. Missing nodes get pods.
	Static []StaticPool

	// Buffers says where the pods of each of Input.Buffers fit, sorted by namespace and name.
	Buffers []BufferStatus

	// Overlays says what each of Input.Overlays changed, sorted by name.
	Overlays []overlay.Status

	// Cost is the total price of Create at each node's cheapest option, in USD per hour, by the
	// prices that the engine compares: adjustments by Input.Overlays and Offering.NodeCost are
	// included. So it is not the bill if an overlay expresses a preference.
	Cost float64

	// LowerBound is a proven lower bound on Cost, in USD per hour: no valid plan (see package
	// verify) that places the same pods costs less, whatever its other choices: which pods go to
	// existing nodes and which use reservations; over which zones and other domains pods are
	// spread, and where they are kept together or apart; how many of them are on a node; which
	// preferences are satisfied; and which nodes are launched. Two choices are fixed: pools of
	// lower weight launch nodes for pods only if pools of higher weight, or their limits, leave no
	// room, though other pods may use a node of a pod that no pool of higher weight can take; and
	// as many pods of a group are kept off spot capacity for Options.CapacityMix as in this plan.
	//
	// It comes from relaxations in which each pod has its own requirements on its node, nodes may
	// be split, and of constraints between pods only required anti-affinity over the hostname and
	// host ports count. Pods that can share no node, such as pods of different zones, have separate
	// nodes there too, and these are whole if there are few distinct prices. If nodes were the only
	// choice of Solve, it equals PackingBound. It is 0 if some option is free, and with
	// Options.NoBounds.
	LowerBound float64

	// PackingBound is a lower bound on the cost of the new nodes in USD per hour, given what this
	// plan chose before packing: which pods go to existing nodes, to which domains, with which
	// preferences, and at most how many on a node. Cost over PackingBound shows how well the nodes
	// were packed, and PackingBound over LowerBound what those choices may have cost. It is at
	// least LowerBound and at most Cost. If new nodes were removed again, which changes those
	// choices, it equals LowerBound. It is 0 with Options.NoBounds.
	PackingBound float64

	// ObjectiveBound is a proven lower bound on the value by which plans are compared: Cost plus
	// Options.NodeFee for each of Create. It equals LowerBound if there is no fee, and is 0 with
	// Options.NoBounds.
	ObjectiveBound float64

	// Kubernetes lists the minor versions of Kubernetes in which all places of the plan are valid,
	// ascending: the one of Options.Kubernetes, or all supported ones. In other versions the right
	// plan may leave other pods pending.
	Kubernetes []string

	// Stats counts the work done; it is equal for equal inputs.
	Stats Stats

	fees    float64                // Options.NodeFee of all new nodes
	offered map[string]solve.Offer // by pool, for Why; nil in a Plan that Solve did not make
}

// Stats is the size of the problem and the work it took.
type Stats struct {
	Pods    int // pods to place
	Classes int // groups of pods that are identical to the engine
	Options int // launchable (pool, instance type, offering) triples
	Steps   int // patterns built; the unit of Options.MaxSteps
}

// Gap is Cost / LowerBound - 1: 0.01 means that the plan is at most 1% above the optimum. With
// Options.NodeFee, by which plans are then compared too, it is (Cost + fees) / ObjectiveBound - 1.
// It is zero if nothing is to be launched, and +Inf if something is and the bound is zero, which
// says nothing about the optimum.
func (p *Plan) Gap() float64 {
	cost, bound := p.Cost, p.LowerBound
	if p.fees > 0 {
		cost, bound = p.Cost+p.fees, p.ObjectiveBound
	}
	switch {
	case cost <= 0:
		return 0
	case bound <= 0:
		return math.Inf(1)
	}
	return cost/bound - 1
}

// NewNode is one node to launch.
type NewNode struct {
	// Name identifies the node within its plan, such as "general-0003". No object has this name.
	Name string

	// Pool is the NodePool of the node.
	Pool *v1.NodePool

	// Requirements are those of the pool and the pods together. They do not list the instance
	// types; Options does.
	Requirements requirements.Set

	// Labels are the labels to give the node: those of the pool's template, its NodePool and node
	// class, and a value for each further label that Requirements ask for and no instance type has.
	Labels map[string]string

	// Options are all the ways to launch the node, each of which holds all its pods, sorted by
	// price, instance type, zone, capacity type and reservation. Never empty.
	Options []cloudprovider.LaunchOption

	// Pods are the pods of the node, sorted by namespace and name.
	Pods []*corev1.Pod

	// Requests is the sum of the requests of Pods, with their number as "pods". DaemonSets are not
	// included, because they differ by option.
	Requests resources.List

	// Daemons is, by resource, the least that DaemonSet pods request on any option.
	Daemons resources.List

	// MinValuesRelaxed says that a minValues of the pool was lowered, under BestEffort, to the
	// number of values available. MissedMinValues says which one, and to what.
	MinValuesRelaxed bool

	drivers map[string][]string // by instance type: drivers of the devices that its pods will be allocated
}

// Price returns the price of the cheapest option, in USD per hour.
func (n *NewNode) Price() float64 { return n.Options[0].Offering.Price }

// Binding lists the pods that fit on a node that exists or is on its way.
type Binding struct {
	Node string        // as Node.Name returns it
	Pods []*corev1.Pod // sorted by namespace and name

	// After are the pods in Ending of that node: some of Pods may have no room there until these
	// are gone. Nil if there are none.
	After []*corev1.Pod
}

// Unplaced is a pod that stays pending, with the reason. Pods that are equal share one Explanation.
type Unplaced struct {
	Pod         *corev1.Pod
	Explanation *Explanation
}

// MissedMinValues is a minValues of a NodePool of which the options of a new node have too few
// values.
type MissedMinValues struct {
	Key  string // of the label
	Want int    // number of distinct values that the pool requires
	Have int    // number of distinct values of the options
}

// String renders it as "minValues of LABEL is HAVE instead of WANT".
func (m MissedMinValues) String() string {
	if m.Key == "" {
		return "no minValues"
	}
	return fmt.Sprintf("minValues of %s is %d instead of %d", m.Key, m.Have, m.Want)
}

// MissedMinValues returns the minValues requirements for which the options have too few distinct
// values, sorted by key. There are none unless MinValuesRelaxed is set.
func (n *NewNode) MissedMinValues() []MissedMinValues {
	var out []MissedMinValues
	for _, m := range catalog.Missed(n.Requirements, n.Options) {
		out = append(out, MissedMinValues(m))
	}
	return out
}
