package command

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Claim has the observed state of a NodeClaim. ObserveClaim makes it from the object.
type Claim struct {
	// Name is the name of the NodeClaim, unique among the claims.
	Name string
	// UID and ResourceVersion are those of the object. Writes carry them on as
	// preconditions; empty is none.
	UID             types.UID
	ResourceVersion string
	// Record is the annotation AnnotationKey, empty if there is none.
	Record string
	// Reason is the reason of the condition DisruptionReason if that is True.
	Reason v1.DisruptionReason
	// Held is whether HoldFinalizer is on it.
	Held bool
	// Deleting is whether it has a deletion time.
	Deleting bool
	// Terminated is whether the machine is gone: the object is being deleted
	// and v1.TerminationFinalizer is not, or no longer, on it.
	Terminated bool
	// Initialized is whether the node has ever been ready for pods.
	Initialized bool
	// Rebooting is whether the condition Rebooting is True: then the reason is
	// that of the reboot.
	Rebooting bool
	// DrainBy is the annotation of the termination deadline, zero without one
	// or if it cannot be read.
	DrainBy time.Time
	// Node is the name of its Node, empty while there is none.
	Node string
	// Pods is the number of pods on the node that would need another node. Pods of DaemonSets,
	// static pods, and pods that have ended do not count. Neither do pods being deleted, except
	// those of StatefulSets, which are created again.
	Pods int
}

// Node has the observed state of a Node. ObserveNode makes it from the object.
type Node struct {
	// Name is the name of the Node, unique among the nodes.
	Name string
	// UID and ResourceVersion are as in Claim.
	UID             types.UID
	ResourceVersion string
	// Record is the annotation AnnotationKey, empty if there is none.
	Record string
	// Tainted is whether it has the disrupted taint.
	Tainted bool
	// Deleting is whether it has a deletion time.
	Deleting bool
}

// Input is the state of the cluster as observed at one time. The order of the lists does not matter.
type Input struct {
	// Claims has at least the NodeClaims of the command that exist; others are ignored.
	Claims []Claim
	// Nodes has at least the Nodes of the command that exist.
	Nodes []Node
	// Created are tokens of replacements that the caller knows to have created: one that is not in
	// Claims counts as lost, and is not created again. The list need not survive a crash; without
	// it a replacement that was lost meanwhile is created again. List a token only once the
	// creation has been seen in Claims, or a stale cache makes it look lost.
	Created []string
	// Cancel, if not empty, asks to undo the command as far as that is still
	// possible, and says why.
	Cancel string
}

// ObserveClaim reads a NodeClaim. node is its Node, nil if there is
// none; pods is how many pods on it would have to move. Initialized is true if
// the Node has the label, or without Node if the claim has the condition. A nil
// claim gives the zero Claim, which stands for none.
func ObserveClaim(claim *v1.NodeClaim, node *corev1.Node, pods int) Claim {
	if claim == nil {
		return Claim{}
	}
	c := Claim{
		Name: claim.Name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
		Record:   claim.Annotations[AnnotationKey],
		Held:     slices.Contains(claim.Finalizers, HoldFinalizer),
		Deleting: claim.DeletionTimestamp != nil,
		Pods:     pods,
	}
	c.Terminated = c.Deleting && !slices.Contains(claim.Finalizers, v1.TerminationFinalizer)
	for _, cond := range claim.Status.Conditions {
		if cond.Status != metav1.ConditionTrue {
			continue
		}
		switch cond.Type {
		case v1.ConditionTypeDisruptionReason:
			c.Reason = v1.DisruptionReason(cond.Reason)
		case v1.ConditionTypeInitialized:
			c.Initialized = node == nil
		case v1.ConditionTypeRebooting:
			c.Rebooting = true
		}
	}
	if node != nil {
		c.Node = node.Name
		c.Initialized = node.Labels[v1.NodeInitializedLabelKey] == "true"
	}
	if at, err := time.Parse(time.RFC3339, claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]); err == nil {
		c.DrainBy = at
	}
	return c
}

// ObserveNode reads a Node. A nil one gives the zero Node, which
// stands for none.
func ObserveNode(node *corev1.Node) Node {
	if node == nil {
		return Node{}
	}
	return Node{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion,
		Record:   node.Annotations[AnnotationKey],
		Deleting: node.DeletionTimestamp != nil,
		Tainted:  status.HasTaint(node, v1.DisruptedNoScheduleTaint()),
	}
}
