package provisioning

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// GivenUpPreference is a preference that the nodes of some pods do not satisfy, with the cause. A
// preference for a node depends on the labels and taints of the node, and a preference between pods
// on the pods that nodes have once the whole plan is carried out. It counts those running pods and
// pods of the plan that kube-scheduler counts. A new node satisfies a preference only if it does so
// with each of its Options. Where its domain is open, its pods count only for the node itself.
// DaemonSet pods of new nodes count for no preference.
type GivenUpPreference struct {
	// Pods are the pods whose nodes do not satisfy the preference. They are equal for scheduling
	// and sorted by namespace and name. They are all on new nodes, or all on existing ones.
	Pods []*corev1.Pod

	// Kind is the kind of soft constraint:
	//
	//   - CauseRequirements is a preferred node affinity;
	//   - CauseAffinity and CauseAntiAffinity are a preferred pod affinity and anti-affinity;
	//   - CauseSpread is a topology spread constraint with ScheduleAnyway, of the pod or of
	//     Options.DefaultSpread. A pod's node does not satisfy it if its domain has more than maxSkew
	//     matching pods above the domain with the fewest. Over the name of the node, domains are the
	//     nodes that exist and those of the plan; over other labels, also the values that a NodePool
	//     could launch nodes with, sold out or not;
	//   - CauseTaints is a taint with effect PreferNoSchedule that the pod does not tolerate.
	Kind Cause

	// Key is the topologyKey of a preference between pods, and the key of a taint. It is empty
	// for a node affinity.
	Key string

	// Preferred describes the preference: the requirements of a node affinity term, the pods that a
	// term or constraint between pods selects, with its maxSkew, or the taint.
	Preferred string

	// Weight is the weight of the term, from 1 to 100. It is 100 for a topology spread constraint
	// and for a taint.
	Weight int

	// Cause is the cause for which the plan gives the preference up: the first of the GivenUp
	// constants, in their order, that applies.
	Cause Cause

	// For GivenUpCost only: Extra is how much more a pod would cost with the preference than
	// without any, as a share, by unit prices: its share of a node's price.
	Extra float64

	// Allowed is the share that Options.PreferenceCost allows: for this preference with
	// GivenUpCost, and for all preferences of the plan with GivenUpPlanCost. Otherwise it is 0.
	Allowed float64

	// For GivenUpFewNodes only: Nodes is the estimated number of nodes for all pods, and
	// NodesWanted the number from which the preference is satisfied.
	Nodes, NodesWanted int

	// For GivenUpUnavailable: Explanation says why each NodePool cannot launch a node that satisfies a
	// node affinity. It is nil for other kinds and causes.
	Explanation *Explanation
}

const (
	// GivenUpNoPods: no other pod that a pod affinity prefers is running or in the plan.
	GivenUpNoPods = Cause(model.GivenUpNoPods)
	// GivenUpExistingNodes: the pods have room on existing nodes, or on missing nodes of static
	// pools, and no node is launched for a preference alone.
	GivenUpExistingNodes = Cause(model.GivenUpExistingNodes)
	// GivenUpUnavailable: no new node that can be launched for the pods satisfies it. No option has
	// the labels or lacks the taint, those that do are sold out or beyond the limits of the
	// NodePools, or there is only one domain to choose.
	GivenUpUnavailable = Cause(model.GivenUpUnavailable)
	// GivenUpCost: it costs more for each pod than Options.PreferenceCost allows.
	GivenUpCost = Cause(model.GivenUpCost)
	// GivenUpOutweighed: it contradicts other preferences of the same pods, which weigh more.
	GivenUpOutweighed = Cause(model.GivenUpOutweighed)
	// GivenUpNewNode: it concerns the pods of one node, and no further node is launched for such a
	// preference.
	GivenUpNewNode = Cause(model.GivenUpNewNode)
	// GivenUpFewNodes: it concerns domains, and the plan has too few nodes: the last node of each
	// domain would waste too much.
	GivenUpFewNodes = Cause(model.GivenUpFewNodes)
	// GivenUpPlanCost: the preferences of all pods together cost the plan more than
	// Options.PreferenceCost allows, and those of these pods weigh least.
	GivenUpPlanCost = Cause(model.GivenUpPlanCost)
	// GivenUpConstraints: required constraints, such as constraints between pods, limits and the
	// room of nodes, left no place that satisfies it where the search tried.
	GivenUpConstraints = Cause(model.GivenUpConstraints)
)

// String renders the preference and the cause as one line of English of at most 1,024 bytes.
func (g *GivenUpPreference) String() string {
	if g.Cause == "" {
		return "no preference"
	}
	return shortened(oneLine(g.preference() + ": " + g.because()))
}

// preference describes the preference.
func (g *GivenUpPreference) preference() string {
	switch g.Kind {
	case CauseAffinity:
		return fmt.Sprintf("preferred pod affinity over %s of weight %d to %s", g.Key, g.Weight, g.Preferred)
	case CauseAntiAffinity:
		return fmt.Sprintf("preferred pod anti-affinity over %s of weight %d to %s", g.Key, g.Weight, g.Preferred)
	case CauseSpread:
		return fmt.Sprintf("topology spread over %s with ScheduleAnyway and %s", g.Key, g.Preferred)
	case CauseTaints:
		return "preferred not to be on nodes with taint " + g.Preferred
	}
	return fmt.Sprintf("preferred node affinity of weight %d to %s", g.Weight, g.Preferred)
}

// because describes the cause.
func (g *GivenUpPreference) because() string {
	switch g.Cause {
	case GivenUpNoPods:
		return "no other such pod runs or is in the plan"
	case GivenUpExistingNodes:
		return "there is room on existing nodes, and no node is launched for a preference"
	case GivenUpUnavailable:
		return g.unavailable()
	case GivenUpCost:
		return fmt.Sprintf("it costs %s more for each pod, and PreferenceCost allows %s", percent(g.Extra), percent(g.Allowed))
	case GivenUpOutweighed:
		return "other preferences of the pod contradict it and weigh more"
	case GivenUpNewNode:
		return "it takes another node, and none is launched for a preference over the name of the node"
	case GivenUpFewNodes:
		return fmt.Sprintf("the plan is too small, with %d of the %d nodes from which on it is followed", g.Nodes, g.NodesWanted)
	case GivenUpPlanCost:
		return fmt.Sprintf("the preferences of all pods cost more than the %s that PreferenceCost allows for the plan", percent(g.Allowed))
	}
	return "what must hold comes first, and the search found no such place"
}

// unavailable describes why no new node satisfies the preference.
func (g *GivenUpPreference) unavailable() string {
	switch {
	case g.Explanation != nil:
		return "no new node can satisfy it; " + g.Explanation.String()
	case g.Kind == CauseTaints:
		return "every NodePool that can launch a node for the pod has the taint"
	}
	return "new nodes for the pod can be launched with only one value of the label"
}

// percent renders a share as a percentage.
func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }

// givenUp converts the preferences that a solution gives up. Entries may share reasons.
func (r reasons) givenUp(list []model.GivenUpPreference) []GivenUpPreference {
	if list == nil {
		return nil
	}
	out := make([]GivenUpPreference, len(list))
	for i := range list {
		g := &list[i]
		out[i] = GivenUpPreference{
			Pods: g.Pods, Kind: Cause(g.Kind), Key: g.Key, Preferred: g.Preferred, Weight: g.Weight,
			Cause: Cause(g.Cause), Extra: g.Extra, Allowed: g.Allowed, Nodes: g.Nodes, NodesWanted: g.Wanted, Explanation: r.of(g.Reason),
		}
	}
	return out
}
