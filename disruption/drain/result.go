package drain

import (
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// State is the state of a node's drain.
type State string

// The states, in order.
const (
	// Evicting: the drain waits for pods, or Minimum has not passed.
	Evicting State = "evicting"
	// Detaching: the pods are gone, and volumes are still attached.
	Detaching State = "detaching"
	// Done: the machine can be deleted.
	Done State = "done"
)

// Code says why a pod is not evicted now.
type Code string

// The codes of pods that the drain waits for.
const (
	// Terminating: it is being deleted.
	Terminating Code = "terminating"
	// GroupWaits: pods of an earlier group remain.
	GroupWaits Code = "group-waits"
	// DoNotDisrupt: its annotation protects it.
	DoNotDisrupt Code = "do-not-disrupt"
	// BudgetSpent: its budget allows no disruption, or no more than are planned.
	BudgetSpent Code = "budget-spent"
	// BudgetsOverlap: several budgets select it, so the eviction API refuses it whatever they
	// allow.
	BudgetsOverlap Code = "budgets-overlap"
)

// The codes of pods that the drain does not wait for.
const (
	// MirrorPod: it mirrors a static pod, which only the machine can end.
	MirrorPod Code = "mirror"
	// Tolerates: it tolerates the taint and may stay until the machine ends.
	Tolerates Code = "tolerates"
	// Ended: it has ended.
	Ended Code = "ended"
	// Stuck: it should have been gone for more than a minute.
	Stuck Code = "stuck"
	// Left: the deadline has passed in mode Leave.
	Left Code = "left"
)

// PodPlan is the plan for one pod.
type PodPlan struct {
	// Namespace, Name and UID are those of the pod.
	Namespace, Name string
	UID             types.UID
	// Group is the group of the pod.
	Group Group
	// Code says why it is not evicted. Empty if it is evicted or deleted.
	Code Code
	// Budget is the PodDisruptionBudget, by namespace and name, that counts the eviction or
	// prevents it. Several are separated by commas.
	Budget string
	// Grace is the grace period to delete it with, in whole seconds and at
	// least one. Zero unless it is deleted.
	Grace time.Duration
	// Until is when Code ends by time alone; zero if it does not.
	Until time.Time
	// ForceAt is when it is deleted at the latest, so that its own grace ends with the deadline;
	// zero without a deadline. A pod with more grace than the remaining time is deleted at once,
	// with the remaining time as its grace.
	ForceAt time.Time
}

// String returns the plan in words.
func (s PodPlan) String() string {
	if s.Name == "" {
		return "no pod"
	}
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
	case Terminating:
		text += " is terminating"
	case GroupWaits:
		text += fmt.Sprintf(" is %s and waits for pods of earlier groups", s.Group)
	case DoNotDisrupt:
		text += " is not to be disrupted"
	case BudgetSpent:
		text += " may not be evicted: " + s.Budget + " allows no more disruptions"
	case BudgetsOverlap:
		text += " cannot be evicted: several budgets select it (" + s.Budget + "); leave one"
	default:
		return text + " is not waited for: " + string(s.Code)
	}
	if !s.Until.IsZero() {
		text += " until " + s.Until.UTC().Format(time.RFC3339)
	}
	if !s.ForceAt.IsZero() && s.Code != Terminating {
		text += ", deleted at " + s.ForceAt.UTC().Format(time.RFC3339)
	}
	return text
}

// NodePlan has the actions on one node.
type NodePlan struct {
	// Node is its name, and Reason why it is removed.
	Node, Reason string
	// State is Evicting, Detaching or Done.
	State State
	// Group is the earliest group that the drain waits for; zero if there is none.
	Group Group
	// Evict are pods to evict now with the eviction API, in the order in which
	// to do it: by group, priority, those not ready first, the longest grace,
	// namespace and name.
	Evict []PodPlan
	// Delete are pods to delete now: those that must end by the deadline, whatever protects them,
	// and then those whose eviction a budget has already counted (Budget.Granted), each in the same
	// order.
	Delete []PodPlan
	// Blocked are pods that the drain waits for without an action now, in the same order.
	Blocked []PodPlan
	// Ignored are pods that the drain does not wait for, by namespace and name.
	Ignored []PodPlan
	// Volumes are the VolumeAttachments that the drain waits for after the pods, sorted.
	Volumes []string
	// Abandoned are the VolumeAttachments that it no longer waits for because the deadline has
	// passed, sorted.
	Abandoned []string
}

// Result has the actions on all nodes.
type Result struct {
	// Nodes has a plan for each node, by name.
	Nodes []NodePlan
	// Faults joins an error for each budget whose selector cannot be read, by namespace and name;
	// nil if there are none. As in the eviction API, such budgets select nothing.
	Faults error
	// Next is when the plan changes by time alone; zero if it does not.
	Next time.Time
}

// Eviction returns the request to evict a pod of NodePlan.Evict with its own grace, if it still has
// the observed UID. It is nil for all others.
//
// Of the answers, not found (404) and conflict (409) mean that the pod is gone; too many requests
// (429) that a budget was used up meanwhile: call Plan again later.
func (s PodPlan) Eviction() *policyv1.Eviction {
	if s.Code != "" || s.Grace > 0 {
		return nil
	}
	return &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: s.preconditions()},
	}
}

// DeleteOptions returns the options to delete a pod of NodePlan.Delete, and nil for all others.
func (s PodPlan) DeleteOptions() *metav1.DeleteOptions {
	if s.Grace <= 0 {
		return nil
	}
	return &metav1.DeleteOptions{GracePeriodSeconds: new(int64(s.Grace / time.Second)), Preconditions: s.preconditions()}
}

func (s PodPlan) preconditions() *metav1.Preconditions {
	if s.UID == "" {
		return nil
	}
	return &metav1.Preconditions{UID: new(s.UID)}
}
