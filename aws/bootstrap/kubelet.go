package bootstrap

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// managedKubeletFields are the settings of the kubelet that have fields, and the one
// that taints are written to.
func managedKubeletFields() []string {
	return []string{"clusterDNS", "cpuCFSQuota", "evictionHard", "evictionMaxPodGracePeriod", "evictionSoft",
		"evictionSoftGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "kubeReserved",
		"maxPods", "podsPerCore", "registerWithTaints", "systemReserved"}
}

// maxPods is the number of pods that the kubelet is told, or nil.
func (n *Node) maxPods() *int32 {
	if own := n.ownMaxPods(); own != nil {
		return own
	}
	return n.MaxPods
}

// ownMaxPods is the number that Kubelet has, or nil.
func (n *Node) ownMaxPods() *int32 {
	if own := n.Kubelet.MaxPods; own != nil && own.Type == intstr.Int {
		return &own.IntVal
	}
	return nil
}

// durations renders durations as the kubelet reads them.
func durations(m map[string]metav1.Duration) map[string]string {
	out := make(map[string]string, len(m))
	for k, d := range m {
		out[k] = d.Duration.String()
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
