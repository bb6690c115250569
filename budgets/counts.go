package budgets

import (
	"math"
	"strconv"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Reason is why nodes are to be disrupted.
type Reason = v1.DisruptionReason

// The reasons. All but Expired may be named by the budgets of a NodePool.
const (
	// Drifted nodes no longer match their pool or NodeClass.
	Drifted = v1.DisruptionReasonDrifted
	// Empty nodes have no workload pods.
	Empty = v1.DisruptionReasonEmpty
	// Underutilized nodes have pods that fit elsewhere for less.
	Underutilized = v1.DisruptionReasonUnderutilized
	// Unhealthy nodes have a condition that requires repair.
	Unhealthy = v1.DisruptionReasonUnhealthy
	// Expired nodes have reached the end of their lifetime. Budgets of a NodePool do not bound
	// expiry unless Policy.ExpiryUnderBudgets is set.
	Expired Reason = "Expired"
)

// Counts has the number of nodes of a set of budgets, and how many of them are disrupted or not
// ready. Each node is counted once in Nodes and at most once in Disrupting, Rebooting and NotReady
// together. Negative numbers count as 0. Count makes it from the states of nodes.
type Counts struct {
	// Nodes is the base of percentages: the managed nodes that are initialized or rebooting,
	// without those whose instance the cloud is already terminating.
	Nodes int
	// Disrupting is how many of Nodes are marked for deletion, whatever the
	// cause. They count against every reason.
	Disrupting int
	// Rebooting is how many of Nodes are being rebooted. They count against
	// every reason.
	Rebooting int
	// NotReady is how many of Nodes are not ready. They count against every reason except
	// Unhealthy, because they are the nodes to repair.
	NotReady int
	// By splits Disrupting by reason. Only Policy.SeparateReasons uses it.
	By ByReason
}

// ByReason is a number of nodes for each reason.
type ByReason struct {
	Drifted, Empty, Underutilized, Unhealthy, Expired int
}

// of returns a pointer to the number for a reason, or nil if the reason is unknown.
func (b *ByReason) of(r Reason) *int {
	switch r {
	case Drifted:
		return &b.Drifted
	case Empty:
		return &b.Empty
	case Underutilized:
		return &b.Underutilized
	case Unhealthy:
		return &b.Unhealthy
	case Expired:
		return &b.Expired
	}
	return nil
}

// count adds nodes to those of a reason.
func (b *ByReason) count(r Reason, n int) {
	if p := b.of(r); p != nil {
		*p = add(*p, n)
	}
}

// Consuming returns how many nodes count against a budget for a reason: those that are disrupted or
// rebooting, and, unless the reason is Unhealthy, those that are not ready.
func (c Counts) Consuming(r Reason) int {
	n := add(c.Disrupting, c.Rebooting)
	if r != Unhealthy {
		n = add(n, c.NotReady)
	}
	return n
}

// NodeState has the properties of a node that Count uses.
type NodeState struct {
	// Managed is whether the node has a NodeClaim.
	Managed bool
	// Initialized is whether the node carries the label that says so.
	Initialized bool
	// Ready is whether its condition Ready is True.
	Ready bool
	// Disrupting is whether it is marked for deletion, or is being deleted.
	Disrupting bool
	// Rebooting is whether its condition Rebooting is True.
	Rebooting bool
	// InstanceTerminating is whether the cloud has accepted the deletion of its
	// instance.
	InstanceTerminating bool
	// Reason is why it is disrupted, if that is known.
	Reason Reason
}

// Count counts nodes. In order, a node
//
//  1. that is not managed, or neither initialized nor rebooting, counts
//     nowhere;
//  2. whose instance is terminating counts nowhere;
//  3. counts in Nodes;
//  4. counts in the first that holds of Disrupting, Rebooting and NotReady.
func Count(nodes []NodeState) Counts {
	var c Counts
	for _, n := range nodes {
		if !n.Managed || !n.Initialized && !n.Rebooting || n.InstanceTerminating {
			continue
		}
		c.Nodes++
		switch {
		case n.Disrupting:
			c.Disrupting++
			c.By.count(n.Reason, 1)
		case n.Rebooting:
			c.Rebooting++
		case !n.Ready:
			c.NotReady++
		}
	}
	return c
}

// add adds two counts without overflow; negative ones count as 0.
func add(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// quantity is a count of nodes, or a percentage of them.
type quantity struct {
	n       int
	percent bool
}

// everything is the value of a budget without effect.
var everything = quantity{n: 100, percent: true}

// parseQuantity reads the field nodes of a budget in the form that v1.Budget.Validate accepts.
func parseQuantity(text string) (quantity, bool) {
	probe := v1.Budget{Nodes: text}
	if text == "" || len(probe.Validate()) > 0 {
		return quantity{}, false
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return quantity{}, false
	}
	return quantity{int(min(n, math.MaxInt)), percent}, true
}

// of returns the number of nodes that q allows of a pool. A percentage is rounded up.
func (q quantity) of(nodes int) int {
	if !q.percent {
		return q.n
	}
	// Whole hundreds separately, to avoid overflow.
	nodes = max(nodes, 0)
	return nodes/100*q.n + (nodes%100*q.n+99)/100
}

// atMost reports whether q allows no more nodes than o for every size of a pool above zero.
func (q quantity) atMost(o quantity) bool {
	switch {
	case q.n == 0 || o == everything:
		return true
	case q.percent == o.percent:
		return q.n <= o.n
	case o.percent:
		return q.n == 1 && o.n > 0 // a percentage above zero is at least one node
	}
	return false // a large enough pool exceeds the count
}
