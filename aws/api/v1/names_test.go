package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// The names that objects in a cluster and in AWS have already: policies, dashboards
// and whoever cleans up go by them. They are written out here, as a renaming must
// not pass for a refactoring.
func TestNamesAreThoseInUse(t *testing.T) {
	for want, got := range map[string]string{
		"karpenter.k8s.aws/v1, Kind=EC2NodeClass": v1.GroupVersion.WithKind(v1.EC2NodeClassKind).String(),
		"EC2NodeClassList":                        v1.EC2NodeClassListKind,
		"ec2nodeclasses.karpenter.k8s.aws":        v1.Resource("ec2nodeclasses").String(),

		"karpenter.k8s.aws/termination":           v1.TerminationFinalizer,
		"karpenter.k8s.aws/ec2nodeclass-hash":     v1.EC2NodeClassHashAnnotationKey,
		"karpenter.k8s.aws/tagged":                v1.InstanceTaggedAnnotationKey,
		"karpenter.k8s.aws/instance-profile-name": v1.InstanceProfileAnnotationKey,
		"v6": v1.EC2NodeClassHashVersion,
		"karpenter.k8s.aws/ec2nodeclass-hash-version":         v1.EC2NodeClassHashVersionAnnotationKey,
		"compatibility.karpenter.k8s.aws/cluster-name-tagged": v1.ClusterNameTaggedAnnotationKey,
		"karpenter.k8s.aws":                                    v1.LaunchTemplateNamePrefix,
		"Name":                                                 v1.NameTagKey,
		"karpenter.sh/nodepool":                                v1.NodePoolTagKey,
		"karpenter.sh/nodeclaim":                               v1.NodeClaimTagKey,
		"karpenter.k8s.aws/ec2nodeclass":                       v1.NodeClassTagKey,
		"eks:eks-cluster-name":                                 v1.ClusterNameTagKey,
		"kubernetes.io/cluster/demo":                           v1.ClusterTagKey("demo"),
		"owned":                                                v1.ClusterTagValue,
		"topology.k8s.aws/zone-id":                             v1.LabelTopologyZoneID,
		"topology.ebs.csi.aws.com/zone":                        v1.LabelEBSTopologyZone,
		"karpenter.k8s.aws/capacity-reservation-id":            v1.LabelCapacityReservationID,
		"karpenter.k8s.aws/capacity-reservation-type":          v1.LabelCapacityReservationType,
		"karpenter.k8s.aws/capacity-reservation-interruptible": v1.LabelCapacityReservationInterruptible,
		"karpenter.k8s.aws/placement-group-id":                 v1.LabelPlacementGroupID,
		"karpenter.k8s.aws/placement-group-partition":          v1.LabelPlacementGroupPartition,
		"karpenter.k8s.aws/instance-tenancy":                   v1.LabelInstanceTenancy,
		"/karpenter/us-east-1/demo/0123/":                      v1.InstanceProfilePath("demo", "us-east-1", "0123"),
		"nvidia.com/gpu":                                       string(v1.ResourceNVIDIAGPU),
		"amd.com/gpu":                                          string(v1.ResourceAMDGPU),
		"aws.amazon.com/neuron":                                string(v1.ResourceNeuron),
		"aws.amazon.com/neuroncore":                            string(v1.ResourceNeuronCore),
		"habana.ai/gaudi":                                      string(v1.ResourceGaudi),
		"vpc.amazonaws.com/pod-eni":                            string(v1.ResourcePodENI),
		"vpc.amazonaws.com/PrivateIPv4Address":                 string(v1.ResourcePrivateIPv4Address),
		"vpc.amazonaws.com/efa":                                string(v1.ResourceEFA),
		"10.0.17763":                                           v1.Windows2019Build,
		"10.0.20348":                                           v1.Windows2022Build,
		"10.0.26100":                                           v1.Windows2025Build,
		"Ready":                                                v1.ConditionTypeReady,
		"AMINotFound":                                          v1.ReasonAMINotFound,
		"UnsupportedAlias":                                     v1.ReasonUnsupportedAlias,
		"SubnetsNotFound":                                      v1.ReasonSubnetsNotFound,
		"SecurityGroupsNotFound":                               v1.ReasonSecurityGroupsNotFound,
		"PlacementGroupNotFound":                               v1.ReasonPlacementGroupNotFound,
		"PlacementGroupResolutionFailed":                       v1.ReasonPlacementGroupResolutionFailed,
		"ClusterCIDRResolutionFailed":                          v1.ReasonClusterCIDRResolutionFailed,
		"InvalidKubeletConfiguration":                          v1.ReasonInvalidKubeletConfiguration,
		"UnsupportedKubeletConfiguration":                      v1.ReasonUnsupportedKubeletConfiguration,
		"DependenciesNotReady":                                 v1.ReasonDependenciesNotReady,
		"TagValidationFailed":                                  v1.ReasonTagValidationFailed,
		"CreateLaunchTemplateAuthCheckFailed":                  v1.ReasonCreateLaunchTemplateAuthCheckFailed,
		"CreateFleetAuthCheckFailed":                           v1.ReasonCreateFleetAuthCheckFailed,
		"RunInstancesAuthCheckFailed":                          v1.ReasonRunInstancesAuthCheckFailed,
		"InstanceProfileNotFound":                              v1.ReasonInstanceProfileNotFound,
		"UserDataSizeLimitExceeded":                            v1.ReasonUserDataSizeLimitExceeded,
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, []string{"AMIsReady", "CapacityReservationsReady", "InstanceProfileReady", "PlacementGroupReady",
		"SecurityGroupsReady", "SubnetsReady", "ValidationSucceeded"}, v1.ReadyConditions(true))
}
