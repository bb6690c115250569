package v1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// KubeletConfiguration is what can be set of the kubelet's configuration. Names
// and meanings are those of the kubelet. Which settings a family of images takes
// is said at EC2NodeClass.Validate.
//
// +k8s:deepcopy-gen=false
type KubeletConfiguration struct {
	// ClusterDNS are the IP addresses of the cluster's DNS service. Families
	// other than AL2023 and Custom take one. Any text is passed on; the kubelet
	// warns of what is no address, and goes without.
	ClusterDNS []string `json:"clusterDNS,omitzero"`
	// MaxPods is the largest number of pods on a node, zero or more, or a string
	// with an expression that gives one. Nil counts them by the addresses that
	// the instance type has.
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore lowers the number of pods to so many per vCPU. Zero, like nil,
	// does not.
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved is what the operating system is given, by resource: cpu,
	// memory, ephemeral-storage or pid, to a quantity that is not negative or an
	// expression: see EvaluateExpressions.
	SystemReserved map[string]string `json:"systemReserved,omitzero"`
	// KubeReserved is what Kubernetes itself is given, as SystemReserved. A
	// resource that is not named has a default that grows with the instance.
	KubeReserved map[string]string `json:"kubeReserved,omitzero"`
	// EvictionHard says by signal below what amount, a quantity or a percentage,
	// pods are evicted at once. Signals are memory.available, nodefs.available,
	// nodefs.inodesFree, imagefs.available, imagefs.inodesFree and
	// pid.available.
	EvictionHard map[string]string `json:"evictionHard,omitzero"`
	// EvictionSoft is EvictionHard with time to recover. Each signal needs an
	// entry in EvictionSoftGracePeriod, and the reverse.
	EvictionSoft map[string]string `json:"evictionSoft,omitzero"`
	// EvictionSoftGracePeriod is the time to recover by signal, not negative.
	EvictionSoftGracePeriod map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitzero"`
	// EvictionMaxPodGracePeriod bounds, in seconds, how long a pod that is
	// evicted by EvictionSoft may take to end. Zero or more.
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// ImageGCHighThresholdPercent is how full the disk must be, 0 to 100, for
	// images to be removed.
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// ImageGCLowThresholdPercent is down to where they are removed, below the
	// high threshold.
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// CPUCFSQuota enforces CPU limits. Nil leaves it to the kubelet, which does.
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
	// Extra are further settings by their names in the kubelet's configuration,
	// beside the fields above on the wire, with values as encoding/json decodes
	// them. Nothing here depends on them; they are passed on to the kubelet of
	// families that take any, which AL2023 is. Karpenter has them from 1.15 on.
	Extra map[string]any `json:"-"`
	// AsRead has, by name, how settings were written whose fields do not say it:
	// a duration of 60s, which is 1m0s too, a null in a list, a value of the wrong type.
	// The drift hash is one of what the API server keeps, to the letter.
	// UnmarshalJSON fills it. An entry stands for as long as its setting is not
	// changed; there is no need to clear it, and nothing to be set by it.
	AsRead map[string]KubeletText `json:"-"`
}

// KubeletText is how a setting of the kubelet was written.
//
// +k8s:deepcopy-gen=false
type KubeletText struct {
	// JSON is the value as the API server keeps it.
	JSON string
	// Setting is the value that was read, as it would be written; empty if the
	// setting was left out.
	Setting string
}

// DeepCopyInto copies k into out. Nothing is shared. It is written by hand because
// Extra may hold any value of JSON.
func (k *KubeletConfiguration) DeepCopyInto(out *KubeletConfiguration) {
	*out = *k
	out.ClusterDNS = slices.Clone(k.ClusterDNS)
	out.MaxPods = clonePointer(k.MaxPods)
	out.PodsPerCore = clonePointer(k.PodsPerCore)
	out.SystemReserved = maps.Clone(k.SystemReserved)
	out.KubeReserved = maps.Clone(k.KubeReserved)
	out.EvictionHard = maps.Clone(k.EvictionHard)
	out.EvictionSoft = maps.Clone(k.EvictionSoft)
	out.EvictionSoftGracePeriod = maps.Clone(k.EvictionSoftGracePeriod)
	out.EvictionMaxPodGracePeriod = clonePointer(k.EvictionMaxPodGracePeriod)
	out.ImageGCHighThresholdPercent = clonePointer(k.ImageGCHighThresholdPercent)
	out.ImageGCLowThresholdPercent = clonePointer(k.ImageGCLowThresholdPercent)
	out.CPUCFSQuota = clonePointer(k.CPUCFSQuota)
	out.Extra = copyObject(k.Extra)
	out.AsRead = maps.Clone(k.AsRead)
}

// DeepCopy returns a copy that shares nothing with k, or nil for nil.
func (k *KubeletConfiguration) DeepCopy() *KubeletConfiguration {
	if k == nil {
		return nil
	}
	out := new(KubeletConfiguration)
	k.DeepCopyInto(out)
	return out
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
