package instancetype_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// The file says what nodes of these types have for pods, as published, with the images of Amazon Linux 2023
// and nothing configured.
func TestGoldenAllocatable(t *testing.T) {
	data, err := os.ReadFile("testdata/allocatable.json")
	require.NoError(t, err)
	var known map[string]string
	require.NoError(t, json.Unmarshal(data, &known))
	c := build(t, input(t, class(amiselect.FamilyAL2023)), nil)
	maps.Copy(known, map[string]string{ // in addition to the published ones
		"dl1.24xlarge": "cpu=95690m, memory=718987Mi, pods=737, vpc.amazonaws.com/pod-eni=62, habana.ai/gaudi=8, vpc.amazonaws.com/efa=4, ephemeral-storage=17Gi",
		"inf1.xlarge":  "cpu=3920m, memory=6804Mi, pods=38, vpc.amazonaws.com/pod-eni=38, ephemeral-storage=17Gi",
		"i4i.large":    "cpu=1930m, memory=14481Mi, pods=29, vpc.amazonaws.com/pod-eni=9, ephemeral-storage=17Gi",
	})
	for name, want := range known {
		got, err := find(t, c, name).Allocatable()
		require.NoError(t, err)
		require.Equal(t, resources.MustParse(want).String(), got.String(), name)
	}
}

// Every well-known label of AWS is settled, with these values; the others do not
// exist.
func TestGoldenLabels(t *testing.T) {
	c := build(t, input(t, class(amiselect.FamilyAL2023)), nil)
	require.Len(t, c.Types, 20)
	requireSound(t, c.Types)
	for _, it := range c.Types {
		require.Empty(t, kit.OpenLabels(it, awsv1.WellKnownLabels()...), it.Name)
	}
	for name, want := range map[string]string{
		"m5.large": "karpenter.k8s.aws/instance-category = m, karpenter.k8s.aws/instance-generation = 5, karpenter.k8s.aws/instance-family = m5, " +
			"karpenter.k8s.aws/instance-size = large, karpenter.k8s.aws/instance-capability-flex = false, karpenter.k8s.aws/instance-hypervisor = nitro, " +
			"karpenter.k8s.aws/instance-cpu = 2, karpenter.k8s.aws/instance-memory = 8192, " +
			"karpenter.k8s.aws/instance-cpu-manufacturer = intel, karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz = 3100, " +
			"karpenter.k8s.aws/instance-ebs-bandwidth = 4750, karpenter.k8s.aws/instance-network-bandwidth = 750, " +
			"karpenter.k8s.aws/instance-encryption-in-transit-supported = false, karpenter.k8s.aws/instance-tenancy in (dedicated, default), " +
			"!karpenter.k8s.aws/instance-local-nvme, !karpenter.k8s.aws/instance-gpu-name, !karpenter.k8s.aws/instance-gpu-manufacturer, " +
			"!karpenter.k8s.aws/instance-gpu-count, !karpenter.k8s.aws/instance-gpu-memory, !karpenter.k8s.aws/instance-accelerator-name, " +
			"!karpenter.k8s.aws/instance-accelerator-manufacturer, !karpenter.k8s.aws/instance-accelerator-count, " +
			"!karpenter.k8s.aws/capacity-reservation-id, !karpenter.k8s.aws/capacity-reservation-type, " +
			"!karpenter.k8s.aws/capacity-reservation-interruptible, !karpenter.k8s.aws/placement-group-id, " +
			"!karpenter.k8s.aws/placement-group-partition, !node.kubernetes.io/windows-build, kubernetes.io/os = linux, kubernetes.io/arch = amd64, " +
			"node.kubernetes.io/instance-type = m5.large, topology.kubernetes.io/region = us-east-1, " +
			"topology.kubernetes.io/zone in (us-east-1a, us-east-1b, us-east-1c), karpenter.sh/capacity-type in (on-demand, spot)",
		"m5.metal":      `karpenter.k8s.aws/instance-hypervisor = "", karpenter.k8s.aws/instance-size = metal, karpenter.k8s.aws/instance-network-bandwidth = 25000`,
		"g6f.xlarge":    "karpenter.k8s.aws/instance-gpu-count = 0, karpenter.k8s.aws/instance-gpu-name = l4, karpenter.k8s.aws/instance-gpu-memory = 2861",
		"inf2.xlarge":   "karpenter.k8s.aws/instance-accelerator-name = inferentia2, karpenter.k8s.aws/instance-accelerator-manufacturer = aws, karpenter.k8s.aws/instance-accelerator-count = 1",
		"trn1.2xlarge":  "karpenter.k8s.aws/instance-accelerator-name = trainium, karpenter.k8s.aws/instance-category = trn, karpenter.k8s.aws/instance-local-nvme = 474",
		"trn2.48xlarge": "karpenter.k8s.aws/instance-accelerator-count = 16, karpenter.k8s.aws/instance-network-bandwidth = 3200000, karpenter.sh/capacity-type = on-demand",
		"inf1.xlarge":   "karpenter.k8s.aws/instance-accelerator-name = inferentia, karpenter.k8s.aws/instance-accelerator-manufacturer = aws, karpenter.k8s.aws/instance-accelerator-count = 1",
		"g4ad.xlarge":   "karpenter.k8s.aws/instance-gpu-name = radeon-pro-v520, karpenter.k8s.aws/instance-gpu-manufacturer = amd, karpenter.k8s.aws/instance-gpu-memory = 8192",
		"dl1.24xlarge":  "karpenter.k8s.aws/instance-gpu-name = gaudi-hl-205, karpenter.k8s.aws/instance-gpu-manufacturer = habana, karpenter.k8s.aws/instance-gpu-count = 8",
		"t2.micro": "karpenter.k8s.aws/instance-hypervisor = xen, !karpenter.k8s.aws/instance-ebs-bandwidth, !karpenter.k8s.aws/instance-network-bandwidth, " +
			"kubernetes.io/arch = amd64",
		"a1.medium":          "kubernetes.io/arch = arm64, karpenter.k8s.aws/instance-cpu-manufacturer = aws",
		"p6e-gb200.36xlarge": "karpenter.k8s.aws/instance-category = p, karpenter.k8s.aws/instance-generation = 6, !karpenter.sh/capacity-type, !topology.kubernetes.io/zone",
	} {
		it := find(t, c, name)
		require.Empty(t, it.Requirements.Conflicts(requirements.MustParse(want), requirements.EmptyVocabulary()), name)
		for r := range requirements.MustParse(want).All() {
			got, named := it.Requirements.Get(r.Key())
			require.True(t, named, "%s: %s", name, r.Key())
			require.Equal(t, r.String(), got.String(), name)
		}
	}
}

func TestVolumeLimits(t *testing.T) {
	of := func(c []*cloudprovider.InstanceType, name string) map[string]int64 {
		for _, it := range c {
			if it.Name == name {
				return it.VolumeAttachmentLimits
			}
		}
		return nil
	}
	types := build(t, input(t, class(amiselect.FamilyAL2023)), nil).Types
	require.Equal(t, map[string]int64{"ebs.csi.aws.com": 25}, of(types, "m5.large"), "28, a volume, two interfaces")
	require.Equal(t, map[string]int64{"ebs.csi.aws.com": 17}, of(types, "p5.48xlarge"), "eight disks as well")
	require.Equal(t, map[string]int64{"ebs.csi.aws.com": 31}, of(types, "c8i.large"), "32, a volume")
	require.Nil(t, of(types, "t2.micro"), "EC2 does not say")
	types = build(t, input(t, class(amiselect.FamilyBottlerocket, func(c *awsv1.EC2NodeClass) { c.Name = "two volumes" })), nil).Types
	require.Equal(t, int64(24), of(types, "m5.large")["ebs.csi.aws.com"])
}
