package report

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// planSchema names the JSON format of a Plan. Within v1 fields may be added, but none is removed or
// changes its meaning.
const planSchema = "dovetail.whatif/v1"

// Plan is a plan of package provisioning as data for people and programs. It marshals to the JSON
// that examples/whatif/reference.md describes, and Format renders the same as text. NewPlan makes
// it.
type Plan struct{ planData }

// planData is the JSON of a Plan. The text is rendered from it as well, so both agree.
type planData struct {
	Schema   string        `json:"schema"`
	Verified bool          `json:"verified"`
	Cost     planCost      `json:"cost"`
	NewNodes []newNode     `json:"newNodes"`
	Bindings []binding     `json:"bindings"`
	Unplaced []unplacedPod `json:"unplaced"`
	Input    inputCounts   `json:"input"`
	Stats    stats         `json:"stats"`

	Kubernetes []string `json:"kubernetes"` // versions in which the plan is valid

	GivenUp     []givenUp    `json:"givenUp,omitempty"`
	Order       []string     `json:"order"`
	StaticPools []staticPool `json:"staticPools"`
	Buffers     []buffer     `json:"buffers"`
	Overlays    []overlay    `json:"overlays"`
}

// planCost is the cost of a plan in USD per hour. Gap is USDPerHour / LowerBound - 1; it is left
// out if the bound is zero.
type planCost struct {
	USDPerHour float64  `json:"usdPerHour"`
	NodeCost   float64  `json:"nodeCostUSDPerHour,omitempty"` // the part of the cost that is not the price of instances
	LowerBound float64  `json:"lowerBoundUSDPerHour"`
	Gap        *float64 `json:"gap,omitempty"`
}

type newNode struct {
	Name string `json:"name"`
	launch
	NodeCost         float64                                   `json:"nodeCostUSDPerHour,omitempty"`
	Utilization      *utilization                              `json:"utilization,omitempty"`
	Requests         map[string]string                         `json:"requests"`
	DaemonRequests   map[string]string                         `json:"daemonRequests"`
	MinValuesRelaxed bool                                      `json:"minValuesRelaxed"`
	MissedMinValues  []missedMinValues                         `json:"missedMinValues,omitempty"`
	Requirements     []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Labels           map[string]string                         `json:"labels"`
	Pods             []podRef                                  `json:"pods"`
	OptionCount      int                                       `json:"optionCount"`
	Options          []launch                                  `json:"options"`
}

// missedMinValues is a minValues of the pool that was lowered.
type missedMinValues struct {
	Key  string `json:"key"`
	Want int    `json:"want"`
	Have int    `json:"have"`
}

// launch is an option for a new node: an instance type and an offering.
type launch struct {
	NodePool      string  `json:"nodePool,omitempty"`
	InstanceType  string  `json:"instanceType"`
	Zone          string  `json:"zone"`
	CapacityType  string  `json:"capacityType"`
	ReservationID string  `json:"reservationID,omitempty"`
	USDPerHour    float64 `json:"usdPerHour"`
}

// cheapest returns the cheapest option of a new node.
func cheapest(n *provisioning.NewNode) launch {
	out := launchOf(n.Options[0])
	out.NodePool, out.ReservationID, out.USDPerHour = n.Pool.Name, "", layout.Rounded(n.Price())
	return out
}

func launchOf(o cloudprovider.LaunchOption) launch {
	return launch{InstanceType: o.InstanceType.Name, Zone: o.Offering.Zone, CapacityType: o.Offering.CapacityType,
		ReservationID: o.Offering.ReservationID, USDPerHour: layout.Rounded(o.Offering.Price)}
}

// binding is an existing node that takes pods. Utilization counts the pods that run on it and the
// pods that it takes.
type binding struct {
	Node         string       `json:"node"`
	NodePool     string       `json:"nodePool,omitempty"`
	InstanceType string       `json:"instanceType,omitempty"`
	Zone         string       `json:"zone,omitempty"`
	CapacityType string       `json:"capacityType,omitempty"`
	Utilization  *utilization `json:"utilization,omitempty"`
	Pods         []podRef     `json:"pods"`
}

type podRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner     string `json:"workload"` // such as "Deployment/web"; a pod without an owner is "Pod/web-1"

	workload workload
}

// unplacedPod is a pod that stays pending, with the reason.
type unplacedPod struct {
	podRef
	Reason reason `json:"reason"`
}

type givenUp struct {
	Pods      []podRef `json:"pods"`
	Kind      string   `json:"kind"`
	Key       string   `json:"key,omitempty"`
	Preferred string   `json:"preferred"`
	Weight    int      `json:"weight"`
	Cause     string   `json:"cause"`
	Message   string   `json:"message"`
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

// step is a constraint that removed some of the options of a node.
type step struct {
	Constraint string `json:"constraint"`
	Removed    int    `json:"removed"`
	Left       int    `json:"left"`
}

// conflict is a label for which the pool, or its instance types, and the pod have no common value.
// Requirements are in the notation of package requirements.
type conflict struct {
	Key  string `json:"key"`
	Have string `json:"have"`
	Want string `json:"want"`
	Hint string `json:"hint,omitempty"`
}

// shortfall is a resource of which an instance type has too little. Requested is the sum for the
// pod and the DaemonSets.
type shortfall struct {
	Resource     string `json:"resource"`
	Requested    string `json:"requested"`
	Daemons      string `json:"daemons"`
	Largest      string `json:"largest"`
	InstanceType string `json:"instanceType"`
}

// inputCounts counts the objects of the input.
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

// gapOf returns the gap between the cost of a plan and its lower bound, nil if the bound is zero.
func gapOf(plan *provisioning.Plan) *float64 {
	gap := plan.Gap()
	if math.IsInf(gap, 1) {
		return nil
	}
	gap = layout.Rounded(gap)
	return &gap
}

// PlanOptions add facts about a plan to its report. The zero value, and nil, mean the defaults.
type PlanOptions struct {
	// MaxOptions is the largest number of options of each node in the JSON, the cheapest first.
	// Default and zero: all.
	MaxOptions int
	// Verified says that package verify found no fault in the plan.
	Verified bool
	// Ignored counts, by kind, the objects that were read but not used. Default: none.
	Ignored map[string]int
	// Notes are remarks on the input, for the JSON. Default: none.
	Notes []string
}

// NewPlan makes a Plan from a plan of package provisioning and its input. Nil options mean the
// defaults. It neither changes nor keeps its arguments.
func NewPlan(in provisioning.Input, plan *provisioning.Plan, opts *PlanOptions) *Plan {
	if opts == nil {
		opts = &PlanOptions{}
	}
	r := &Plan{planData{
		Verified: opts.Verified,
		Schema:   planSchema,
		Cost:     planCost{USDPerHour: layout.Rounded(plan.Cost), LowerBound: layout.Rounded(plan.LowerBound), Gap: gapOf(plan)},
		NewNodes: make([]newNode, 0, len(plan.Create)),
		Bindings: make([]binding, 0, len(plan.Bind)),
		Unplaced: unplacedPods(plan.Unplaced),
		Input:    countInput(in, opts),
		Stats:    stats{Classes: plan.Stats.Classes, Options: plan.Stats.Options, Steps: plan.Stats.Steps},

		Kubernetes: append([]string{}, plan.Kubernetes...),

		GivenUp:     buildGivenUp(plan.GivenUp),
		Order:       make([]string, 0, len(plan.Order)),
		StaticPools: buildStaticPools(plan.Static, opts.MaxOptions),
		Buffers:     buildBuffers(plan.Buffers),
		Overlays:    buildOverlays(plan.Overlays),
	}}
	for _, pod := range plan.Order {
		r.Order = append(r.Order, podName(pod))
	}
	for i := range plan.Create {
		r.NewNodes = append(r.NewNodes, buildNewNode(&plan.Create[i], opts.MaxOptions))
		r.Cost.NodeCost += plan.Create[i].Options[0].Offering.NodeCost
	}
	r.Cost.NodeCost = layout.Rounded(r.Cost.NodeCost)
	nodes := make(map[string]*provisioning.Node, len(in.Nodes))
	for i := range in.Nodes {
		nodes[in.Nodes[i].Name()] = &in.Nodes[i]
	}
	for _, b := range plan.Bind {
		r.Bindings = append(r.Bindings, buildBinding(b, nodes[b.Node], in.DaemonSetPods))
	}
	return r
}

// unplacedPods converts the unplaced pods of a plan.
func unplacedPods(list []provisioning.Unplaced) []unplacedPod {
	out := make([]unplacedPod, 0, len(list))
	for _, u := range list {
		out = append(out, unplacedPod{podRef: refTo(u.Pod), Reason: buildReason(u.Explanation)})
	}
	return out
}

// buildGivenUp converts the preferences that a plan does not satisfy.
func buildGivenUp(list []provisioning.GivenUpPreference) (out []givenUp) {
	for i := range list {
		g := &list[i]
		out = append(out, givenUp{
			Pods: refsTo(g.Pods), Kind: string(g.Kind), Key: g.Key, Preferred: g.Preferred, Weight: g.Weight,
			Cause: string(g.Cause), Message: g.String(),
		})
	}
	return out
}

func countInput(in provisioning.Input, opts *PlanOptions) inputCounts {
	counts := inputCounts{
		NodePools:  len(in.NodePools),
		Nodes:      len(in.Nodes),
		Pods:       len(in.Pods),
		DaemonSets: len(in.DaemonSetPods),
		Ignored:    map[string]int{},
		Notes:      append([]string{}, opts.Notes...),
	}
	for _, types := range in.InstanceTypes {
		counts.InstanceTypes = max(counts.InstanceTypes, len(types))
	}
	maps.Copy(counts.Ignored, opts.Ignored)
	return counts
}

func buildNewNode(n *provisioning.NewNode, maxOptions int) newNode {
	best := n.Options[0]
	node := newNode{
		Name:             n.Name,
		launch:           cheapest(n),
		NodeCost:         layout.Rounded(n.Options[0].Offering.NodeCost),
		Requests:         amounts(n.Requests),
		DaemonRequests:   amounts(n.Daemons),
		MinValuesRelaxed: n.MinValuesRelaxed,
		Requirements:     n.Requirements.NodeSelectorRequirements(),
		Pods:             refsTo(n.Pods),
		Labels:           map[string]string{},
		OptionCount:      len(n.Options),
		Options:          buildOptions(n.Options, maxOptions),
	}
	for _, m := range n.MissedMinValues() {
		node.MissedMinValues = append(node.MissedMinValues, missedMinValues(m))
	}
	maps.Copy(node.Labels, n.Labels)
	used, err := n.Requests.Add(n.Daemons)
	allocatable, allocErr := best.InstanceType.AllocatableFor(best.Offering)
	if err == nil && allocErr == nil {
		node.Utilization = utilizationIn(used, allocatable)
	}
	return node
}

func buildBinding(b provisioning.Binding, node *provisioning.Node, daemons []*corev1.Pod) binding {
	out := binding{Node: b.Node, Pods: refsTo(b.Pods)}
	if node == nil {
		return out
	}
	labels := labelsOf(node)
	out.NodePool = labels["karpenter.sh/nodepool"]
	out.InstanceType = labels[corev1.LabelInstanceTypeStable]
	out.Zone = labels[corev1.LabelTopologyZone]
	out.CapacityType = labels["karpenter.sh/capacity-type"]
	out.Utilization = utilizationOf(allocatableOf(node), node.Pods, b.Pods, daemonsToCome(node, daemons))
	return out
}

func buildReason(r *provisioning.Explanation) reason {
	out := reason{Cause: string(r.Cause), Message: r.String(), Detail: beyond(r.Detail, r.String()), NodePools: []poolReason{}}
	for i := range r.Pools {
		out.NodePools = append(out.NodePools, buildPoolReason(&r.Pools[i]))
	}
	for cause, n := range r.ExistingNodes {
		if out.ExistingNodes == nil {
			out.ExistingNodes = map[string]int{}
		}
		out.ExistingNodes[string(cause)] = n
	}
	return out
}

// beyond returns detail if it says more than message does, else "".
func beyond(detail, message string) string {
	if detail == message {
		return ""
	}
	return detail
}

func buildPoolReason(p *provisioning.PoolExplanation) poolReason {
	out := poolReason{NodePool: p.NodePool, Cause: string(p.Cause), Message: p.String(), Detail: beyond(p.Detail, p.String())}
	for _, t := range p.Taints {
		out.Taints = append(out.Taints, t.ToString())
	}
	for _, c := range p.Conflicts {
		out.Conflicts = append(out.Conflicts, conflict{Key: c.Key, Have: c.Have.String(), Want: c.Want.String(), Hint: c.Hint})
	}
	for _, s := range p.Shortfalls {
		out.Shortfalls = append(out.Shortfalls, shortfall{
			Resource:     string(s.Resource),
			Requested:    resources.Format(s.Resource, s.Requested),
			Daemons:      resources.Format(s.Resource, s.Daemons),
			Largest:      resources.Format(s.Resource, s.Largest),
			InstanceType: s.InstanceType,
		})
	}
	out.OptionCount = p.Options
	for _, s := range p.Filters {
		out.Steps = append(out.Steps, step{Constraint: s.Constraint, Removed: s.Removed, Left: s.Left})
	}
	return out
}

func refTo(pod *corev1.Pod) podRef {
	w := workloadOf(pod)
	return podRef{Namespace: pod.Namespace, Name: pod.Name, Owner: w.Kind + "/" + w.Name, workload: w}
}

func refsTo(pods []*corev1.Pod) []podRef {
	refs := make([]podRef, 0, len(pods))
	for _, pod := range pods {
		refs = append(refs, refTo(pod))
	}
	return refs
}

func amounts(l resources.List) map[string]string {
	out := make(map[string]string, l.Len())
	for name, amount := range l.All() {
		out[string(name)] = resources.Format(name, amount)
	}
	return out
}

// staticPool is a NodePool with a fixed number of nodes.
type staticPool struct {
	NodePool          string     `json:"nodePool"`
	Replicas          int64      `json:"replicas"`
	Active            int        `json:"active"`
	PendingDisruption int        `json:"pendingDisruption"`
	Deleting          int        `json:"deleting"`
	Missing           int        `json:"missing"`
	HeldBack          int        `json:"heldBack"`
	Held              string     `json:"held,omitempty"`
	Excess            int        `json:"excess"`
	Remove            []string   `json:"remove"`
	OptionCount       int        `json:"optionCount"`
	Options           []launch   `json:"options"`
	Pods              [][]podRef `json:"pods,omitempty"` // those of the missing nodes that have some
}

// buffer is room that the plan keeps free.
type buffer struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Existing  int     `json:"existing"`
	New       int     `json:"new"`
	Unplaced  int     `json:"unplaced"`
	Reason    *reason `json:"reason,omitempty"`
}

// overlay is a NodeOverlay and whether it was applied.
type overlay struct {
	Name          string            `json:"name"`
	Faults        []string          `json:"faults"`
	InstanceTypes int               `json:"instanceTypes"`
	Offerings     int               `json:"offerings"`
	Priced        int               `json:"priced"`
	Resized       int               `json:"resized"`
	Conflicts     []overlayConflict `json:"conflicts"`
}

// overlayConflict is a price or a resource that overlays of one weight want to set. Offering has
// only an instance type where Resource is set.
type overlayConflict struct {
	NodePool string   `json:"nodePool"`
	Offering string   `json:"offering"`
	Resource string   `json:"resource,omitempty"`
	With     []string `json:"with"`
}

func buildStaticPools(pools []provisioning.StaticPool, maxOptions int) []staticPool {
	out := make([]staticPool, 0, len(pools))
	for i := range pools {
		p := &pools[i]
		s := staticPool{
			NodePool: p.Pool.Name, Active: p.Active, PendingDisruption: p.PendingDisruption, Deleting: p.Deleting,
			Missing: p.Missing, HeldBack: p.HeldBack, Held: p.Held, Excess: p.Excess,
			Remove: append([]string{}, p.Remove...), OptionCount: len(p.Options), Options: buildOptions(p.Options, maxOptions),
		}
		if p.Pool.Spec.Replicas != nil {
			s.Replicas = *p.Pool.Spec.Replicas
		}
		for _, pods := range p.Pods {
			s.Pods = append(s.Pods, refsTo(pods))
		}
		out = append(out, s)
	}
	return out
}

func buildBuffers(buffers []provisioning.BufferStatus) []buffer {
	out := make([]buffer, 0, len(buffers))
	for _, b := range buffers {
		row := buffer{Namespace: b.Namespace, Name: b.Name, Existing: b.Existing, New: b.Fresh, Unplaced: b.Unplaced}
		if b.Explanation != nil {
			why := buildReason(b.Explanation)
			row.Reason = &why
		}
		out = append(out, row)
	}
	return out
}

func buildOverlays(overlays []overlays.Status) []overlay {
	out := make([]overlay, 0, len(overlays))
	for _, o := range overlays {
		row := overlay{
			Name: o.Name, Faults: []string{}, InstanceTypes: o.InstanceTypes, Offerings: o.Offerings,
			Priced: o.Priced, Resized: o.Resized, Conflicts: []overlayConflict{},
		}
		for _, f := range o.Faults {
			row.Faults = append(row.Faults, f.Error())
		}
		for _, c := range o.Conflicts {
			conflict := overlayConflict{NodePool: c.NodePool, Offering: c.Offering.String(),
				Resource: string(c.Resource), With: append([]string{}, c.With...)}
			if c.Resource != "" {
				conflict.Offering = c.Offering.InstanceType
			}
			row.Conflicts = append(row.Conflicts, conflict)
		}
		out = append(out, row)
	}
	return out
}

// buildOptions converts the first maxOptions options; zero means all.
func buildOptions(options []cloudprovider.LaunchOption, maxOptions int) []launch {
	if maxOptions > 0 && len(options) > maxOptions {
		options = options[:maxOptions]
	}
	out := make([]launch, 0, len(options))
	for _, o := range options {
		out = append(out, launchOf(o))
	}
	return out
}
