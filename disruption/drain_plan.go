package disruption

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// DrainState is how far the drain of a node is.
type DrainState string

// The states, in order.
const (
	// DrainEvicting: pods are waited for, or the least time has not passed.
	DrainEvicting DrainState = "evicting"
	// DrainDetaching: the pods are gone, and volumes still attached.
	DrainDetaching DrainState = "detaching"
	// DrainDone: the machine can go.
	DrainDone DrainState = "done"
)

// DrainCode says why a pod is not evicted now.
type DrainCode string

// The codes of pods that are waited for.
const (
	// DrainTerminating: it is on its way out.
	DrainTerminating DrainCode = "terminating"
	// DrainTierWaits: pods of an earlier tier are still there.
	DrainTierWaits DrainCode = "tier-waits"
	// DrainDoNotDisrupt: its annotation protects it.
	DrainDoNotDisrupt DrainCode = "do-not-disrupt"
	// DrainBudgetSpent: its budget allows no disruption, or none more than are
	// planned.
	DrainBudgetSpent DrainCode = "budget-spent"
	// DrainBudgetsOverlap: several budgets select it, which the eviction API
	// refuses whatever they allow.
	DrainBudgetsOverlap DrainCode = "budgets-overlap"
)

// The codes of pods that are not waited for.
const (
	// DrainMirrorPod: it mirrors a static pod, which only the machine can end.
	DrainMirrorPod DrainCode = "mirror"
	// DrainTolerates: it tolerates the taint and may stay to the end.
	DrainTolerates DrainCode = "tolerates"
	// DrainEnded: it has ended.
	DrainEnded DrainCode = "ended"
	// DrainStuck: it should have been gone for more than a minute.
	DrainStuck DrainCode = "stuck"
	// DrainLeft: the deadline has passed and it is left where it is.
	DrainLeft DrainCode = "left"
)

// DrainStep is a pod and what happens to it.
type DrainStep struct {
	// Namespace, Name and UID are those of the pod.
	Namespace, Name string
	UID             types.UID
	// Tier is its tier.
	Tier DrainTier
	// Code says why it is not evicted. Empty if it is, or is deleted.
	Code DrainCode
	// Budget is the PodDisruptionBudget, by namespace and name, that counts the
	// eviction, or that stands against it. Several are separated by commas.
	Budget string
	// Grace is the grace period to delete it with, in whole seconds and at
	// least one. Zero unless it is deleted.
	Grace time.Duration
	// Until is when time alone ends what Code says, zero if it does not.
	Until time.Time
	// ForceAt is when it is deleted at the latest, so that its own grace ends
	// with the deadline; zero without a deadline. A pod with more grace than is
	// left is deleted at once, with what is left.
	ForceAt time.Time
}

// String is the step in words.
func (s DrainStep) String() string {
	text := s.Namespace + "/" + s.Name
	switch s.Code {
	case "":
		if s.Grace > 0 {
			return fmt.Sprintf("delete %s with %s of grace", text, s.Grace)
		}
		text = "evict " + text
		if s.Budget != "" {
			text += ", counted by " + s.Budget
		}
		return text
	case DrainTerminating:
		text += " is terminating"
	case DrainTierWaits:
		text += fmt.Sprintf(" is %s and waits for pods of earlier tiers", s.Tier)
	case DrainDoNotDisrupt:
		text += " is not to be disrupted"
	case DrainBudgetSpent:
		text += " may not be evicted: " + s.Budget + " allows no more disruptions"
	case DrainBudgetsOverlap:
		text += " cannot be evicted: several budgets select it (" + s.Budget + "); leave one"
	default:
		return text + " is not waited for: " + string(s.Code)
	}
	if !s.Until.IsZero() {
		text += " until " + s.Until.UTC().Format(time.RFC3339)
	}
	if !s.ForceAt.IsZero() && s.Code != DrainTerminating {
		text += ", deleted at " + s.ForceAt.UTC().Format(time.RFC3339)
	}
	return text
}

// DrainNodePlan is what to do on one node.
type DrainNodePlan struct {
	// Node is its name.
	Node string
	// State is how far it is.
	State DrainState
	// Tier is the earliest that is waited for, zero if none is.
	Tier DrainTier
	// Evict are pods to evict now with the eviction API, in the order in which
	// to do it: by tier, priority, those not ready first, the longest grace,
	// namespace and name.
	Evict []DrainStep
	// Delete are pods to delete now, whatever protects them, in the same order.
	Delete []DrainStep
	// Blocked are pods that are waited for and that nothing is done about now,
	// in the same order.
	Blocked []DrainStep
	// Ignored are pods that are not waited for, by namespace and name.
	Ignored []DrainStep
	// Volumes are the VolumeAttachments that are waited for when no pod is,
	// sorted.
	Volumes []string
	// Abandoned are those that are no longer waited for because the deadline
	// has passed, sorted.
	Abandoned []string
}

// DrainPlan is what to do on all nodes.
type DrainPlan struct {
	// Nodes has a plan for each node, by name.
	Nodes []DrainNodePlan
	// Faults are budgets whose selector cannot be read. As the eviction API
	// does, the plan goes on as if they selected nothing. By namespace and name.
	Faults []error
	// Next is when time alone changes the plan, zero if it does not. It changes
	// with the pods and budgets too, of course.
	Next time.Time
}
