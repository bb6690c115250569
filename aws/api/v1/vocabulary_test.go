package v1_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// domainLabels are all the keys under karpenter.k8s.aws that the schema of
// NodePools and NodeClaims admits.
var domainLabels = []string{
	"capacity-reservation-id", "capacity-reservation-interruptible", "capacity-reservation-type", "ec2nodeclass",
	"instance-accelerator-count", "instance-accelerator-manufacturer", "instance-accelerator-name",
	"instance-capability-flex", "instance-category", "instance-cpu", "instance-cpu-manufacturer",
	"instance-cpu-sustained-clock-speed-mhz", "instance-ebs-bandwidth", "instance-encryption-in-transit-supported",
	"instance-family", "instance-generation", "instance-gpu-count", "instance-gpu-manufacturer", "instance-gpu-memory",
	"instance-gpu-name", "instance-hypervisor", "instance-local-nvme", "instance-memory", "instance-network-bandwidth",
	"instance-size", "instance-tenancy", "placement-group-id", "placement-group-partition",
}

// notOfTypes are those of them that say how a node is bought or placed.
var notOfTypes = []string{
	"capacity-reservation-id", "capacity-reservation-interruptible", "capacity-reservation-type",
	"instance-tenancy", "placement-group-id", "placement-group-partition",
}

func TestVocabulary(t *testing.T) {
	v := v1.Vocabulary()
	for _, name := range domainLabels {
		key := "karpenter.k8s.aws/" + name
		require.Equal(t, name != "ec2nodeclass", v.WellKnown(key), key)
		require.Equal(t, name != "ec2nodeclass", v.CheckKey(key) == nil, key)
	}
	require.Error(t, v.CheckKey("karpenter.k8s.aws/instance-pods"))
	require.Error(t, v.CheckKey("compatibility.karpenter.k8s.aws/x"))
	require.True(t, v.WellKnown("topology.k8s.aws/zone-id"))
	require.Equal(t, "topology.kubernetes.io/zone", v.NormalizeKey("topology.ebs.csi.aws.com/zone"))
	require.Error(t, v.CheckRequirement(requirements.In(v1.LabelInstanceTenancy, "host")))
	require.NoError(t, v.CheckRequirement(requirements.In(v1.LabelInstanceTenancy, "dedicated")))
	require.False(t, requirements.DefaultVocabulary().WellKnown(v1.LabelInstanceCPU), "the default is left as it is")
}

func TestRulesOfNodePools(t *testing.T) {
	require.Empty(t, poolWith(t, "topology.k8s.aws/zone-id").ValidateWith(v1.NodePoolRules()))
	for _, name := range domainLabels {
		faults := poolWith(t, "karpenter.k8s.aws/"+name).ValidateWith(v1.NodePoolRules())
		require.Equal(t, name != "ec2nodeclass", len(faults) == 0, "%s: %v", name, faults)
	}
	require.NotEmpty(t, poolWith(t, "karpenter.k8s.aws/instance-pods").ValidateWith(v1.NodePoolRules()))
	p := poolWith(t, v1.LabelInstanceTenancy)
	p.Spec.Template.Spec.Requirements[0].Operator, p.Spec.Template.Spec.Requirements[0].Values = "In", []string{"host"}
	require.Equal(t, []string{`spec.template.spec.requirements[0].values: Invalid value: ["host"]: karpenter.k8s.aws/instance-tenancy knows none of these values; use dedicated, default`},
		messages(p.ValidateWith(v1.NodePoolRules())))
}

func TestRulesOfNodeClaims(t *testing.T) {
	for _, name := range domainLabels {
		c := &karpv1.NodeClaim{Spec: karpv1.NodeClaimSpec{
			NodeClassRef: poolWith(t, "x").Spec.Template.Spec.NodeClassRef,
			Requirements: []karpv1.NodeSelectorRequirementWithMinValues{{Key: "karpenter.k8s.aws/" + name, Operator: "Exists"}},
		}}
		require.Empty(t, c.ValidateWith(v1.NodePoolRules()), name)
	}
}

func TestRulesOfNodeOverlays(t *testing.T) {
	overlay := func(key string, resource corev1.ResourceName) *karpv1.NodeOverlay {
		return &karpv1.NodeOverlay{Spec: karpv1.NodeOverlaySpec{
			Requirements: []karpv1.NodeSelectorRequirement{{Key: key, Operator: "Exists"}},
			Capacity:     corev1.ResourceList{resource: {}},
		}}
	}
	require.Empty(t, overlay("topology.k8s.aws/zone-id", "smarter-devices/fuse").ValidateWith(v1.NodeOverlayRules()))
	for _, name := range domainLabels {
		faults := overlay("karpenter.k8s.aws/"+name, "smarter-devices/fuse").ValidateWith(v1.NodeOverlayRules())
		require.Equal(t, name != "ec2nodeclass" && !slices.Contains(notOfTypes, name), len(faults) == 0, "%s: %v", name, faults)
	}
	for _, resource := range v1.WellKnownResources() {
		require.Len(t, overlay("a", resource).ValidateWith(v1.NodeOverlayRules()), 1, resource)
	}
	require.Empty(t, overlay("a", v1.ResourceNVIDIAGPU).ValidateWith(v1.NodeOverlayRules()), "EC2 reports none for some types")
}

func TestListsAreSortedAndTheCallers(t *testing.T) {
	require.True(t, slices.IsSorted(v1.WellKnownLabels()))
	require.True(t, slices.IsSorted(v1.WellKnownResources()))
	require.True(t, slices.IsSorted(v1.ExoticResources()))
	require.True(t, slices.IsSorted(v1.VolumeTypes()))
	require.True(t, slices.IsSorted(v1.ReadyConditions(true)))
	require.Len(t, v1.ReadyConditions(true), 7)
	require.NotContains(t, v1.ReadyConditions(false), v1.ConditionTypeCapacityReservationsReady)
	for _, rules := range []*karpv1.Rules{v1.NodePoolRules(), v1.NodeOverlayRules()} {
		require.True(t, slices.IsSorted(rules.WellKnownLabels))
		require.Equal(t, slices.Compact(slices.Clone(rules.WellKnownLabels)), rules.WellKnownLabels)
		rules.WellKnownLabels[0] = "x"
		rules.KnownValues[v1.LabelInstanceTenancy][0] = "x"
	}
	require.NotEqual(t, "x", v1.WellKnownLabels()[0])
	require.Equal(t, []string{"dedicated", "default"}, v1.NodePoolRules().KnownValues[v1.LabelInstanceTenancy])
}

// poolWith returns a pool that asks for a label and is valid otherwise.
func poolWith(t *testing.T, key string) *karpv1.NodePool {
	t.Helper()
	p := &karpv1.NodePool{}
	p.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: v1.Group, Kind: v1.EC2NodeClassKind, Name: "default"}
	p.Spec.Template.Spec.Requirements = []karpv1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: "Exists"}}
	return p
}

// A NodeClaim may name its class by the label of EC2NodeClasses, whatever the kind of its
// class, and by no other of the domain.
func TestNodeClaimsUseTheLabelOfTheClass(t *testing.T) {
	for key, ok := range map[string]bool{v1.LabelNodeClass: true, "karpenter.k8s.aws/other": false} {
		claim := &karpv1.NodeClaim{}
		claim.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: v1.Group, Kind: "Other", Name: "a"}
		claim.Spec.Requirements = []karpv1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: corev1.NodeSelectorOpExists}}
		require.Equal(t, ok, len(claim.ValidateWith(v1.NodePoolRules())) == 0, key)
	}
}
