package provisioning

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// GivenUpPreference is a preference that the nodes of some pods do not satisfy, and why.
// A preference about the node is judged by the labels and taints of the node, and one between
// pods by the pods that are on nodes once the whole plan is carried out. Of pods that run, and of
// pods of the plan, it counts those that kube-scheduler counts. A new node is judged wherever it
// may come up: as long as one of its Options would not do, it does not satisfy the preference,
// and where its domain is open its pods count for no node but itself. Pods of DaemonSets that a
// new node brings count for no preference.
type GivenUpPreference struct {
	// Pods are the pods whose nodes do not satisfy it, alike for scheduling, sorted by namespace
	// and name. They are all on new nodes, or all on existing ones.
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

	// Preferred says in words what is preferred: the requirements of a node affinity term, the
	// pods that a term or constraint between pods selects, with its maxSkew, or the taint.
	Preferred string

	// Weight is that of the term, from 1 to 100. It is 100 for a topology spread constraint and
	// for a taint.
	Weight int

	// Cause says why the plan gives the preference up: one of the constants that begin with
	// GivenUp. The first that applies is named, in the order of the constants.
	Cause Cause

	// Extra is how much more a pod would cost on paper with the preference than without any, as a
	// share: by the share of a node that it takes up. For GivenUpCost only.
	Extra float64

	// Allowed is the share that Options.PreferenceCost allows: for this preference with
	// GivenUpCost, and for all preferences of the plan with GivenUpPlanCost. Else it is 0.
	Allowed float64

	// Nodes is how many nodes all pods come to on paper, and NodesWanted with how many the
	// preference is followed. For GivenUpFewNodes only.
	Nodes, NodesWanted int

	// Reason says why each NodePool cannot launch a node as a node affinity prefers it, for
	// GivenUpUnavailable. It is nil for other kinds and causes.
	Reason *Reason
}

const (
	// GivenUpNoPods: a pod affinity prefers pods of which no other runs or is in the plan.
	GivenUpNoPods = Cause(model.GivenUpNoPods)
	// GivenUpExistingNodes: the pods have room on existing nodes, or on missing nodes of static
	// pools, and no other node is launched for the sake of a preference.
	GivenUpExistingNodes = Cause(model.GivenUpExistingNodes)
	// GivenUpUnavailable: no new node that can be launched for the pods satisfies it: none has the
	// labels or is without the taint, what has them is sold out or beyond the limits of the
	// NodePools, or there is only one domain to choose.
	GivenUpUnavailable = Cause(model.GivenUpUnavailable)
	// GivenUpCost: it costs more for each pod than Options.PreferenceCost allows.
	GivenUpCost = Cause(model.GivenUpCost)
	// GivenUpOutweighed: it contradicts other preferences of the same pods, which weigh more.
	GivenUpOutweighed = Cause(model.GivenUpOutweighed)
	// GivenUpNewNode: it is between the pods of one node, and no further node is launched for
	// such a preference.
	GivenUpNewNode = Cause(model.GivenUpNewNode)
	// GivenUpFewNodes: it is over domains, and the plan has too few nodes for the last node of each
	// domain to matter little.
	GivenUpFewNodes = Cause(model.GivenUpFewNodes)
	// GivenUpPlanCost: the preferences of all pods together cost the plan more than
	// Options.PreferenceCost allows, and those of these pods weigh least.
	GivenUpPlanCost = Cause(model.GivenUpPlanCost)
	// GivenUpConstraints: what must hold comes first, such as constraints between pods, limits
	// and the room of nodes, and left no such place where the search looked.
	GivenUpConstraints = Cause(model.GivenUpConstraints)
)

// String renders the preference and why it is given up as one line of English, of at most 1,024
// bytes.
func (g *GivenUpPreference) String() string {
	return shortened(oneLine(g.preference() + ": " + g.because()))
}

// preference says what is preferred.
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

// because says why it is given up.
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

// unavailable says why no new node satisfies the preference.
func (g *GivenUpPreference) unavailable() string {
	switch {
	case g.Reason != nil:
		return "no new node can satisfy it; " + g.Reason.String()
	case g.Kind == CauseTaints:
		return "every NodePool that can launch a node for the pod has the taint"
	}
	return "new nodes for the pod can be launched with only one value of the label"
}

// percent renders a share.
func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }

// givenUp writes out what a solution gives up. Entries may share reasons.
func (r reasons) givenUp(list []model.GivenUpPreference) []GivenUpPreference {
	if list == nil {
		return nil
	}
	out := make([]GivenUpPreference, len(list))
	for i := range list {
		g := &list[i]
		out[i] = GivenUpPreference{
			Pods: g.Pods, Kind: Cause(g.Kind), Key: g.Key, Preferred: g.Preferred, Weight: g.Weight,
			Cause: Cause(g.Cause), Extra: g.Extra, Allowed: g.Allowed, Nodes: g.Nodes, NodesWanted: g.Wanted, Reason: r.of(g.Reason),
		}
	}
	return out
}
