// Package planreport writes a plan of package provisioning down: as data that programs read, as a
// table, and in words for one pod or one new node.
package planreport

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
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

	Kubernetes []string `json:"kubernetes"` // in which the plan is valid

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

// gapOf is how far a plan is above its bound, nil if the bound says nothing.
func gapOf(plan *provisioning.Plan) *float64 {
	gap := plan.Gap()
	if math.IsInf(gap, 1) {
		return nil
	}
	gap = layout.Rounded(gap)
	return &gap
}

// New writes a plan down. It lists at most maxOptions options a node;
// zero is all.
func New(c *manifest.Cluster, in provisioning.Input, plan *provisioning.Plan, maxOptions int) *Report {
	r := &Report{
		Schema:   schema,
		Cost:     Cost{USDPerHour: layout.Rounded(plan.Cost), LowerBound: layout.Rounded(plan.LowerBound), Gap: gapOf(plan)},
		NewNodes: make([]newNode, 0, len(plan.Create)),
		Bindings: make([]binding, 0, len(plan.Bind)),
		Unplaced: Unplaced(plan.Unplaced),
		Input:    countInput(c, in),
		Stats:    stats{Classes: plan.Stats.Classes, Options: plan.Stats.Options, Steps: plan.Stats.Steps},

		Kubernetes: append([]string{}, plan.Kubernetes...),

		Order:       make([]string, 0, len(plan.Order)),
		StaticPools: buildStaticPools(plan.Static, maxOptions),
		Buffers:     buildBuffers(plan.Buffers),
		Overlays:    buildOverlays(plan.Overlays),
	}
	for _, pod := range plan.Order {
		r.Order = append(r.Order, podName(pod))
	}
	for i := range plan.Create {
		r.NewNodes = append(r.NewNodes, buildNewNode(&plan.Create[i], maxOptions))
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

// Unplaced writes pods without a place down.
func Unplaced(list []provisioning.Unplaced) []UnplacedPod {
	out := make([]UnplacedPod, 0, len(list))
	for _, u := range list {
		out = append(out, UnplacedPod{podRef: refTo(u.Pod), Reason: buildReason(u.Reason)})
	}
	return out
}

func countInput(c *manifest.Cluster, in provisioning.Input) inputCounts {
	counts := inputCounts{
		NodePools:  len(in.NodePools),
		Nodes:      len(in.Nodes),
		Pods:       len(in.Pods),
		DaemonSets: len(in.DaemonSetPods),
		Ignored:    map[string]int{},
		Notes:      append([]string{}, c.Notes...),
	}
	for _, types := range in.InstanceTypes {
		counts.InstanceTypes = max(counts.InstanceTypes, len(types))
	}
	for _, k := range c.Ignored {
		counts.Ignored[k.Kind] = k.Count
	}
	return counts
}

func buildNewNode(n *provisioning.NewNode, maxOptions int) newNode {
	best := n.Options[0]
	node := newNode{
		Name:             n.Name,
		NodePool:         n.Pool.Name,
		InstanceType:     best.InstanceType.Name,
		Zone:             best.Offering.Zone,
		CapacityType:     best.Offering.CapacityType,
		USDPerHour:       layout.Rounded(n.Price()),
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
		node.Utilization = inventory.Share(used, allocatable)
	}
	return node
}

func buildOption(o cloudprovider.LaunchOption) option {
	return option{
		InstanceType:  o.InstanceType.Name,
		Zone:          o.Offering.Zone,
		CapacityType:  o.Offering.CapacityType,
		ReservationID: o.Offering.ReservationID,
		USDPerHour:    layout.Rounded(o.Offering.Price),
	}
}

func buildBinding(b provisioning.Binding, node *provisioning.Node, daemons []*corev1.Pod) binding {
	out := binding{Node: b.Node, Pods: refsTo(b.Pods)}
	if node == nil {
		return out
	}
	labels := inventory.Labels(node)
	out.NodePool = labels["karpenter.sh/nodepool"]
	out.InstanceType = labels[corev1.LabelInstanceTypeStable]
	out.Zone = labels[corev1.LabelTopologyZone]
	out.CapacityType = labels["karpenter.sh/capacity-type"]
	out.Utilization = inventory.Use(inventory.Allocatable(node), node.Pods, b.Pods, inventory.DaemonsToCome(node, daemons))
	return out
}

func buildReason(r *provisioning.Reason) reason {
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

// beyond is a detail that says more than the message does.
func beyond(detail, message string) string {
	if detail == message {
		return ""
	}
	return detail
}

func buildPoolReason(p *provisioning.PoolReason) poolReason {
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
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, step{Constraint: s.Constraint, Removed: s.Removed, Left: s.Left})
	}
	return out
}

func refTo(pod *corev1.Pod) podRef {
	w := inventory.WorkloadOf(pod)
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
	NodePool          string   `json:"nodePool"`
	Replicas          int64    `json:"replicas"`
	Active            int      `json:"active"`
	PendingDisruption int      `json:"pendingDisruption"`
	Deleting          int      `json:"deleting"`
	Missing           int      `json:"missing"`
	HeldBack          int      `json:"heldBack"`
	Held              string   `json:"held,omitempty"`
	Excess            int      `json:"excess"`
	Remove            []string `json:"remove"`
	OptionCount       int      `json:"optionCount"`
	Options           []option `json:"options"`
}

// buffer is spare room that is kept.
type buffer struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Existing  int     `json:"existing"`
	New       int     `json:"new"`
	Unplaced  int     `json:"unplaced"`
	Reason    *reason `json:"reason,omitempty"`
}

// overlay is what became of a NodeOverlay.
type overlay struct {
	Name          string            `json:"name"`
	Faults        []string          `json:"faults"`
	InstanceTypes int               `json:"instanceTypes"`
	Offerings     int               `json:"offerings"`
	Priced        int               `json:"priced"`
	Resized       int               `json:"resized"`
	Conflicts     []overlayConflict `json:"conflicts"`
}

// overlayConflict is a price or a resource that overlays of one weight would
// all set. Offering has only an instance type where Resource is set.
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
		out = append(out, s)
	}
	return out
}

func buildBuffers(buffers []provisioning.BufferStatus) []buffer {
	out := make([]buffer, 0, len(buffers))
	for _, b := range buffers {
		row := buffer{Namespace: b.Namespace, Name: b.Name, Existing: b.Existing, New: b.Fresh, Unplaced: b.Unplaced}
		if b.Reason != nil {
			why := buildReason(b.Reason)
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

// buildOptions writes down the first of the options; maxOptions of zero is all.
func buildOptions(options []cloudprovider.LaunchOption, maxOptions int) []option {
	if maxOptions > 0 && len(options) > maxOptions {
		options = options[:maxOptions]
	}
	out := make([]option, 0, len(options))
	for _, o := range options {
		out = append(out, buildOption(o))
	}
	return out
}
