package offline

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// groupLabels are the labels in which clouds and installers store the node group of a node.
var groupLabels = []string{
	"eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool",
	"kubernetes.azure.com/agentpool", "agentpool", "kops.k8s.io/instancegroup", "doks.digitalocean.com/node-pool",
}

// groupOf returns the name of the node group in the labels of a node, "" if there is none.
func groupOf(labels map[string]string) string {
	for _, key := range groupLabels {
		if name := labels[key]; name != "" {
			return name
		}
	}
	return ""
}

// machine is the instance type, zone and capacity type of a node.
type machine struct{ InstanceType, Zone, CapacityType string }

// machineOf reads the labels of Karpenter, of Kubernetes, and of the node groups of EKS, GKE and
// AKS. A node without a spot label is on-demand, as in these clouds.
func machineOf(labels map[string]string) machine {
	return machine{
		InstanceType: cmp.Or(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelInstanceType]),
		Zone:         cmp.Or(labels[corev1.LabelTopologyZone], labels[corev1.LabelFailureDomainBetaZone]),
		CapacityType: cmp.Or(labels[v1.CapacityTypeLabelKey], groupCapacity(labels)),
	}
}

// groupCapacity returns the capacity type of a node of a node group.
func groupCapacity(labels map[string]string) string {
	switch {
	case labels["eks.amazonaws.com/capacityType"] == "CAPACITY_BLOCK":
		return v1.CapacityTypeReserved
	case labels["eks.amazonaws.com/capacityType"] == "SPOT", labels["cloud.google.com/gke-spot"] == "true",
		labels["cloud.google.com/gke-preemptible"] == "true", labels["kubernetes.azure.com/scalesetpriority"] == "spot":
		return v1.CapacityTypeSpot
	}
	return v1.CapacityTypeOnDemand
}
