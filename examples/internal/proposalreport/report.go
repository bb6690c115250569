// Package proposalreport says what a proposal of package disruption comes to: as data and as a
// text.
package proposalreport

import (
	"time"
)

// schema names the form of the json output. Within v1 fields are added, but none
// is removed or changes its meaning.
const schema = "dovetail.consolidate/v1"

// Report is what is printed. reference.md describes the fields; the text is drawn
// from them too, so that both say the same.
type Report struct {
	Schema string    `json:"schema"`
	Now    time.Time `json:"now"`
	Before state     `json:"before"`
	After  state     `json:"after"`

	// Provisioned is what pods that are pending already need, whatever is done.
	// It is in After and not in Before; nil if there is none.
	Provisioned *Provisioned `json:"provisioned,omitempty"`

	// FollowUp is what the next plan launches for pods of nodes that go without a
	// replacement, such as those that have expired. It is in After; nil if there
	// are no such pods, and with -converge.
	FollowUp *Provisioned `json:"followUp,omitempty"`

	Actions   []action     `json:"actions"`
	Waiting   []waiting    `json:"waiting"`
	LeftAlone []NodeLeft   `json:"leftAlone"`
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

// state is a cluster at one time.
type state struct {
	Total   poolState   `json:"total"`
	Pools   []poolState `json:"pools"`
	Pending int         `json:"pendingPods"`
}

// Provisioned is what provisioning launches for pods.
type Provisioned struct {
	Pods       int     `json:"pods"`
	Nodes      int     `json:"nodes"`
	USDPerHour float64 `json:"usdPerHour"`
}

// poolState sums up the nodes of a pool. Shares are of the allocatable, asked
// for by pods that are not of DaemonSets, from 0 to 1.
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
	Savings        float64       `json:"savingsUSDPerHour"`
	DisruptionCost float64       `json:"disruptionCost"`
}

type nodeRef struct {
	Node         string  `json:"node"`
	NodePool     string  `json:"nodePool,omitempty"`
	InstanceType string  `json:"instanceType,omitempty"`
	Zone         string  `json:"zone,omitempty"`
	CapacityType string  `json:"capacityType,omitempty"`
	USDPerHour   float64 `json:"usdPerHour,omitempty"`
}

// replacement is a node to launch, as its cheapest option.
type replacement struct {
	NodePool     string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	USDPerHour   float64 `json:"usdPerHour"`
	OptionCount  int     `json:"optionCount"`
}

// move is a pod that changes place. To is a node, or replacement-0 and so on.
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

// NodeLeft is a node that no action is about, and all that speaks for leaving
// it.
type NodeLeft struct {
	Node     string   `json:"node"`
	NodePool string   `json:"nodePool,omitempty"`
	Reasons  []Reason `json:"reasons"`
}

// Reason is a rule that speaks for leaving a node.
type Reason struct {
	Method string     `json:"method,omitempty"`
	Rule   string     `json:"rule"`
	Object string     `json:"object,omitempty"`
	Detail string     `json:"detail"`
	Until  *time.Time `json:"until,omitempty"`
}

// why is what keeps the pods of a node from the other nodes.
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

// searchCounts says how much work it was; the same for the same input.
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

// Saved is what the actions save in USD per hour, beside the nodes that pods which
// are pending already need in any case.
func (r *Report) Saved() float64 { return r.without() - r.After.Total.USDPerHour }

// without is what the cluster would cost without the actions.
func (r *Report) without() float64 {
	cost := r.Before.Total.USDPerHour
	if r.Provisioned != nil {
		cost += r.Provisioned.USDPerHour
	}
	return cost
}
