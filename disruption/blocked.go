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
	// MethodRepair reboots or replaces unhealthy nodes.
	MethodRepair Method = "Repair"
	// MethodEmptiness deletes empty nodes.
	MethodEmptiness Method = "Emptiness"
	// MethodDrift replaces drifted nodes.
	MethodDrift Method = "Drift"
	// MethodConsolidation is the search for cheaper ways to run the same pods.
	MethodConsolidation Method = "Consolidation"
	// MethodInterruption replaces nodes on a recommendation of the cloud.
	MethodInterruption Method = "Interruption"
)

// Code is what keeps a node from being disrupted. Blocked.Detail says more. The set is
// closed within a major version.
type Code string

// The codes.
const (
	// CodeMarkedForDeletion: the node is on its way out, or a decision made earlier deals with it: it is
	// in Input.MarkedForDeletion, being deleted, or being rebooted.
	CodeMarkedForDeletion Code = "MarkedForDeletion"
	// CodeUnmanaged: the node has no NodeClaim, so somebody else manages it.
	CodeUnmanaged Code = "Unmanaged"
	// CodeIncomplete: something is missing that the decision needs: the Node of a NodeClaim, the
	// NodePool or its catalog, the type of the node in that, or the labels of the node for
	// its pool, zone and capacity type. Blocked.Detail says what.
	CodeIncomplete Code = "Incomplete"
	// CodeUninitialized: the Node was not matched with its NodeClaim yet, or is not ready for pods
	// yet. Repair passes over the latter.
	CodeUninitialized Code = "Uninitialized"
	// CodeNominated: a place on the node was promised to a pending pod, or pods that are pending
	// or on nodes on their way out need the node. Repair passes over it while the node is
	// not initialized.
	CodeNominated Code = "Nominated"
	// CodeDoNotDisrupt: the node or a pod on it has the annotation karpenter.sh/do-not-disrupt.
	// Blocked.Object names the pod. Repair passes over that of the node; drift and repair
	// pass over that of a pod if something else bounds the drain.
	CodeDoNotDisrupt Code = "DoNotDisrupt"
	// CodePodDisruptionBudget: a PodDisruptionBudget lets no pod go, or not all that have to, or
	// several select one pod, which the eviction API cannot handle. Drift and repair pass
	// over it if something else bounds the drain.
	CodePodDisruptionBudget Code = "PodDisruptionBudget"
	// CodeStatic: the pool is static, or has more nodes than replicas and gets rid of those first.
	CodeStatic Code = "Static"
	// CodeConsolidationOff: consolidateAfter of the pool is Never, or its consolidationPolicy is
	// WhenEmpty or none that is known.
	CodeConsolidationOff Code = "ConsolidationOff"
	// CodeBuffer: spare room is kept on the node.
	CodeBuffer Code = "Buffer"
	// CodeNotEmpty: pods on the node need another place.
	CodeNotEmpty Code = "NotEmpty"
	// CodeEmpty: the node is empty, which is dealt with for the reason Empty.
	CodeEmpty Code = "Empty"
	// CodeConsolidateAfter: pods have come or gone too recently, or the node was launched too
	// recently: see ConsolidationOptions.MinimumAge.
	CodeConsolidateAfter Code = "ConsolidateAfter"
	// CodeNotDrifted: the node matches its pool and NodeClass.
	CodeNotDrifted Code = "NotDrifted"
	// CodeDriftTolerated: DriftOptions.Tolerate names what has drifted.
	CodeDriftTolerated Code = "DriftTolerated"
	// CodeNoReplacement: a replacement cannot be launched: the static pool is at its limit of
	// nodes, its reservations are full, or the pool is not ready.
	CodeNoReplacement Code = "NoReplacement"
	// CodeHealthy: no condition of the node asks for repair now.
	CodeHealthy Code = "Healthy"
	// CodeDoNotRepair: the node has the annotation karpenter.sh/do-not-repair with the value true.
	CodeDoNotRepair Code = "DoNotRepair"
	// CodeManyUnhealthy: too much of the pool is unhealthy.
	CodeManyUnhealthy Code = "ManyUnhealthy"
	// CodeNoDrainBound: pods hold the node, and neither the repair policy nor the NodeClaim bounds
	// how long it may drain.
	CodeNoDrainBound Code = "NoDrainBound"
	// CodePriceUnknown: what the node costs is not known, so nothing can be known to be cheaper.
	CodePriceUnknown Code = "PriceUnknown"
	// CodeUnplaced: a pod of the node would find no place elsewhere.
	CodeUnplaced Code = "Unplaced"
	// CodeNotCheaper: nothing runs the same pods for less. Blocked.Object is the first of the pods
	// that find no room on other nodes; Proposal.Explain says what keeps them from there.
	CodeNotCheaper Code = "NotCheaper"
	// CodeSpotToSpot: a spot node would be replaced by spot capacity, for which there are too few
	// cheaper instance types.
	CodeSpotToSpot Code = "SpotToSpot"
	// CodeSavingTooSmall: the saving is below what the options ask for, or what the policy
	// Balanced of the pool asks for.
	CodeSavingTooSmall Code = "SavingTooSmall"
	// CodeBudget: the budgets of the pool do not let the node go now, beside others that save more.
	CodeBudget Code = "Budget"
	// CodeNotSearched: nothing is known of where the pods could go. The search ended before the
	// node was tried, by ConsolidationOptions.MaxSteps or because others come first; or
	// the engine refuses the input. Of Drift and Repair also: where the pods could go
	// depends on others of the proposal, which go first; ask again after them.
	CodeNotSearched Code = "NotSearched"
)

// Blocked is one thing that keeps a method from a node.
type Blocked struct {
	// Target is the node.
	Target
	// Method is the one that is kept from it, empty where Confirm asks about
	// a reason that no method acts for.
	Method Method
	// Code is what does so.
	Code Code
	// Object is the pod or budget concerned, such as Pod "shop/web-1". Empty if
	// the rule is about the node or its pool.
	Object string
	// Detail is the reason in one line without a full stop, and what would have
	// to change where that is not plain.
	Detail string
	// Until is when the rule ceases to hold by itself; zero if time alone does
	// not make it.
	Until time.Time

	// Rule is what Code says, precisely.
	rule rule
}

// String is the reason in one line.
func (b Blocked) String() string {
	if b.Method == "" {
		return b.Target.String() + ": " + b.Detail
	}
	return string(b.Method) + " of " + b.Target.String() + ": " + b.Detail
}

// Compare orders by node, method, what is looked at first, object and detail.
func (b Blocked) Compare(other Blocked) int {
	if c := cmp.Or(strings.Compare(b.Node, other.Node), strings.Compare(string(b.Method), string(other.Method))); c != 0 {
		return c
	}
	if b.rule != other.rule {
		order := ruleOrder()
		return cmp.Or(cmp.Compare(slices.Index(order, b.rule), slices.Index(order, other.rule)),
			strings.Compare(string(b.rule), string(other.rule)))
	}
	return cmp.Or(strings.Compare(b.Object, other.Object), strings.Compare(b.Detail, other.Detail))
}

// rule is what keeps a node from being disrupted. Users see its Code; the rule
// itself decides about the order, and about who passes over it.
type rule string

// The rules, in the order in which they are looked at. Nothing else is looked at
// if one of the first three holds.
const (
	// ruleMarkedForDeletion: a decision made earlier deals with the node.
	ruleMarkedForDeletion rule = "Underway"
	// ruleUnmanaged: the node has no NodeClaim, so somebody else manages it.
	ruleUnmanaged rule = "Unmanaged"
	// ruleNoNode: the NodeClaim has no Node yet.
	ruleNoNode rule = "NoNode"
	// ruleRebooting: the node is being rebooted.
	ruleRebooting rule = "Rebooting"
	// ruleDeleting: the node is being deleted.
	ruleDeleting rule = "Deleting"
	// ruleUnregistered: the Node was not matched with its NodeClaim yet.
	ruleUnregistered rule = "Unregistered"
	// ruleUninitialized: the Node is not ready for pods yet. Repair passes over
	// it.
	ruleUninitialized rule = "Uninitialized"
	// ruleNominated: a place on the node was promised to a pending pod. Repair
	// passes over it while the node is not initialized.
	ruleNominated rule = "Nominated"
	// ruleNodeDoNotDisrupt: the node has the annotation
	// karpenter.sh/do-not-disrupt with the value true. Repair passes over it.
	ruleNodeDoNotDisrupt rule = "NodeDoNotDisrupt"
	// ruleNoNodePoolLabel: the node has no label karpenter.sh/nodepool.
	ruleNoNodePoolLabel rule = "NoNodePoolLabel"
	// ruleNodePoolMissing: there is no such NodePool.
	ruleNodePoolMissing rule = "NodePoolMissing"
	// ruleNoInstanceTypes: the NodePool has no catalog.
	ruleNoInstanceTypes rule = "NoInstanceTypes"

	// rulePodDoNotDisrupt: a pod has the annotation karpenter.sh/do-not-disrupt.
	// Drift and repair pass over it if something else bounds the drain.
	rulePodDoNotDisrupt rule = "PodDoNotDisrupt"
	// rulePodDisruptionBudget: a PodDisruptionBudget lets no pod go, or not all
	// that have to. Drift and repair pass over it likewise.
	rulePodDisruptionBudget rule = "PodDisruptionBudget"
	// ruleSeveralBudgets: more than one PodDisruptionBudget selects a pod, which
	// the eviction API cannot handle. Drift and repair pass over it likewise.
	ruleSeveralBudgets rule = "SeveralBudgets"

	// ruleStatic: the pool is static.
	ruleStatic rule = "Static"
	// ruleUnknownInstanceType: the type of the node is not in the catalog.
	ruleUnknownInstanceType rule = "UnknownInstanceType"
	// ruleNoCapacityType: the node has no label karpenter.sh/capacity-type.
	ruleNoCapacityType rule = "NoCapacityType"
	// ruleNoZone: the node has no label topology.kubernetes.io/zone.
	ruleNoZone rule = "NoZone"
	// ruleConsolidationOff: consolidateAfter of the pool is Never.
	ruleConsolidationOff rule = "ConsolidationOff"
	// ruleBuffer: spare room is kept on the node.
	ruleBuffer rule = "Buffer"
	// ruleNotEmpty: pods on the node need another place.
	ruleNotEmpty rule = "NotEmpty"
	// ruleEmpty: the node is empty, which is the affair of Emptiness.
	ruleEmpty rule = "Empty"
	// rulePolicyWhenEmpty: consolidationPolicy of the pool is WhenEmpty, or none
	// that is known.
	rulePolicyWhenEmpty rule = "PolicyWhenEmpty"
	// ruleConsolidateAfter: pods have come or gone too recently.
	ruleConsolidateAfter rule = "ConsolidateAfter"

	// ruleNotDrifted: the node matches its pool and NodeClass.
	ruleNotDrifted rule = "NotDrifted"
	// ruleDriftTolerated: Options.Drift.Tolerate names what has drifted.
	ruleDriftTolerated rule = "DriftTolerated"
	// ruleOverReplicas: the static pool has more nodes than replicas, and gets
	// rid of those first.
	ruleOverReplicas rule = "OverReplicas"
	// ruleStaticAtLimit: the static pool is at its limit of nodes, so that no
	// replacement can be launched.
	ruleStaticAtLimit rule = "StaticAtLimit"
	// ruleReservationFull: the static pool may use reserved capacity only, and
	// there is none left for a replacement.
	ruleReservationFull rule = "ReservationFull"
	// rulePoolNotReady: the pool launches nothing now, so a node that is
	// deleted first would not come back.
	rulePoolNotReady rule = "PoolNotReady"

	// ruleHealthy: no condition of the node asks for repair now.
	ruleHealthy rule = "Healthy"
	// ruleDoNotRepair: the node has the annotation karpenter.sh/do-not-repair
	// with the value true.
	ruleDoNotRepair rule = "DoNotRepair"
	// ruleManyUnhealthy: too much of the pool is unhealthy.
	ruleManyUnhealthy rule = "ManyUnhealthy"
	// ruleNoDrainBound: pods hold the node, and neither the repair policy nor
	// the NodeClaim bounds how long it may drain.
	ruleNoDrainBound rule = "NoDrainBound"

	// rulePriceUnknown: what the node costs is not known, so nothing can be
	// known to be cheaper.
	rulePriceUnknown rule = "PriceUnknown"
	// ruleYoung: the node was launched too recently, see Options.Consolidation.MinimumAge.
	ruleYoung rule = "Young"
	// rulePromised: pods that are pending, or on nodes that are on their way
	// out, need the node.
	rulePromised rule = "Promised"
	// ruleNotSimulated: the engine refuses the input, so nothing is known of
	// where the pods could go.
	ruleNotSimulated rule = "NotSimulated"
	// ruleUnplaced: a pod of the node would find no place elsewhere.
	ruleUnplaced rule = "Unplaced"
	// ruleNotCheaper: nothing runs the same pods for less. Blocked.Object is the
	// first of the pods that find no room on other nodes; Proposal.Explain says what
	// keeps them from there.
	ruleNotCheaper rule = "NotCheaper"
	// ruleSpotToSpot: a spot node would be replaced by spot capacity, for which
	// there are too few cheaper instance types.
	ruleSpotToSpot rule = "SpotToSpot"
	// ruleSavingTooSmall: the saving is below what Options asks for.
	ruleSavingTooSmall rule = "SavingTooSmall"
	// ruleBalanced: the policy Balanced of the pool finds the saving too small
	// for the disruption.
	ruleBalanced rule = "Balanced"
	// ruleBudget: the budgets of the pool do not let the node go now, beside
	// others that save more.
	ruleBudget rule = "Budget"
	// ruleNotSearched: the search ended before the node was tried, by
	// Options.Consolidation.MaxSteps or because others come first. Of Drift and Repair: where
	// the pods of the node could go depends on others of the proposal, which go
	// first; ask again after them.
	ruleNotSearched rule = "NotSearched"
)

// ruleOrder is the order of the constants.
func ruleOrder() []rule {
	return []rule{
		ruleMarkedForDeletion, ruleUnmanaged, ruleNoNode, ruleRebooting, ruleDeleting, ruleUnregistered, ruleUninitialized,
		ruleNominated, ruleNodeDoNotDisrupt, ruleNoNodePoolLabel, ruleNodePoolMissing, ruleNoInstanceTypes,
		rulePodDoNotDisrupt, rulePodDisruptionBudget, ruleSeveralBudgets,
		ruleStatic, ruleUnknownInstanceType, ruleNoCapacityType, ruleNoZone, ruleConsolidationOff, ruleBuffer,
		ruleNotEmpty, ruleEmpty, rulePolicyWhenEmpty, ruleConsolidateAfter,
		ruleNotDrifted, ruleDriftTolerated, ruleOverReplicas, ruleStaticAtLimit, ruleReservationFull, rulePoolNotReady,
		ruleHealthy, ruleDoNotRepair, ruleManyUnhealthy, ruleNoDrainBound,
		rulePriceUnknown, ruleYoung, rulePromised, ruleNotSimulated, ruleUnplaced, ruleNotCheaper, ruleSpotToSpot,
		ruleSavingTooSmall, ruleBalanced, ruleBudget, ruleNotSearched,
	}
}

// code is what users see of a rule.
func (r rule) code() Code {
	switch r {
	case ruleMarkedForDeletion, ruleRebooting, ruleDeleting:
		return CodeMarkedForDeletion
	case ruleNoNode, ruleNoNodePoolLabel, ruleNodePoolMissing, ruleNoInstanceTypes, ruleUnknownInstanceType, ruleNoCapacityType, ruleNoZone:
		return CodeIncomplete
	case ruleUnregistered:
		return CodeUninitialized
	case rulePromised:
		return CodeNominated
	case ruleNodeDoNotDisrupt, rulePodDoNotDisrupt:
		return CodeDoNotDisrupt
	case ruleSeveralBudgets:
		return CodePodDisruptionBudget
	case ruleOverReplicas:
		return CodeStatic
	case rulePolicyWhenEmpty:
		return CodeConsolidationOff
	case ruleYoung:
		return CodeConsolidateAfter
	case ruleStaticAtLimit, ruleReservationFull, rulePoolNotReady:
		return CodeNoReplacement
	case ruleBalanced:
		return CodeSavingTooSmall
	case ruleNotSimulated:
		return CodeNotSearched
	}
	return Code(r) // the others are called alike
}
