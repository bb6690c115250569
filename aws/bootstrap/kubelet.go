package bootstrap

import (
	"maps"
	"slices"
	"time"
)

// Kubelet is what spec.kubelet of an EC2NodeClass says. A nil or empty field is
// left to the image. Reservations that are not given are not sent either: the
// image computes its own.
type Kubelet struct {
	// ClusterDNS are the addresses of name servers for pods. A text that is no
	// address is passed on to the kubelet, which warns of it. If it is empty, the
	// node gets Node.DNSIP. All but AL2023 take at most one.
	ClusterDNS []string
	// MaxPods is the number of pods, at least 0.
	MaxPods *int32
	// PodsPerCore is the number of pods for each core, at least 0. Bottlerocket
	// does not have it.
	PodsPerCore *int32
	// SystemReserved maps cpu, memory, ephemeral-storage and pid to quantities
	// kept for the operating system. CEL expressions must be resolved.
	SystemReserved map[string]string
	// KubeReserved maps the same names to quantities kept for Kubernetes.
	KubeReserved map[string]string
	// EvictionHard maps signals such as memory.available to a quantity or a
	// percentage, such as 5%, below which pods are evicted at once.
	EvictionHard map[string]string
	// EvictionSoft maps signals to quantities or percentages below which pods are
	// evicted after a time, which EvictionSoftGracePeriod gives.
	EvictionSoft map[string]string
	// EvictionSoftGracePeriod has an entry for each one of EvictionSoft.
	EvictionSoftGracePeriod map[string]time.Duration
	// EvictionMaxPodGracePeriod is in seconds, at least 0.
	EvictionMaxPodGracePeriod *int32
	// ImageGCHighThresholdPercent is the disk usage, 0 to 100, from which on
	// images are removed.
	ImageGCHighThresholdPercent *int32
	// ImageGCLowThresholdPercent is the disk usage, 0 to 100, down to which
	// images are removed. It is lower than the high threshold.
	ImageGCLowThresholdPercent *int32
	// CPUCFSQuota says whether CPU limits of containers are enforced.
	CPUCFSQuota *bool
	// Extra are further fields of the kubelet's configuration (KubeletConfiguration,
	// version v1beta1) by their names there, with values as encoding/json decodes
	// them. Only AL2023 takes any.
	Extra map[string]any
}

// managedKubeletFields are the names of the fields above in the kubelet's
// configuration, and the one that taints are written to.
func managedKubeletFields() []string {
	return []string{"clusterDNS", "cpuCFSQuota", "evictionHard", "evictionMaxPodGracePeriod", "evictionSoft",
		"evictionSoftGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "kubeReserved",
		"maxPods", "podsPerCore", "registerWithTaints", "systemReserved"}
}

// maxPods is the number of pods that the kubelet is told, or nil.
func (n *Node) maxPods() *int32 {
	if n.Kubelet.MaxPods != nil {
		return n.Kubelet.MaxPods
	}
	return n.MaxPods
}

// durations renders durations as the kubelet reads them.
func durations(m map[string]time.Duration) map[string]string {
	out := make(map[string]string, len(m))
	for k, d := range m {
		out[k] = d.String()
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
