package drain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Deadline returns when the drain of a NodeClaim must have ended: the value of its annotation
// karpenter.sh/nodeclaim-termination-timestamp, or else the end of its terminationGracePeriod, to
// whole seconds, counted from its deletion or, while it is not being deleted, from now. It is zero,
// for no limit, if there is neither.
//
// The error, for an annotation that is not an instant in RFC 3339, names the claim. The instant is
// then that of the grace period. A negative grace period is an error too, and counts as none.
func Deadline(now time.Time, claim *v1.NodeClaim) (time.Time, error) {
	if claim == nil {
		return time.Time{}, nil
	}
	var err error
	if text := claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]; text != "" {
		by, fault := time.Parse(time.RFC3339, text)
		if fault == nil {
			return by.UTC(), nil
		}
		err = fmt.Errorf("NodeClaim %q: metadata.annotations[%s]: %q is no instant; write it as in 2026-01-02T15:04:05Z, or remove it",
			claim.Name, v1.NodeClaimTerminationTimestampAnnotationKey, text)
	}
	grace := claim.Spec.TerminationGracePeriod
	if grace == nil {
		return time.Time{}, err
	}
	if grace.Duration < 0 {
		return time.Time{}, errors.Join(err, fmt.Errorf("NodeClaim %q: spec.terminationGracePeriod is %s; use a duration such as 1h, or leave it out for no limit", claim.Name, grace.Duration))
	}
	since := now
	if claim.DeletionTimestamp != nil {
		since = claim.DeletionTimestamp.Time
	}
	return since.Add(grace.Duration).UTC().Truncate(time.Second), err
}

// Bound returns a NodeClaim to be stored before it is deleted: with the annotation of its Deadline,
// or by, or the end of bound, counted from now, whichever is earliest. A zero by and a nil bound
// are ignored. So an existing deadline is never postponed. An unreadable one is replaced, or
// removed if there is no limit.
//
// Without by and bound it stores the deadline of the terminationGracePeriod, for a deletion by
// another program. Call it first for a NodeClaim that is being deleted.
//
// The given claim is not changed, and is returned itself if there is nothing to change. A nil claim
// stays nil.
func Bound(now time.Time, claim *v1.NodeClaim, by time.Time, bound *time.Duration) *v1.NodeClaim {
	if claim == nil {
		return nil
	}
	end, _ := Deadline(now, claim) // an unreadable deadline is replaced
	end = order.Sooner(end, by)
	if bound != nil {
		end = order.Sooner(end, now.Add(*bound))
	}
	have := claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]
	text := ""
	if !end.IsZero() {
		text = end.UTC().Format(time.RFC3339)
	}
	if at, err := time.Parse(time.RFC3339, have); text == have || err == nil && at.Equal(end.Truncate(time.Second)) {
		return claim
	}
	c := claim.DeepCopy()
	if text == "" {
		delete(c.Annotations, v1.NodeClaimTerminationTimestampAnnotationKey)
		return c
	}
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.NodeClaimTerminationTimestampAnnotationKey, text)
	return c
}

// CloseNode returns a Node that accepts no more pods, for the beginning of its drain: with the
// taint karpenter.sh/disrupted of effect NoSchedule instead of any with that key, and the label
// that excludes it from load balancers of the cloud. The given Node is not changed, and is returned
// itself if there is nothing to change. A nil Node stays nil.
//
// A command taints the nodes that it removes, without the label; CloseNode is for nodes that are
// removed without a command, and for the label.
func CloseNode(node *corev1.Node) *corev1.Node {
	if node == nil {
		return nil
	}
	want := v1.DisruptedNoScheduleTaint()
	ours := func(t corev1.Taint) bool { return t.Key == want.Key }
	i := slices.IndexFunc(node.Spec.Taints, ours)
	closed := i >= 0 && node.Spec.Taints[i].Effect == want.Effect && !slices.ContainsFunc(node.Spec.Taints[i+1:], ours)
	_, labelled := node.Labels[corev1.LabelNodeExcludeBalancers]
	if closed && labelled {
		return node
	}
	n := node.DeepCopy()
	if !closed {
		n.Spec.Taints = append(slices.DeleteFunc(n.Spec.Taints, ours), want)
	}
	if !labelled {
		metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelNodeExcludeBalancers, "karpenter")
	}
	return n
}

// Observe reads a Node that is to be drained, its NodeClaim, which may be
// nil, and the pods that are bound to it, each by ObservePod:
//
//   - Since is the earlier of the deletion of the claim and of the Node, zero if
//     neither is being deleted;
//   - Reason is that of the condition DisruptionReason of the claim;
//   - Deadline is the Deadline of the claim, as of now.
//
// The caller adds volumes of pods and attachments of the Node. Nil pods are left out; pods of other
// nodes are not checked for. The error joins that of Deadline and a fault for a deletionTimestamp
// of the claim or the Node that is more than Minimum in the future, because the drain does not end
// before it; the result is complete then. If the Node is nil the error says so.
func Observe(now time.Time, claim *v1.NodeClaim, node *corev1.Node, pods []*corev1.Pod) (Node, error) {
	if node == nil {
		return Node{}, fmt.Errorf("drain: the Node is nil; a NodeClaim without a Node has nothing to drain")
	}
	n := Node{Name: node.Name}
	faults := []error{n.begin("Node", node, now)}
	if claim != nil {
		faults = append(faults, n.begin("NodeClaim", claim, now))
		if c := status.Find(claim.Status.Conditions, v1.ConditionTypeDisruptionReason); c != nil {
			n.Reason = c.Reason
		}
	}
	for _, p := range pods {
		if p != nil {
			n.Pods = append(n.Pods, ObservePod(p, nil))
		}
	}
	var err error
	n.Deadline, err = Deadline(now, claim)
	return n, errors.Join(append(faults, err)...)
}

// begin sets Since to the deletion of an object, if that is earlier.
func (n *Node) begin(kind string, o metav1.Object, now time.Time) error {
	at := o.GetDeletionTimestamp()
	if at == nil {
		return nil
	}
	n.Since = order.Sooner(n.Since, at.Time)
	if at.After(now.Add(Minimum)) {
		return fmt.Errorf("%s %q: metadata.deletionTimestamp: %s lies in the future, and the drain does not end before; compare the clock of this program with that of the API server",
			kind, o.GetName(), at.UTC().Format(time.RFC3339))
	}
	return nil
}
