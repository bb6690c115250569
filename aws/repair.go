package aws

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// RepairPolicies returns the conditions by which a node on EC2 shows that it is
// broken, as Karpenter has them: Ready that is not true, and those of the node
// monitoring agent of EKS. All replace the node.
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy {
	const patience = 30 * time.Minute
	policy := func(condition corev1.NodeConditionType, status corev1.ConditionStatus, tolerate time.Duration) cloudprovider.RepairPolicy {
		return cloudprovider.RepairPolicy{
			ConditionType: condition, ConditionStatus: status, ReasonRegex: ".*", TolerationDuration: tolerate,
			Action: cloudprovider.ReplaceNode,
		}
	}
	policies := []cloudprovider.RepairPolicy{
		policy(corev1.NodeReady, corev1.ConditionFalse, patience),
		policy(corev1.NodeReady, corev1.ConditionUnknown, patience),
		policy("AcceleratedHardwareReady", corev1.ConditionFalse, 10*time.Minute),
		policy("StorageReady", corev1.ConditionFalse, patience),
		policy("NetworkingReady", corev1.ConditionFalse, patience),
		policy("KernelReady", corev1.ConditionFalse, patience),
		policy("ContainerRuntimeReady", corev1.ConditionFalse, patience),
	}
	// A set has one fallback, which stands for reasons that nothing matches.
	policies[0].ReasonRegex = ""
	return policies
}
