package nodepool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// ReasonNodeClassNotReady is the reason of NodeClassReady where the node class cannot be
// used.
const ReasonNodeClassNotReady = "NodeClassNotReady"

// Edit is a NodePool with its status as it should be:
//
//   - ValidationSucceeded is True if the pool, with its defaults, validates, and
//     otherwise False with every fault, as far as 32,768 bytes go, which is what the API
//     server takes. That holds for each message.
//   - NodeClassReady is True without a class error, and otherwise False with that: the
//     answer of cloudprovider.NodeClassReady, or of InstanceTypes. A pool that does not
//     validate has no class that could be asked for, so the condition stays as it is.
//   - Ready is True if both are, False with the reason and message of the first that is
//     False, and otherwise Unknown.
//   - resources and nodes are those of usage; nil leaves them.
//
// Each condition is of the generation of the pool, and its transition is now where its
// Status is another than before. Spec and metadata stay as they are, defaults are not
// written. The pool given is not changed, and returned itself where there is nothing to
// change; a nil pool stays nil.
func Edit(pool *v1.NodePool, class error, usage *provisioning.PoolUsage, now time.Time) *v1.NodePool {
	if pool == nil {
		return nil
	}
	full := pool.DeepCopy()
	full.Default()
	conditions := pool.Status.Conditions
	set := func(kind string, is metav1.ConditionStatus, reason, message string) {
		conditions = status.With(conditions, metav1.Condition{Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: pool.Generation}, now)
	}
	if faults := full.Validate().ToAggregate(); faults != nil {
		set(v1.ConditionTypeValidationSucceeded, metav1.ConditionFalse, v1.ReasonNodePoolValidationFailed, faults.Error())
	} else {
		set(v1.ConditionTypeValidationSucceeded, metav1.ConditionTrue, v1.ConditionTypeValidationSucceeded, "")
		if class != nil {
			set(v1.ConditionTypeNodeClassReady, metav1.ConditionFalse, ReasonNodeClassNotReady, class.Error())
		} else {
			set(v1.ConditionTypeNodeClassReady, metav1.ConditionTrue, v1.ConditionTypeNodeClassReady, "")
		}
	}
	is, reason, message := readiness(conditions)
	set(v1.ConditionTypeReady, is, reason, message)
	used := usage == nil || pool.Status.Nodes != nil && *pool.Status.Nodes == usage.Nodes && status.SameAmounts(pool.Status.Resources, usage.Resources.ResourceList())
	if used && slices.Equal(conditions, pool.Status.Conditions) {
		return pool
	}
	out := pool.DeepCopy()
	out.Status.Conditions = conditions
	if usage != nil {
		nodes := usage.Nodes
		out.Status.Resources, out.Status.Nodes = usage.Resources.ResourceList(), &nodes
	}
	return out
}

// readiness is what the condition Ready says beside the others.
func readiness(list []metav1.Condition) (is metav1.ConditionStatus, reason, message string) {
	is, reason = metav1.ConditionTrue, v1.ConditionTypeReady
	for _, kind := range []string{v1.ConditionTypeValidationSucceeded, v1.ConditionTypeNodeClassReady} {
		c := status.Find(list, kind)
		switch {
		case c != nil && c.Status == metav1.ConditionFalse:
			return c.Status, c.Reason, c.Message
		case c == nil || c.Status != metav1.ConditionTrue:
			is, reason = metav1.ConditionUnknown, "AwaitingReconciliation"
		}
	}
	return is, reason, ""
}

// News are the conditions that are False in after and were not in before, or said
// something else, without Ready, which repeats them: what an event tells the owner of
// the pool. Either may be nil.
func News(before, after *v1.NodePool) []metav1.Condition {
	if after == nil {
		return nil
	}
	var out []metav1.Condition
	for _, c := range after.Status.Conditions {
		if c.Type == v1.ConditionTypeReady || c.Status != metav1.ConditionFalse {
			continue
		}
		var was *metav1.Condition
		if before != nil {
			was = status.Find(before.Status.Conditions, c.Type)
		}
		if was == nil || was.Status != c.Status || was.Message != c.Message {
			out = append(out, c)
		}
	}
	return out
}
