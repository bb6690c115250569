package disruption

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
)

// Method is a group of rules that act on candidates only.
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

// methods lists all methods.
func methods() []Method {
	return []Method{MethodRepair, MethodEmptiness, MethodDrift, MethodConsolidation, MethodInterruption}
}

// Code is the kind of cause that prevents the disruption of a node. Blocked.Detail says more. From
// v1 on no code is added or removed within a major version. Before v1 a minor version may add or
// remove codes, and the CHANGELOG names each; a patch version does neither.
type Code string

// The codes.
const (
	// CodeMarkedForDeletion: the node is being deleted or rebooted, or an earlier decision deals
	// with it (Input.MarkedForDeletion).
	CodeMarkedForDeletion Code = "MarkedForDeletion"
	// CodeUnmanaged: the node has no NodeClaim, so another program manages it.
	CodeUnmanaged Code = "Unmanaged"
	// CodeIncomplete: something that the decision needs is missing: the Node of a NodeClaim, the
	// NodePool or its catalog, the instance type of the node in the catalog, or the labels of the
	// node for its pool, zone and capacity type. Blocked.Detail says which.
	CodeIncomplete Code = "Incomplete"
	// CodeUninitialized: the Node is not registered or not initialised yet. Repair ignores the
	// latter.
	CodeUninitialized Code = "Uninitialized"
	// CodeNominated: a pending pod is nominated to the node, or pods that are pending or on
	// terminating nodes need it. Repair ignores that while the node is not initialised.
	CodeNominated Code = "Nominated"
	// CodeDoNotDisrupt: the node or a pod on it has the annotation karpenter.sh/do-not-disrupt.
	// Blocked.Object names the pod. Repair ignores the annotation of the node. Drift and repair
	// ignore that of a pod if something else limits the drain.
	CodeDoNotDisrupt Code = "DoNotDisrupt"
	// CodePodDisruptionBudget: a PodDisruptionBudget does not allow the eviction of a pod, or of
	// all pods that must be evicted, or several select one pod, which the eviction API cannot
	// handle. Drift and repair ignore it if something else limits the drain.
	CodePodDisruptionBudget Code = "PodDisruptionBudget"
	// CodeStatic: the pool is static, or it is static with more nodes than replicas and removes the
	// excess first.
	CodeStatic Code = "Static"
	// CodeConsolidationOff: consolidateAfter of the pool is Never, or its consolidationPolicy is
	// WhenEmpty or unknown.
	CodeConsolidationOff Code = "ConsolidationOff"
	// CodeBuffer: the node has headroom for a buffer.
	CodeBuffer Code = "Buffer"
	// CodeNotEmpty: pods on the node need another place.
	CodeNotEmpty Code = "NotEmpty"
	// CodeEmpty: the node is empty, which is handled for the reason Empty.
	CodeEmpty Code = "Empty"
	// CodeConsolidateAfter: the node was initialised, or a pod was bound or ended there, too
	// recently.
	CodeConsolidateAfter Code = "ConsolidateAfter"
	// CodeNotDrifted: the node matches its pool and NodeClass.
	CodeNotDrifted Code = "NotDrifted"
	// CodeNoReplacement: a replacement cannot be launched: the static pool is at its limit of nodes
	// or not ready, its reservations are full, or its offerings are sold out.
	CodeNoReplacement Code = "NoReplacement"
	// CodeHealthy: no condition of the node needs repair now.
	CodeHealthy Code = "Healthy"
	// CodeDoNotRepair: the node has the annotation karpenter.sh/do-not-repair with the value true.
	CodeDoNotRepair Code = "DoNotRepair"
	// CodeManyUnhealthy: too much of the pool is unhealthy.
	CodeManyUnhealthy Code = "ManyUnhealthy"
	// CodeNoDrainBound: pods prevent the drain, and neither the repair policy nor the NodeClaim
	// limits its duration.
	CodeNoDrainBound Code = "NoDrainBound"
	// CodePriceUnknown: the price of the node is not known, so nothing is known to be cheaper.
	CodePriceUnknown Code = "PriceUnknown"
	// CodeUnplaced: no other place for a pod of the node exists.
	CodeUnplaced Code = "Unplaced"
	// CodeNotCheaper: there is no cheaper way to run the same pods. Blocked.Object is the first of
	// the pods without room on other nodes; Proposal.Explain says what excludes them there.
	CodeNotCheaper Code = "NotCheaper"
	// CodeSpotToSpot: a spot node would be replaced by spot capacity with too few cheaper instance
	// types.
	CodeSpotToSpot Code = "SpotToSpot"
	// CodeSavingTooSmall: the saving is below what the options, or the policy Balanced of the pool,
	// require.
	CodeSavingTooSmall Code = "SavingTooSmall"
	// CodeBudget: the budgets of the pool do not allow the node's removal now, in addition to
	// others that save more.
	CodeBudget Code = "Budget"
	// CodeNotSearched: no place for the pods is known. The search ended before the node was tried,
	// because of ConsolidationOptions.MaxSteps or because others come first; or the engine refuses
	// the input. For Drift and Repair also: the places depend on other actions of the proposal that
	// come first; propose again after them.
	CodeNotSearched Code = "NotSearched"
)

// Blocked is one cause that prevents a method from acting on a node.
type Blocked struct {
	// Target is the node.
	Target
	// Method is the method concerned, empty if Confirm checks a reason that no method acts for.
	Method Method
	// Code is the kind of cause.
	Code Code
	// Object is the pod or budget concerned, such as Pod "shop/web-1". It is empty if the cause is
	// in the node or its pool.
	Object string
	// Detail is the cause on one line without a full stop, and what would have to change if that is
	// not obvious.
	Detail string
	// Until is when the cause ends by itself; zero if time alone does not end it.
	Until time.Time

	// rule is the exact rule behind Code.
	rule rule.Rule
}

// blockedBy converts an outcome to a Blocked.
func blockedBy(t Target, m Method, v rule.Outcome) Blocked {
	return Blocked{Target: t, Method: m, Code: codeOf(v.Rule), rule: v.Rule, Object: v.Object, Detail: v.Detail, Until: v.Until}
}

// String renders the cause on one line.
func (b Blocked) String() string {
	if b.Method == "" {
		return b.Target.String() + ": " + b.Detail
	}
	return string(b.Method) + " of " + b.Target.String() + ": " + b.Detail
}

// Event returns the reason of the event that Karpenter writes for the Node and its NodeClaim:
// DisruptionBlocked if something that a user could change prevents the disruption, Unconsolidatable
// if consolidation finds nothing to save, and "" if time ends the cause or nothing is wrong. Detail
// is the text of the event. Write it once, and again when it changes.
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

// Compare orders by node, method, the order in which causes are checked, object and detail.
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

// codeOf returns the code of a rule.
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
	return Code(r) // other codes equal their rule
}
