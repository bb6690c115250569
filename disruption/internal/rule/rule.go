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
		NotDrifted, OverReplicas, StaticAtLimit, ReservationFull, NothingToLaunch, PoolNotReady,
		Healthy, DoNotRepair, ManyUnhealthy, NoDrainBound,
		PriceUnknown, Promised, NotSimulated, Unplaced, NotCheaper, SpotToSpot,
		SavingTooSmall, Balanced, Budget, NotSearched,
	}
}

// The rules, in the order in which they are looked at. Nothing else is looked at
// if one of the first three holds. Most are called as their Code, which says what they are.
const (
	MarkedForDeletion   Rule = "Underway" // a decision made earlier deals with the node
	Unmanaged           Rule = "Unmanaged"
	NoNode              Rule = "NoNode" // the NodeClaim has no Node yet
	Rebooting           Rule = "Rebooting"
	Deleting            Rule = "Deleting"
	Unregistered        Rule = "Unregistered"     // the Node was not matched with its NodeClaim yet
	Uninitialized       Rule = "Uninitialized"    // the Node is not ready for pods yet
	Nominated           Rule = "Nominated"        // a place on the node was promised to a pending pod
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
	PolicyWhenEmpty     Rule = "PolicyWhenEmpty" // consolidationPolicy is WhenEmpty, or none that is known
	ConsolidateAfter    Rule = "ConsolidateAfter"
	NotDrifted          Rule = "NotDrifted"
	OverReplicas        Rule = "OverReplicas"    // the static pool has more nodes than replicas, and gets rid of those first
	StaticAtLimit       Rule = "StaticAtLimit"   // the static pool is at its limit of nodes
	ReservationFull     Rule = "ReservationFull" // the static pool may use reserved capacity only, and none is left
	NothingToLaunch     Rule = "NothingToLaunch" // no offering that the template of the static pool admits is available
	PoolNotReady        Rule = "PoolNotReady"    // a node that is deleted first would not come back
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
	SavingTooSmall      Rule = "SavingTooSmall" // it is below what the options ask for
	Balanced            Rule = "Balanced"       // it is below what the policy Balanced of the pool asks for
	Budget              Rule = "Budget"
	NotSearched         Rule = "NotSearched"
)
