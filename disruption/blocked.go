package disruption

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
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

// Code is what keeps a node from being disrupted. Blocked.Detail says more. From v1 on the
// set is closed within a major version. Before v1 a minor version may add codes or remove
// them, and the CHANGELOG names each; a patch version does neither.
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
	// CodeConsolidateAfter: pods have come or gone, or the node was initialized, too recently.
	CodeConsolidateAfter Code = "ConsolidateAfter"
	// CodeNotDrifted: the node matches its pool and NodeClass.
	CodeNotDrifted Code = "NotDrifted"
	// CodeNoReplacement: a replacement cannot be launched: the static pool is at its limit of
	// nodes or not ready, its reservations are full, or what it may launch is sold out.
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
	rule rule.Rule
}

// blockedBy is an outcome as users see it.
func blockedBy(t Target, m Method, v rule.Outcome) Blocked {
	return Blocked{Target: t, Method: m, Code: codeOf(v.Rule), rule: v.Rule, Object: v.Object, Detail: v.Detail, Until: v.Until}
}

// String is the reason in one line.
func (b Blocked) String() string {
	if b.Method == "" {
		return b.Target.String() + ": " + b.Detail
	}
	return string(b.Method) + " of " + b.Target.String() + ": " + b.Detail
}

// Event is the reason of the event that Karpenter writes about the Node and its NodeClaim
// for this: DisruptionBlocked where something keeps the node from being disrupted that
// somebody could change, Unconsolidatable where consolidation finds nothing to save, and
// empty where time ends it, or nothing is wrong. Detail is its text; write it once, and
// again when it is another.
func (b Blocked) Event() string {
	switch b.Code {
	case CodeDoNotDisrupt, CodePodDisruptionBudget, CodeIncomplete, CodeNoDrainBound, CodePriceUnknown, CodeDoNotRepair, CodeManyUnhealthy, CodeNoReplacement:
		if b.Until.IsZero() {
			return "DisruptionBlocked"
		}
	case CodeNotCheaper, CodeSpotToSpot, CodeSavingTooSmall, CodeUnplaced:
		if b.Method == MethodConsolidation {
			return "Unconsolidatable"
		}
	}
	return ""
}

// Compare orders by node, method, what is looked at first, object and detail.
func (b Blocked) Compare(other Blocked) int {
	if c := cmp.Or(strings.Compare(b.Node, other.Node), strings.Compare(string(b.Method), string(other.Method))); c != 0 {
		return c
	}
	if b.rule != other.rule {
		order := rule.Order()
		return cmp.Or(cmp.Compare(slices.Index(order, b.rule), slices.Index(order, other.rule)),
			strings.Compare(string(b.rule), string(other.rule)))
	}
	return cmp.Or(strings.Compare(b.Object, other.Object), strings.Compare(b.Detail, other.Detail))
}

// codeOf is what users see of a rule.
func codeOf(r rule.Rule) Code {
	switch r {
	case rule.MarkedForDeletion, rule.Rebooting, rule.Deleting:
		return CodeMarkedForDeletion
	case rule.NoNode, rule.NoNodePoolLabel, rule.NodePoolMissing, rule.NoInstanceTypes, rule.UnknownInstanceType, rule.NoCapacityType, rule.NoZone:
		return CodeIncomplete
	case rule.Unregistered:
		return CodeUninitialized
	case rule.Promised:
		return CodeNominated
	case rule.NodeDoNotDisrupt, rule.PodDoNotDisrupt:
		return CodeDoNotDisrupt
	case rule.SeveralBudgets:
		return CodePodDisruptionBudget
	case rule.OverReplicas:
		return CodeStatic
	case rule.PolicyWhenEmpty:
		return CodeConsolidationOff
	case rule.StaticAtLimit, rule.ReservationFull, rule.NothingToLaunch, rule.PoolNotReady:
		return CodeNoReplacement
	case rule.Balanced:
		return CodeSavingTooSmall
	case rule.NotSimulated:
		return CodeNotSearched
	}
	return Code(r) // the others are called alike
}
