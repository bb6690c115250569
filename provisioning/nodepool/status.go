package nodepool

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// ReasonNodeClassNotReady is the reason of NodeClassReady if the node class cannot be used.
const ReasonNodeClassNotReady = "NodeClassNotReady"

// Edit returns a NodePool with its new status:
//
//   - ValidationSucceeded is True if the pool, with its defaults, validates, and otherwise False
//     with every fault. Each message is cut at 32,768 bytes, the limit of the API server.
//   - NodeClassReady is True without a class error, and otherwise False with that error, which
//     comes from cloudprovider.NodeClassReady or InstanceTypes. For a pool that does not validate
//     the condition stays, because its class cannot be checked.
//   - Ready is True if both are True, False with the reason and message of the first that is False,
//     and otherwise Unknown.
//   - resources and nodes are those of usage; nil leaves them.
//
// Each condition has the generation of the pool, and now as its time of transition if its Status
// changes. Spec and metadata stay, defaults are not written. The given pool is not changed, and is
// returned itself if there is nothing to change; a nil pool stays nil.
func Edit(now time.Time, pool *v1.NodePool, class error, usage *provisioning.PoolUsage) *v1.NodePool {
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

// readiness returns the condition Ready for the other conditions.
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

// News returns the conditions that are False in after and were not in before, or had another reason
// or message, without Ready, which repeats them: write an event for each. Either pool may be nil.
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
