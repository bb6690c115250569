package convert

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// manifest is an object of an old version. The tag required marks fields that the CRD, the webhook
// or the AWS provider of that version required.
type manifest[S, T any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              S `json:"spec" required:"true"`
	Status            T `json:"status"`
}

// DeepCopyObject returns an empty object, for the decoder to fill in.
func (*manifest[S, T]) DeepCopyObject() runtime.Object { return &manifest[S, T]{} }

// provisionerSpec is the spec of a Provisioner, karpenter.sh/v1alpha5.
type provisionerSpec struct {
	Labels                 map[string]string                `json:"labels"`
	Annotations            map[string]string                `json:"annotations"`
	Taints                 []corev1.Taint                   `json:"taints"`
	StartupTaints          []corev1.Taint                   `json:"startupTaints"`
	Requirements           []corev1.NodeSelectorRequirement `json:"requirements"`
	KubeletConfiguration   *oldKubelet                      `json:"kubeletConfiguration"`
	Provider               *alphaClassSpec                  `json:"provider"`
	ProviderRef            *oldReference                    `json:"providerRef"`
	TTLSecondsAfterEmpty   *int64                           `json:"ttlSecondsAfterEmpty"`
	TTLSecondsUntilExpired *int64                           `json:"ttlSecondsUntilExpired"`
	Weight                 *int32                           `json:"weight"`
	Limits                 struct {
		Resources karpv1.Limits `json:"resources"`
	} `json:"limits"`
	Consolidation struct {
		Enabled bool `json:"enabled"`
	} `json:"consolidation"`
}

// machineSpec is the spec of a Machine, karpenter.sh/v1alpha5.
type machineSpec struct {
	Taints             []corev1.Taint                                `json:"taints"`
	StartupTaints      []corev1.Taint                                `json:"startupTaints"`
	Requirements       []karpv1.NodeSelectorRequirementWithMinValues `json:"requirements" required:"true"`
	Resources          karpv1.ResourceRequirements                   `json:"resources"`
	Kubelet            *oldKubelet                                   `json:"kubelet"`
	MachineTemplateRef *oldReference                                 `json:"machineTemplateRef" required:"true"`
}

// alphaClassSpec is the spec of an AWSNodeTemplate, karpenter.k8s.aws/v1alpha1, and
// the provider section of a Provisioner.
type alphaClassSpec struct {
	metav1.TypeMeta       `json:",inline"`
	AMIFamily             string                     `json:"amiFamily"`
	AMISelector           map[string]string          `json:"amiSelector"`
	SubnetSelector        map[string]string          `json:"subnetSelector" required:"true"`
	SecurityGroupSelector map[string]string          `json:"securityGroupSelector" required:"true"`
	InstanceProfile       string                     `json:"instanceProfile"`
	UserData              *string                    `json:"userData"`
	Tags                  map[string]string          `json:"tags"`
	MetadataOptions       *awsv1.MetadataOptions     `json:"metadataOptions"`
	BlockDeviceMappings   []awsv1.BlockDeviceMapping `json:"blockDeviceMappings"`
	DetailedMonitoring    *bool                      `json:"detailedMonitoring"`
	Context               *string                    `json:"context"`
}

// betaPoolSpec is the spec of a NodePool, karpenter.sh/v1beta1.
type betaPoolSpec struct {
	Template struct {
		karpv1.ObjectMeta `json:"metadata"`
		Spec              betaClaimSpec `json:"spec" required:"true"`
	} `json:"template" required:"true"`
	Disruption struct {
		ConsolidateAfter    karpv1.NillableDuration    `json:"consolidateAfter"`
		ConsolidationPolicy karpv1.ConsolidationPolicy `json:"consolidationPolicy"`
		ExpireAfter         karpv1.NillableDuration    `json:"expireAfter"`
		Budgets             []karpv1.Budget            `json:"budgets"`
	} `json:"disruption"`
	Limits karpv1.Limits `json:"limits"`
	Weight *int32        `json:"weight"`
}

// betaClaimSpec is the spec of a NodeClaim, karpenter.sh/v1beta1, and of the
// template of a NodePool.
type betaClaimSpec struct {
	Taints        []corev1.Taint                                `json:"taints"`
	StartupTaints []corev1.Taint                                `json:"startupTaints"`
	Requirements  []karpv1.NodeSelectorRequirementWithMinValues `json:"requirements" required:"true"`
	Resources     karpv1.ResourceRequirements                   `json:"resources"`
	Kubelet       *oldKubelet                                   `json:"kubelet"`
	NodeClassRef  *oldReference                                 `json:"nodeClassRef" required:"true"`
}

// claimStatus is the status of a NodeClaim or a Machine, whose conditions had a severity.
type claimStatus struct {
	karpv1.NodeClaimStatus `json:",inline"`
	Conditions             []struct {
		metav1.Condition `json:",inline"`
		Severity         string `json:"severity"`
	} `json:"conditions"`
}

// betaClassSpec is the spec of an EC2NodeClass, karpenter.k8s.aws/v1beta1.
type betaClassSpec struct {
	SubnetSelectorTerms        []awsv1.SubnetSelectorTerm        `json:"subnetSelectorTerms" required:"true"`
	SecurityGroupSelectorTerms []awsv1.SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms" required:"true"`
	AssociatePublicIPAddress   *bool                             `json:"associatePublicIPAddress"`
	AMISelectorTerms           []awsv1.AMISelectorTerm           `json:"amiSelectorTerms"`
	AMIFamily                  string                            `json:"amiFamily" required:"true"`
	Role                       string                            `json:"role"`
	InstanceProfile            *string                           `json:"instanceProfile"`
	InstanceStorePolicy        *awsv1.InstanceStorePolicy        `json:"instanceStorePolicy"`
	UserData                   *string                           `json:"userData"`
	Tags                       map[string]string                 `json:"tags"`
	MetadataOptions            *awsv1.MetadataOptions            `json:"metadataOptions"`
	BlockDeviceMappings        []awsv1.BlockDeviceMapping        `json:"blockDeviceMappings"`
	DetailedMonitoring         *bool                             `json:"detailedMonitoring"`
	Context                    *string                           `json:"context"`
}

// oldReference names a node class.
type oldReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name" required:"true"`
}

// oldKubelet is the kubelet section of a pool. Its fields are those of the class in v1,
// except that amounts were quantities, and containerRuntime.
type oldKubelet struct {
	ClusterDNS                  []string                     `json:"clusterDNS,omitempty"`
	ContainerRuntime            string                       `json:"containerRuntime,omitempty"`
	MaxPods                     *int32                       `json:"maxPods,omitempty"`
	PodsPerCore                 *int32                       `json:"podsPerCore,omitempty"`
	SystemReserved              map[string]resource.Quantity `json:"systemReserved,omitempty"`
	KubeReserved                map[string]resource.Quantity `json:"kubeReserved,omitempty"`
	EvictionHard                map[string]string            `json:"evictionHard,omitempty"`
	EvictionSoft                map[string]string            `json:"evictionSoft,omitempty"`
	EvictionSoftGracePeriod     map[string]metav1.Duration   `json:"evictionSoftGracePeriod,omitempty"`
	EvictionMaxPodGracePeriod   *int32                       `json:"evictionMaxPodGracePeriod,omitempty"`
	ImageGCHighThresholdPercent *int32                       `json:"imageGCHighThresholdPercent,omitempty"`
	ImageGCLowThresholdPercent  *int32                       `json:"imageGCLowThresholdPercent,omitempty"`
	CPUCFSQuota                 *bool                        `json:"cpuCFSQuota,omitempty"`
}
