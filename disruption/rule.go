package disruption

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Method is what looks at candidates only.
type Method string

// The methods.
const (
	// MethodRepair is the rule of Fleet.Repair.
	MethodRepair Method = "Repair"
	// MethodEmptiness is the rule of Fleet.Emptiness.
	MethodEmptiness Method = "Emptiness"
	// MethodDrift is the rule of Fleet.Drift.
	MethodDrift Method = "Drift"
	// MethodConsolidation is the search for cheaper ways to run the same pods.
	MethodConsolidation Method = "Consolidation"
	// MethodInterruption is the part of Fleet.Interruption that replaces nodes
	// on a recommendation of the cloud.
	MethodInterruption Method = "Interruption"
)

// Rule is what keeps a node from being disrupted. The set is closed within a
// major version.
type Rule string

// The rules, in the order in which they are looked at. Nothing else is looked at
// if one of the first three holds.
const (
	// RuleUnderway: a decision made earlier deals with the node.
	RuleUnderway Rule = "Underway"
	// RuleUnmanaged: the node has no NodeClaim, so somebody else manages it.
	RuleUnmanaged Rule = "Unmanaged"
	// RuleNoNode: the NodeClaim has no Node yet.
	RuleNoNode Rule = "NoNode"
	// RuleRebooting: the node is being rebooted.
	RuleRebooting Rule = "Rebooting"
	// RuleDeleting: the node is being deleted.
	RuleDeleting Rule = "Deleting"
	// RuleUnregistered: the Node was not matched with its NodeClaim yet.
	RuleUnregistered Rule = "Unregistered"
	// RuleUninitialized: the Node is not ready for pods yet. Repair passes over
	// it.
	RuleUninitialized Rule = "Uninitialized"
	// RuleNominated: a place on the node was promised to a pending pod. Repair
	// passes over it while the node is not initialized.
	RuleNominated Rule = "Nominated"
	// RuleNodeDoNotDisrupt: the node has the annotation
	// karpenter.sh/do-not-disrupt with the value true. Repair passes over it.
	RuleNodeDoNotDisrupt Rule = "NodeDoNotDisrupt"
	// RuleNoNodePoolLabel: the node has no label karpenter.sh/nodepool.
	RuleNoNodePoolLabel Rule = "NoNodePoolLabel"
	// RuleNodePoolMissing: there is no such NodePool.
	RuleNodePoolMissing Rule = "NodePoolMissing"
	// RuleNoInstanceTypes: the NodePool has no catalog.
	RuleNoInstanceTypes Rule = "NoInstanceTypes"

	// RulePodDoNotDisrupt: a pod has the annotation karpenter.sh/do-not-disrupt.
	// Drift and repair pass over it if something else bounds the drain.
	RulePodDoNotDisrupt Rule = "PodDoNotDisrupt"
	// RulePodDisruptionBudget: a PodDisruptionBudget lets no pod go, or not all
	// that have to. Drift and repair pass over it likewise.
	RulePodDisruptionBudget Rule = "PodDisruptionBudget"
	// RuleSeveralBudgets: more than one PodDisruptionBudget selects a pod, which
	// the eviction API cannot handle. Drift and repair pass over it likewise.
	RuleSeveralBudgets Rule = "SeveralBudgets"

	// RuleStatic: the pool is static.
	RuleStatic Rule = "Static"
	// RuleUnknownInstanceType: the type of the node is not in the catalog.
	RuleUnknownInstanceType Rule = "UnknownInstanceType"
	// RuleNoCapacityType: the node has no label karpenter.sh/capacity-type.
	RuleNoCapacityType Rule = "NoCapacityType"
	// RuleNoZone: the node has no label topology.kubernetes.io/zone.
	RuleNoZone Rule = "NoZone"
	// RuleConsolidationOff: consolidateAfter of the pool is Never.
	RuleConsolidationOff Rule = "ConsolidationOff"
	// RuleBuffer: spare room is kept on the node.
	RuleBuffer Rule = "Buffer"
	// RuleNotEmpty: pods on the node need another place.
	RuleNotEmpty Rule = "NotEmpty"
	// RuleEmpty: the node is empty, which is the affair of Emptiness.
	RuleEmpty Rule = "Empty"
	// RulePolicyWhenEmpty: consolidationPolicy of the pool is WhenEmpty, or none
	// that is known.
	RulePolicyWhenEmpty Rule = "PolicyWhenEmpty"
	// RuleConsolidateAfter: pods have come or gone too recently.
	RuleConsolidateAfter Rule = "ConsolidateAfter"

	// RuleNotDrifted: the node matches its pool and NodeClass.
	RuleNotDrifted Rule = "NotDrifted"
	// RuleDriftTolerated: Options.TolerateDrift names what has drifted.
	RuleDriftTolerated Rule = "DriftTolerated"
	// RuleOverReplicas: the static pool has more nodes than replicas, and gets
	// rid of those first.
	RuleOverReplicas Rule = "OverReplicas"
	// RuleStaticAtLimit: the static pool is at its limit of nodes, so that no
	// replacement can be launched.
	RuleStaticAtLimit Rule = "StaticAtLimit"
	// RuleReservationFull: the static pool may use reserved capacity only, and
	// there is none left for a replacement.
	RuleReservationFull Rule = "ReservationFull"
	// RulePoolNotReady: the pool launches nothing now, so a node that is
	// deleted first would not come back.
	RulePoolNotReady Rule = "PoolNotReady"

	// RuleHealthy: no condition of the node asks for repair now.
	RuleHealthy Rule = "Healthy"
	// RuleDoNotRepair: the node has the annotation karpenter.sh/do-not-repair
	// with the value true.
	RuleDoNotRepair Rule = "DoNotRepair"
	// RuleManyUnhealthy: too much of the pool is unhealthy.
	RuleManyUnhealthy Rule = "ManyUnhealthy"
	// RuleNoDrainBound: pods hold the node, and neither the repair policy nor
	// the NodeClaim bounds how long it may drain.
	RuleNoDrainBound Rule = "NoDrainBound"

	// RulePriceUnknown: what the node costs is not known, so nothing can be
	// known to be cheaper.
	RulePriceUnknown Rule = "PriceUnknown"
	// RuleYoung: the node was launched too recently, see Options.MinimumAge.
	RuleYoung Rule = "Young"
	// RulePromised: pods that are pending, or on nodes that are on their way
	// out, need the node.
	RulePromised Rule = "Promised"
	// RuleNotSimulated: the engine refuses the input, so nothing is known of
	// where the pods could go.
	RuleNotSimulated Rule = "NotSimulated"
	// RuleUnplaced: a pod of the node would find no place elsewhere.
	RuleUnplaced Rule = "Unplaced"
	// RuleNotCheaper: nothing runs the same pods for less. Blocked.Object is the
	// first of the pods that find no room on other nodes; Proposal.Why says what
	// keeps them from there.
	RuleNotCheaper Rule = "NotCheaper"
	// RuleSpotToSpot: a spot node would be replaced by spot capacity, for which
	// there are too few cheaper instance types.
	RuleSpotToSpot Rule = "SpotToSpot"
	// RuleSavingTooSmall: the saving is below what Options asks for.
	RuleSavingTooSmall Rule = "SavingTooSmall"
	// RuleBalanced: the policy Balanced of the pool finds the saving too small
	// for the disruption.
	RuleBalanced Rule = "Balanced"
	// RuleBudget: the budgets of the pool do not let the node go now, beside
	// others that save more.
	RuleBudget Rule = "Budget"
	// RuleNotSearched: the search ended before the node was tried, by
	// Options.MaxSteps or because others come first. Of Drift and Repair: where
	// the pods of the node could go depends on others of the proposal, which go
	// first; ask again after them.
	RuleNotSearched Rule = "NotSearched"
)

// ruleOrder is the order of the constants.
func ruleOrder() []Rule {
	return []Rule{
		RuleUnderway, RuleUnmanaged, RuleNoNode, RuleRebooting, RuleDeleting, RuleUnregistered, RuleUninitialized,
		RuleNominated, RuleNodeDoNotDisrupt, RuleNoNodePoolLabel, RuleNodePoolMissing, RuleNoInstanceTypes,
		RulePodDoNotDisrupt, RulePodDisruptionBudget, RuleSeveralBudgets,
		RuleStatic, RuleUnknownInstanceType, RuleNoCapacityType, RuleNoZone, RuleConsolidationOff, RuleBuffer,
		RuleNotEmpty, RuleEmpty, RulePolicyWhenEmpty, RuleConsolidateAfter,
		RuleNotDrifted, RuleDriftTolerated, RuleOverReplicas, RuleStaticAtLimit, RuleReservationFull, RulePoolNotReady,
		RuleHealthy, RuleDoNotRepair, RuleManyUnhealthy, RuleNoDrainBound,
		RulePriceUnknown, RuleYoung, RulePromised, RuleNotSimulated, RuleUnplaced, RuleNotCheaper, RuleSpotToSpot,
		RuleSavingTooSmall, RuleBalanced, RuleBudget, RuleNotSearched,
	}
}

// Blocked is one thing that keeps a method from a node.
type Blocked struct {
	// Target is the node.
	Target
	// Method is the one that is kept from it, empty where Recheck is asked about
	// a reason that no method acts for.
	Method Method
	// Rule is what does so.
	Rule Rule
	// Object is the pod or budget concerned, such as Pod "shop/web-1". Empty if
	// the rule is about the node or its pool.
	Object string
	// Detail is the reason in one line without a full stop, and what would have
	// to change where that is not plain.
	Detail string
	// Until is when the rule ceases to hold by itself; zero if time alone does
	// not make it.
	Until time.Time
}

// String is the reason in one line.
func (b Blocked) String() string {
	if b.Method == "" {
		return b.Target.String() + ": " + b.Detail
	}
	return string(b.Method) + " of " + b.Target.String() + ": " + b.Detail
}

// Compare orders by node, method, the order of rules, object and detail.
func (b Blocked) Compare(other Blocked) int {
	if c := cmp.Or(strings.Compare(b.Node, other.Node), strings.Compare(string(b.Method), string(other.Method))); c != 0 {
		return c
	}
	if b.Rule != other.Rule {
		order := ruleOrder()
		return cmp.Or(cmp.Compare(slices.Index(order, b.Rule), slices.Index(order, other.Rule)),
			strings.Compare(string(b.Rule), string(other.Rule)))
	}
	return cmp.Or(strings.Compare(b.Object, other.Object), strings.Compare(b.Detail, other.Detail))
}
