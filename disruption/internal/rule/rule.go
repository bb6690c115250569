package rule

// Rule is what keeps a node from being disrupted. Users see its Code; the rule
// itself decides about the order, and about who passes over it.
type Rule string

// Order is the order of the constants.
func Order() []Rule {
	return []Rule{
		MarkedForDeletion, Unmanaged, NoNode, Rebooting, Deleting, Unregistered, Uninitialized,
		Nominated, NodeDoNotDisrupt, NoNodePoolLabel, NodePoolMissing, NoInstanceTypes,
		PodDoNotDisrupt, PodDisruptionBudget, SeveralBudgets,
		Static, UnknownInstanceType, NoCapacityType, NoZone, ConsolidationOff, Buffer,
		NotEmpty, Empty, PolicyWhenEmpty, ConsolidateAfter,
		NotDrifted, OverReplicas, StaticAtLimit, ReservationFull, PoolNotReady,
		Healthy, DoNotRepair, ManyUnhealthy, NoDrainBound,
		PriceUnknown, Promised, NotSimulated, Unplaced, NotCheaper, SpotToSpot,
		SavingTooSmall, Balanced, Budget, NotSearched,
	}
}

// The rules, in the order in which they are looked at. Nothing else is looked at
// if one of the first three holds.
const (
	// MarkedForDeletion: a decision made earlier deals with the node.
	MarkedForDeletion Rule = "Underway"
	// Unmanaged: the node has no NodeClaim, so somebody else manages it.
	Unmanaged Rule = "Unmanaged"
	// NoNode: the NodeClaim has no Node yet.
	NoNode Rule = "NoNode"
	// Rebooting: the node is being rebooted.
	Rebooting Rule = "Rebooting"
	// Deleting: the node is being deleted.
	Deleting Rule = "Deleting"
	// Unregistered: the Node was not matched with its NodeClaim yet.
	Unregistered Rule = "Unregistered"
	// Uninitialized: the Node is not ready for pods yet. Repair passes over
	// it.
	Uninitialized Rule = "Uninitialized"
	// Nominated: a place on the node was promised to a pending pod. Repair
	// passes over it while the node is not initialized.
	Nominated Rule = "Nominated"
	// NodeDoNotDisrupt: the node has the annotation
	// karpenter.sh/do-not-disrupt with the value true. Repair passes over it.
	NodeDoNotDisrupt Rule = "NodeDoNotDisrupt"
	// NoNodePoolLabel: the node has no label karpenter.sh/nodepool.
	NoNodePoolLabel Rule = "NoNodePoolLabel"
	// NodePoolMissing: there is no such NodePool.
	NodePoolMissing Rule = "NodePoolMissing"
	// NoInstanceTypes: the NodePool has no catalog.
	NoInstanceTypes Rule = "NoInstanceTypes"

	// PodDoNotDisrupt: a pod has the annotation karpenter.sh/do-not-disrupt.
	// Drift and repair pass over it if something else bounds the drain.
	PodDoNotDisrupt Rule = "PodDoNotDisrupt"
	// PodDisruptionBudget: a PodDisruptionBudget lets no pod go, or not all
	// that have to. Drift and repair pass over it likewise.
	PodDisruptionBudget Rule = "PodDisruptionBudget"
	// SeveralBudgets: more than one PodDisruptionBudget selects a pod, which
	// the eviction API cannot handle. Drift and repair pass over it likewise.
	SeveralBudgets Rule = "SeveralBudgets"

	// Static: the pool is static.
	Static Rule = "Static"
	// UnknownInstanceType: the type of the node is not in the catalog.
	UnknownInstanceType Rule = "UnknownInstanceType"
	// NoCapacityType: the node has no label karpenter.sh/capacity-type.
	NoCapacityType Rule = "NoCapacityType"
	// NoZone: the node has no label topology.kubernetes.io/zone.
	NoZone Rule = "NoZone"
	// ConsolidationOff: consolidateAfter of the pool is Never.
	ConsolidationOff Rule = "ConsolidationOff"
	// Buffer: spare room is kept on the node.
	Buffer Rule = "Buffer"
	// NotEmpty: pods on the node need another place.
	NotEmpty Rule = "NotEmpty"
	// Empty: the node is empty, which is the affair of Emptiness.
	Empty Rule = "Empty"
	// PolicyWhenEmpty: consolidationPolicy of the pool is WhenEmpty, or none
	// that is known.
	PolicyWhenEmpty Rule = "PolicyWhenEmpty"
	// ConsolidateAfter: pods have come or gone too recently.
	ConsolidateAfter Rule = "ConsolidateAfter"

	// NotDrifted: the node matches its pool and NodeClass.
	NotDrifted Rule = "NotDrifted"
	// OverReplicas: the static pool has more nodes than replicas, and gets
	// rid of those first.
	OverReplicas Rule = "OverReplicas"
	// StaticAtLimit: the static pool is at its limit of nodes, so that no
	// replacement can be launched.
	StaticAtLimit Rule = "StaticAtLimit"
	// ReservationFull: the static pool may use reserved capacity only, and
	// there is none left for a replacement.
	ReservationFull Rule = "ReservationFull"
	// PoolNotReady: the pool launches nothing now, so a node that is
	// deleted first would not come back.
	PoolNotReady Rule = "PoolNotReady"

	// Healthy: no condition of the node asks for repair now.
	Healthy Rule = "Healthy"
	// DoNotRepair: the node has the annotation karpenter.sh/do-not-repair
	// with the value true.
	DoNotRepair Rule = "DoNotRepair"
	// ManyUnhealthy: too much of the pool is unhealthy.
	ManyUnhealthy Rule = "ManyUnhealthy"
	// NoDrainBound: pods hold the node, and neither the repair policy nor
	// the NodeClaim bounds how long it may drain.
	NoDrainBound Rule = "NoDrainBound"

	// PriceUnknown: what the node costs is not known, so nothing can be
	// known to be cheaper.
	PriceUnknown Rule = "PriceUnknown"
	// Promised: pods that are pending, or on nodes that are on their way
	// out, need the node.
	Promised Rule = "Promised"
	// NotSimulated: the engine refuses the input, so nothing is known of
	// where the pods could go.
	NotSimulated Rule = "NotSimulated"
	// Unplaced: a pod of the node would find no place elsewhere.
	Unplaced Rule = "Unplaced"
	// NotCheaper: nothing runs the same pods for less. Blocked.Object is the
	// first of the pods that find no room on other nodes; Proposal.Explain says what
	// keeps them from there.
	NotCheaper Rule = "NotCheaper"
	// SpotToSpot: a spot node would be replaced by spot capacity, for which
	// there are too few cheaper instance types.
	SpotToSpot Rule = "SpotToSpot"
	// SavingTooSmall: the saving is below what Options asks for.
	SavingTooSmall Rule = "SavingTooSmall"
	// Balanced: the policy Balanced of the pool finds the saving too small
	// for the disruption.
	Balanced Rule = "Balanced"
	// Budget: the budgets of the pool do not let the node go now, beside
	// others that save more.
	Budget Rule = "Budget"
	// NotSearched: the search ended before the node was tried, by
	// Options.Consolidation.MaxSteps or because others come first. Of Drift and Repair: where
	// the pods of the node could go depends on others of the proposal, which go
	// first; ask again after them.
	NotSearched Rule = "NotSearched"
)
