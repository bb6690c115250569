package rule

import (
	"fmt"
	"time"
)

// Rule is a reason that keeps a node from being disrupted. Package disruption shows it to users as a
// disruption.Code. The rule determines the order of checks, and which actions ignore it.
type Rule string

// Order lists the rules in the order of the constants.
func Order() []Rule {
	return []Rule{
		MarkedForDeletion, Unmanaged, NoNode, Rebooting, Deleting, Unregistered, Uninitialized,
		Nominated, NodeDoNotDisrupt, NoNodePoolLabel, NodePoolMissing, NoInstanceTypes,
		PodDoNotDisrupt, PodDisruptionBudget, SeveralBudgets,
		Static, UnknownInstanceType, NoCapacityType, NoZone, ConsolidationOff, Buffer,
		NotEmpty, Empty, PolicyWhenEmpty, ConsolidateAfter,
		NotDrifted, OverReplicas, StaticAtLimit, ReservationFull, NothingToLaunch, PoolNotReady,
		Healthy, DoNotRepair, ManyUnhealthy, NoDrainBound,
		PriceUnknown, Promised, NotSimulated, Unplaced, NotCheaper, SpotToSpot,
		SavingTooSmall, Balanced, Budget, NotSearched,
	}
}

// The rules, in the order in which they are checked. If one of the first three applies, no other is
// checked. The disruption.Code of the same name documents a rule; rules without such a Code are
// explained here.
const (
	MarkedForDeletion   Rule = "Underway" // an earlier decision deals with the node
	Unmanaged           Rule = "Unmanaged"
	NoNode              Rule = "NoNode" // the NodeClaim has no Node yet, or the Node is gone
	Rebooting           Rule = "Rebooting"
	Deleting            Rule = "Deleting"
	Unregistered        Rule = "Unregistered"     // the Node is not matched with its NodeClaim yet
	Uninitialized       Rule = "Uninitialized"    // the Node is not ready for pods yet
	Nominated           Rule = "Nominated"        // a pending pod was promised a place on the node
	NodeDoNotDisrupt    Rule = "NodeDoNotDisrupt" // the node has karpenter.sh/do-not-disrupt with the value true
	NoNodePoolLabel     Rule = "NoNodePoolLabel"
	NodePoolMissing     Rule = "NodePoolMissing"
	NoInstanceTypes     Rule = "NoInstanceTypes" // the NodePool has no catalog
	PodDoNotDisrupt     Rule = "PodDoNotDisrupt" // a pod has karpenter.sh/do-not-disrupt
	PodDisruptionBudget Rule = "PodDisruptionBudget"
	SeveralBudgets      Rule = "SeveralBudgets" // more than one PodDisruptionBudget selects a pod
	Static              Rule = "Static"
	UnknownInstanceType Rule = "UnknownInstanceType" // the type of the node is not in the catalog
	NoCapacityType      Rule = "NoCapacityType"
	NoZone              Rule = "NoZone"
	ConsolidationOff    Rule = "ConsolidationOff" // consolidateAfter of the pool is Never
	Buffer              Rule = "Buffer"
	NotEmpty            Rule = "NotEmpty"
	Empty               Rule = "Empty"
	PolicyWhenEmpty     Rule = "PolicyWhenEmpty" // consolidationPolicy is WhenEmpty or unknown
	ConsolidateAfter    Rule = "ConsolidateAfter"
	NotDrifted          Rule = "NotDrifted"
	OverReplicas        Rule = "OverReplicas"    // the static pool has more nodes than replicas, and removes those first
	StaticAtLimit       Rule = "StaticAtLimit"   // the static pool is at its limit of nodes
	ReservationFull     Rule = "ReservationFull" // the static pool may use reserved capacity only, and none is left
	NothingToLaunch     Rule = "NothingToLaunch" // the template of the static pool admits no available offering
	PoolNotReady        Rule = "PoolNotReady"    // the pool could not replace a node that is deleted first
	Healthy             Rule = "Healthy"
	DoNotRepair         Rule = "DoNotRepair"
	ManyUnhealthy       Rule = "ManyUnhealthy"
	NoDrainBound        Rule = "NoDrainBound"
	PriceUnknown        Rule = "PriceUnknown"
	Promised            Rule = "Promised"     // pods that are pending, or on nodes on their way out, need the node
	NotSimulated        Rule = "NotSimulated" // the engine refuses the input
	Unplaced            Rule = "Unplaced"
	NotCheaper          Rule = "NotCheaper"
	SpotToSpot          Rule = "SpotToSpot"
	SavingTooSmall      Rule = "SavingTooSmall" // less than the options require
	Balanced            Rule = "Balanced"       // less than the policy Balanced of the pool requires
	Budget              Rule = "Budget"
	NotSearched         Rule = "NotSearched"
)

// Outcome is the rule that keeps a set of nodes from being consolidated. The zero value is no rule.
type Outcome struct {
	Rule   Rule
	Object string
	Detail string
	Until  time.Time // when the rule no longer applies; zero if time does not change it
}

// Bad reports whether a rule applies.
func (v *Outcome) Bad() bool { return v.Rule != "" }

// Forbid returns an outcome with a rule and its formatted detail.
func Forbid(rule Rule, format string, args ...any) Outcome {
	return Outcome{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}
