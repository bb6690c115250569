package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// proposalSchema names the JSON format of a Proposal. Within v1 fields may be added, but none is
// removed or changes its meaning.
const proposalSchema = "dovetail.consolidate/v1"

// Proposal is a proposal of package disruption and its effects, as data for people and programs. It
// marshals to the JSON that examples/consolidate/reference.md describes, and Format renders the
// same as text. NewProposal makes it; Follow or Converge adds the cluster afterwards.
type Proposal struct {
	proposalData

	in       disruption.Input
	proposal *disruption.Proposal
	opts     *disruption.Options
	outside  map[string]float64 // prices of nodes without a NodeClaim
}

// proposalData is the JSON of a Proposal. The text is rendered from it as well, so both agree.
type proposalData struct {
	Schema string    `json:"schema"`
	Now    time.Time `json:"now"`
	Before state     `json:"before"`
	After  state     `json:"after"`

	// Provisioned has the nodes to launch for pods that are pending already, whether or not any
	// action begins. It counts in After but not in Before; nil if there are no such pods.
	Provisioned *provisioned `json:"provisioned,omitempty"`

	// FollowUp has the nodes that the next plan launches for pods of nodes that are removed without
	// a replacement, such as expired nodes. It counts in After; nil if there are no such pods, and
	// with -converge.
	FollowUp *provisioned `json:"followUp,omitempty"`

	Actions   []action     `json:"actions"`
	Waiting   []waiting    `json:"waiting"`
	LeftAlone []nodeLeft   `json:"leftAlone"`
	Why       *why         `json:"why,omitempty"`
	Without   *without     `json:"without,omitempty"`
	Next      *time.Time   `json:"next,omitempty"`
	Truncated bool         `json:"truncated"`
	Unknown   int          `json:"unknownPrices"`
	Unmanaged int          `json:"unmanagedNodesWithoutPrice"`
	Warnings  []string     `json:"warnings"`
	Search    searchCounts `json:"search"`

	Rounds    []roundReport `json:"rounds,omitempty"`
	Converged bool          `json:"converged"`
	Stopped   string        `json:"stopped,omitempty"`
}

// state is the cluster at one time.
type state struct {
	Total   poolState   `json:"total"`
	Pools   []poolState `json:"pools"`
	Pending int         `json:"pendingPods"`
}

// provisioned is the new nodes that provisioning launches.
type provisioned struct {
	Pods       int     `json:"pods"`
	Nodes      int     `json:"nodes"`
	USDPerHour float64 `json:"usdPerHour"`
}

// poolState sums up the nodes of a pool. Shares are requests divided by allocatable, from 0 to 1,
// without the pods of DaemonSets.
type poolState struct {
	NodePool   string  `json:"nodePool,omitempty"`
	Nodes      int     `json:"nodes"`
	USDPerHour float64 `json:"usdPerHour"`
	CPU        float64 `json:"cpu"`
	Memory     float64 `json:"memory"`
}

type action struct {
	Step           string        `json:"step"`
	Reason         string        `json:"reason"`
	Cause          string        `json:"cause,omitempty"`
	StepCause      string        `json:"stepCause,omitempty"`
	Detail         string        `json:"detail"`
	Simulated      bool          `json:"simulated"`
	Nodes          []nodeRef     `json:"nodes"`
	Replacements   []replacement `json:"replacements"`
	Moves          []move        `json:"moves"`
	Held           []heldPod     `json:"held,omitempty"`
	Savings        float64       `json:"savingsUSDPerHour"`
	DisruptionCost float64       `json:"disruptionCost"`
}

// heldPod is a pod that nothing may evict, so that its node stays until the pod ends.
type heldPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type nodeRef struct {
	Node         string  `json:"node"`
	NodePool     string  `json:"nodePool,omitempty"`
	InstanceType string  `json:"instanceType,omitempty"`
	Zone         string  `json:"zone,omitempty"`
	CapacityType string  `json:"capacityType,omitempty"`
	USDPerHour   float64 `json:"usdPerHour,omitempty"`
}

// replacement is a node to launch, described by its cheapest option.
type replacement struct {
	launch
	OptionCount int `json:"optionCount"`
}

// move is a pod that moves to another node. To is the name of a node, or replacement-0 and so on.
type move struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	From      string `json:"from"`
	To        string `json:"to"`

	workload string
}

type waiting struct {
	action
	For   string     `json:"for"`
	Why   string     `json:"why"`
	Until *time.Time `json:"until,omitempty"`
}

// nodeLeft is a node without an action, and all reasons to leave it alone.
type nodeLeft struct {
	Node     string       `json:"node"`
	NodePool string       `json:"nodePool,omitempty"`
	Reasons  []leftReason `json:"reasons"`
}

// leftReason is a rule that keeps a node from being disrupted.
type leftReason struct {
	Method string     `json:"method,omitempty"`
	Rule   string     `json:"rule"`
	Object string     `json:"object,omitempty"`
	Detail string     `json:"detail"`
	Until  *time.Time `json:"until,omitempty"`
}

// why says why the pods of a node cannot go to the other nodes.
type why struct {
	Node       string   `json:"node"`
	OtherNodes int      `json:"otherNodes"`
	Placed     int      `json:"podsPlaced"`
	Pods       []whyPod `json:"pods"`

	text string
}

type whyPod struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Unsuited  int       `json:"nodesUnsuited"`
	Full      int       `json:"nodesFull"`
	Open      int       `json:"nodesOpen"`
	Barriers  []barrier `json:"barriers"`
}

type barrier struct {
	Node   string `json:"node"`
	Rule   string `json:"rule"`
	Detail string `json:"detail"`
}

// searchCounts counts the work of the search; equal for equal input.
type searchCounts struct {
	Candidates  int `json:"candidates"`
	Steps       int `json:"steps"`
	WhatIfs     int `json:"whatIfs"`
	Simulations int `json:"simulations"`
}

type roundReport struct {
	Now        time.Time `json:"now"`
	Actions    []action  `json:"actions"`
	Waiting    int       `json:"waiting"`
	PodsPlaced int       `json:"podsPlaced"`
	Launched   int       `json:"nodesLaunched"`
	Nodes      int       `json:"nodes"`
	USDPerHour float64   `json:"usdPerHour"`
}

// Saved returns the saving of the actions in USD per hour. Nodes for pods that are pending already
// are needed in any case and are not subtracted.
func (r *Proposal) Saved() float64 { return r.without() - r.After.Total.USDPerHour }

// without returns the cost of the cluster without the actions, in USD per hour.
func (r *Proposal) without() float64 {
	cost := r.Before.Total.USDPerHour
	if r.Provisioned != nil {
		cost += r.Provisioned.USDPerHour
	}
	return cost
}

// NewProposal makes a Proposal for a cluster at the instant now; opts are the options that the
// proposal was made with. prices are the known prices of nodes without a NodeClaim, by name, in USD
// per hour. Nil options mean the defaults.
func NewProposal(now time.Time, in disruption.Input, p *disruption.Proposal, prices map[string]float64, opts *disruption.Options) *Proposal {
	if opts == nil {
		opts = &disruption.Options{}
	}
	r := &Proposal{in: in, proposal: p, opts: opts, outside: prices, proposalData: proposalData{
		Schema: proposalSchema, Now: now, Before: stateOf(in, prices), Actions: actionsOf(in, p.Actions), Waiting: []waiting{},
		Next: optional(p.Next), Truncated: p.Truncated, Unknown: p.UnknownPrices, Unmanaged: unmanaged(in, prices), Warnings: []string{},
		Search: countsOf(p),
	}}
	for _, w := range p.Waiting {
		r.Waiting = append(r.Waiting, waiting{action: actionOf(in, w.Action), For: w.For, Why: w.Why, Until: optional(w.Until)})
	}
	for _, w := range p.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	r.leave(p)
	return r
}

func countsOf(p *disruption.Proposal) searchCounts {
	return searchCounts{p.Stats.Candidates, p.Stats.Steps, p.Stats.WhatIfs, p.Stats.Simulations}
}

// leave lists the nodes that no action removes.
func (r *Proposal) leave(p *disruption.Proposal) {
	about := map[string]bool{}
	for _, a := range p.Actions {
		for _, t := range a.Targets {
			about[t.Node] = true
		}
	}
	for _, w := range p.Waiting {
		for _, t := range w.Targets {
			about[t.Node] = true
		}
	}
	r.LeftAlone = []nodeLeft{}
	for _, b := range p.Blocked { // sorted by node
		if about[b.Node] {
			continue
		}
		if n := len(r.LeftAlone); n == 0 || r.LeftAlone[n-1].Node != b.Node {
			r.LeftAlone = append(r.LeftAlone, nodeLeft{Node: b.Node, NodePool: b.NodePool})
		}
		left := &r.LeftAlone[len(r.LeftAlone)-1]
		left.Reasons = append(left.Reasons, leftReason{Method: string(b.Method), Rule: string(b.Code), Object: b.Object, Detail: b.Detail, Until: optional(b.Until)})
	}
}

func (r *Proposal) roundsOf(rounds []round) []roundReport {
	out := make([]roundReport, 0, len(rounds))
	for _, round := range rounds {
		if len(round.proposal.Actions) == 0 {
			continue
		}
		total := stateOf(round.after, r.outside).Total
		out = append(out, roundReport{Now: round.now, Actions: actionsOf(round.input, round.proposal.Actions), Waiting: len(round.proposal.Waiting),
			PodsPlaced: round.pending, Launched: round.launched, Nodes: total.Nodes, USDPerHour: total.USDPerHour})
	}
	return out
}

func actionsOf(in disruption.Input, list []disruption.Action) []action {
	out := make([]action, 0, len(list))
	for _, a := range list {
		out = append(out, actionOf(in, a))
	}
	return out
}

func actionOf(in disruption.Input, a disruption.Action) action {
	out := action{
		Step: string(a.Operation), Reason: string(a.Reason), Cause: a.Cause, StepCause: a.OperationCause, Detail: a.Detail, Simulated: a.Simulated,
		Nodes: []nodeRef{}, Replacements: []replacement{}, Moves: []move{},
		Savings: layout.Rounded(a.Savings), DisruptionCost: layout.Rounded(a.DisruptionCost),
	}
	for _, pod := range a.Held() {
		out.Held = append(out.Held, heldPod{pod.Namespace, pod.Name})
	}
	for _, t := range a.Targets {
		ref := nodeRefOf(in, t)
		out.Nodes = append(out.Nodes, ref)
		if a.Operation == disruption.Delete && !a.Simulated && a.Reason != disruption.Empty && len(out.Held) == 0 {
			out.Savings = layout.Rounded(out.Savings + ref.USDPerHour)
		}
	}
	for i := range a.Replacements {
		out.Replacements = append(out.Replacements, replacement{cheapest(&a.Replacements[i]), len(a.Replacements[i].Options)})
	}
	for _, m := range a.Moves {
		to := m.Node
		if m.Replacement >= 0 {
			to = fmt.Sprintf("replacement-%d", m.Replacement)
		}
		out.Moves = append(out.Moves, move{Namespace: m.Pod.Namespace, Name: m.Pod.Name, From: m.From, To: to, workload: workloadOf(m.Pod).Path()})
	}
	return out
}

// nodeRefOf describes the node of a target.
func nodeRefOf(in disruption.Input, t disruption.Target) nodeRef {
	ref := nodeRef{Node: t.String(), NodePool: t.NodePool}
	i := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == t.Node })
	if i < 0 {
		return ref
	}
	labels := labelsOf(&in.Nodes[i])
	ref.InstanceType, ref.Zone, ref.CapacityType = labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[capacityTypeLabel]
	price, _ := priceOf(in, &in.Nodes[i])
	ref.USDPerHour = layout.Rounded(price)
	return ref
}

// optional returns nil for the zero time, which stands for never.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

const capacityTypeLabel = v1.CapacityTypeLabelKey

// noPool stands for the pool of nodes without a pool.
const noPool = ""

// priceOf returns the price of a node in USD per hour, if the catalog has it.
func priceOf(in disruption.Input, n *provisioning.Node) (price float64, known bool) {
	labels := labelsOf(n)
	for _, t := range in.InstanceTypes[labels[v1.NodePoolLabelKey]] {
		if t.Name != labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.Zone == labels[corev1.LabelTopologyZone] && o.CapacityType == labels[capacityTypeLabel] &&
				(o.ReservationID == "" || o.ReservationID == labels[awsv1.LabelCapacityReservationID]) {
				return o.Price, true
			}
		}
	}
	return 0, false
}

// unmanaged counts the nodes that have neither a NodeClaim nor a price.
func unmanaged(in disruption.Input, outside map[string]float64) (count int) {
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if _, known := costOf(in, n, outside); n.NodeClaim == nil && !known {
			count++
		}
	}
	return count
}

// costOf is priceOf extended to nodes without a NodeClaim.
func costOf(in disruption.Input, n *provisioning.Node, outside map[string]float64) (price float64, known bool) {
	if price, known = priceOf(in, n); !known && n.NodeClaim == nil {
		price, known = outside[n.Name()]
	}
	return price, known
}

// tally adds up nodes.
type tally struct {
	pool               string
	nodes              int
	cost               float64
	cpu, memory        float64
	cpuAsked, memAsked float64
}

// add counts a node.
func (t *tally) add(price float64, have, asked resources.List) {
	t.nodes++
	t.cost += price
	t.cpu += float64(have.Get(corev1.ResourceCPU))
	t.memory += float64(have.Get(corev1.ResourceMemory))
	t.cpuAsked += float64(asked.Get(corev1.ResourceCPU))
	t.memAsked += float64(asked.Get(corev1.ResourceMemory))
}

func (t *tally) state() poolState {
	return poolState{NodePool: t.pool, Nodes: t.nodes, USDPerHour: layout.Rounded(t.cost), CPU: share(t.cpuAsked, t.cpu), Memory: share(t.memAsked, t.memory)}
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return layout.Rounded(part / whole)
}

// stateOf sums up a cluster, by pool and in total. Pools without nodes are included.
func stateOf(in disruption.Input, outside map[string]float64) state {
	pools := map[string]*tally{}
	for _, p := range in.NodePools {
		pools[p.Name] = &tally{pool: p.Name}
	}
	var total tally
	for i := range in.Nodes {
		n := &in.Nodes[i]
		name := labelsOf(n)[v1.NodePoolLabelKey]
		if pools[name] == nil {
			pools[name] = &tally{pool: name}
		}
		price, _ := costOf(in, n, outside)
		have, asked := allocatableOf(n), requestsOn(n)
		pools[name].add(price, have, asked)
		total.add(price, have, asked)
	}
	out := state{Total: total.state(), Pools: []poolState{}, Pending: len(in.Pods)}
	for _, t := range pools { // sorted below
		out.Pools = append(out.Pools, t.state())
	}
	slices.SortFunc(out.Pools, func(a, b poolState) int {
		return cmp.Or(cmp.Compare(orLast(a.NodePool), orLast(b.NodePool)), strings.Compare(a.NodePool, b.NodePool))
	})
	return out
}

// orLast returns a number that sorts nodes without a pool last.
func orLast(pool string) int {
	if pool == noPool {
		return 1
	}
	return 0
}

// requestsOn returns the requests of the pods of a node, without those of DaemonSets.
func requestsOn(n *provisioning.Node) resources.List {
	var sum resources.List
	for _, pod := range n.Pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if ref := metav1.GetControllerOf(pod); ref != nil && ref.Kind == "DaemonSet" {
			continue
		}
		asked, err := resources.PodRequests(pod)
		if err != nil {
			continue
		}
		if more, err := sum.Add(asked); err == nil {
			sum = more
		}
	}
	return sum
}
