package aws

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Codes of errors of NVIDIA GPUs, which the node monitoring agent of EKS puts into
// the reason of AcceleratedHardwareReady. A restart clears the first; the others
// mean that the hardware is broken.
const (
	passingErrors = "XID(46|48|54|62|63|95|109|110|136|140|143|155|156|158)"
	lastingErrors = "XID(64|74|79|119|120)"
)

// RepairPolicies returns the conditions that show that a node on EC2 is broken, as in Karpenter
// 1.15: Ready is not true, or a condition of EKS's node monitoring agent. For each the node is
// replaced after half an hour, and its pods have ten minutes to leave. For known GPU errors it is
// replaced after ten minutes, and pods have five.
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy {
	const anyReason, fallback = ".*", ""
	policy := func(
		condition corev1.NodeConditionType, status corev1.ConditionStatus, reason string, tolerate, drain time.Duration,
	) cloudprovider.RepairPolicy {
		return cloudprovider.RepairPolicy{
			ConditionType: condition, ConditionStatus: status, ReasonRegex: reason, TolerationDuration: tolerate,
			TerminationGracePeriod: &drain, Action: cloudprovider.ReplaceNode,
		}
	}
	slow := func(condition corev1.NodeConditionType, status corev1.ConditionStatus, reason string) cloudprovider.RepairPolicy {
		return policy(condition, status, reason, 30*time.Minute, 10*time.Minute)
	}
	fast := func(condition corev1.NodeConditionType, reason string) cloudprovider.RepairPolicy {
		return policy(condition, corev1.ConditionFalse, reason, 10*time.Minute, 5*time.Minute)
	}
	const hardware corev1.NodeConditionType = "AcceleratedHardwareReady"
	return []cloudprovider.RepairPolicy{
		slow(corev1.NodeReady, corev1.ConditionFalse, anyReason),
		slow(corev1.NodeReady, corev1.ConditionUnknown, anyReason),
		fast(hardware, passingErrors),
		fast(hardware, lastingErrors),
		// The fallback of a set applies to reasons that no policy matches.
		slow(hardware, corev1.ConditionFalse, fallback),
		slow("StorageReady", corev1.ConditionFalse, anyReason),
		slow("NetworkingReady", corev1.ConditionFalse, anyReason),
		slow("KernelReady", corev1.ConditionFalse, anyReason),
		slow("ContainerRuntimeReady", corev1.ConditionFalse, anyReason),
	}
}
