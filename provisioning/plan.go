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

// Plan is the answer to an Input: every pod of Input.Pods stands in exactly
// one of Create, Bind, Unplaced and the Pods of Static. A Plan is data; nothing has happened yet.
// It shares memory with the Input and between its own nodes, so treat it as
// read-only.
type Plan struct {
	// Create lists the nodes to launch: by pool in the order pools are tried,
	// then dearest first, then by the name of the first pod.
	Create []NewNode

	// Bind lists the existing nodes that take pods, sorted by node name.
	Bind []Binding

	// Unplaced lists the pods that stay pending, sorted by namespace and name.
	Unplaced []Unplaced

	// GivenUp lists the preferences that the nodes of pods do not satisfy, and why:
	// one entry for pods that are alike, sorted by the first of Pods and then as the pod lists
	// them. It is nil with Preferences Ignore, and for pods of buffers, which do not exist. The
	// same pod may be in several entries.
	GivenUp []GivenUpPreference

	// Order lists the pods of Create, Bind and Static in an order in which
	// kube-scheduler may bind them, one by one: each constraint between pods
	// (topology spread, affinity) holds at the turn of the pod that has it, on
	// whichever of its options each new node turns out to be.
	Order []*corev1.Pod

	// Static says what NodePools with a fixed number of replicas are short of
	// or have too much of, sorted by pool. The nodes that they are short of take pods.
	Static []StaticPool

	// Buffers says how each of Input.Buffers fares, sorted by namespace and
	// name.
	Buffers []BufferStatus

	// Overlays says what each of Input.Overlays did, sorted by name.
	Overlays []overlay.Status

	// Cost is what Create costs at each node's cheapest option, in USD per
	// hour, at the prices that the engine compares: what an overlay of
	// Input.Overlays puts on a price or takes off counts, and so does
	// Offering.NodeCost. It is no bill where an overlay expresses a preference.
	Cost float64

	// LowerBound is a proven floor under Cost, in USD per hour: no plan costs
	// less that places the same pods and is valid (see package verify), whatever else it
	// chooses. That is: which pods go to nodes that exist and which draw on
	// reservations; over which zones and other domains pods are spread, and
	// where they are kept together or apart; how many of them are on a node;
	// which preferences are kept; and which nodes are launched for them. Two
	// choices are not open: pools of lower weight launch for pods only when those of
	// higher weight, or the limits of these, leave no room for them, though others
	// may fill a node of a pod that no pool of higher weight can take; and as many
	// pods of a group are kept off spot capacity for Options.CapacityMix as here.
	//
	// It comes from relaxations in which each pod asks of its node what it asks
	// by itself, only required anti-affinity over the name of the node and host
	// ports counting between pods, and nodes may be split. Pods that can share no
	// node, such as those of different zones, have nodes of their own also there,
	// and these are whole if they are of few prices. Where Solve had nothing to
	// choose but nodes it is PackingBound. It is 0 where some option
	// is free, and with Options.NoBounds.
	LowerBound float64

	// PackingBound is what the new nodes cost at least given what this plan
	// chose before it packed them: which pods go to existing nodes, to which
	// domains, with which preferences and at most how many on a node; in USD per
	// hour. Cost over PackingBound says how well the nodes were packed,
	// PackingBound over LowerBound what those choices may have cost. It is at
	// least LowerBound, and at most Cost; it is LowerBound where nodes were taken
	// out of the plan again, for which those choices were changed. It is 0 with
	// Options.NoBounds.
	PackingBound float64

	// ObjectiveBound is a proven floor under what plans are compared by: Cost, and
	// Options.NodeFee for each of Create. It is LowerBound where there is no fee, and
	// 0 with Options.NoBounds.
	ObjectiveBound float64

	// Kubernetes lists the minor versions of Kubernetes in which all places of the plan are
	// valid, in ascending order: the one of Options.Kubernetes, or all that are supported. In
	// others it may be right to leave other pods pending, or fewer.
	Kubernetes []string

	// Stats counts the work done; it is the same for the same input.
	Stats Stats

	fees    float64                // Options.NodeFee of all new nodes
	offered map[string]solve.Offer // by pool, for Why; nil in a Plan that a caller made up
}

// Stats says how large the problem was and how much work it took.
type Stats struct {
	Pods    int // pods asked for
	Classes int // groups of pods that are identical to the engine
	Options int // launchable (pool, instance type, offering) triples
	Steps   int // patterns built; the unit of Options.MaxSteps
}

// Gap is Cost over LowerBound less one: 0.01 means that the plan is at most 1%
// above the optimum. With Options.NodeFee, which plans are compared by as well, it is
// Cost with the fees over ObjectiveBound. It is zero when nothing is to be launched,
// and infinite where something is and the bound is zero, which says nothing of the
// optimum.
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
	// Name identifies the node within its plan, such as "general-0003". It is
	// not the name of any object.
	Name string

	// Pool is the NodePool it belongs to.
	Pool *v1.NodePool

	// Requirements are what the pool and the pods together ask of the node.
	// They do not spell out the instance types; Options does, exactly.
	Requirements requirements.Set

	// Labels are the labels to give the node: those of the pool's template, its
	// NodePool and node class, and a value for each further label that
	// Requirements ask for and no instance type brings along.
	Labels map[string]string

	// Options are all the ways to launch the node, each of which holds all its
	// pods: cheapest first, then by instance type, zone, capacity type and
	// reservation. Never empty.
	Options []cloudprovider.LaunchOption

	// Pods are the pods it is for, sorted by namespace and name.
	Pods []*corev1.Pod

	// Requests is what the pods ask for in sum, "pods" being their count.
	// Room for DaemonSets is not in it, as it differs by option.
	Requests resources.List

	// Daemons is the least that DaemonSet pods ask for on any option.
	Daemons resources.List

	// MinValuesRelaxed says that a minValues of the pool was lowered to what
	// can be had, under BestEffort. MissedMinValues says which one, and to what.
	MinValuesRelaxed bool

	drivers map[string][]string // of the devices that its pods are to have, by instance type
}

// Price is the price of the cheapest option, in USD per hour.
func (n *NewNode) Price() float64 { return n.Options[0].Offering.Price }

// Binding lists the pods that fit on a node that exists or is on its way.
type Binding struct {
	Node string        // its name, as Node.Name says it
	Pods []*corev1.Pod // sorted by namespace and name
}

// Unplaced is a pod that stays pending, and why. Pods that are alike share one
// Reason.
type Unplaced struct {
	Pod    *corev1.Pod
	Reason *Reason
}

// MissedMinValues is a minValues of a NodePool that the options of a new node fall
// short of.
type MissedMinValues struct {
	Key  string // of the label
	Want int    // the distinct values of it that the pool demands
	Have int    // those that can be had
}

// String renders it as "minValues of LABEL is 2 instead of 3".
func (m MissedMinValues) String() string {
	return fmt.Sprintf("minValues of %s is %d instead of %d", m.Key, m.Have, m.Want)
}

// MissedMinValues counts the values that the options have of each label that the
// pool demands several of, and returns those of which there are too few, sorted by
// key. There are none unless MinValuesRelaxed is set.
func (n *NewNode) MissedMinValues() []MissedMinValues {
	var out []MissedMinValues
	for _, m := range catalog.Missed(n.Requirements, n.Options) {
		out = append(out, MissedMinValues(m))
	}
	return out
}
