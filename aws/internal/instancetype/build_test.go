package instancetype_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

const gib = int64(1 << 30)

type edit = func(*awsv1.EC2NodeClass)

func kubelet(k awsv1.KubeletConfiguration) edit {
	return func(c *awsv1.EC2NodeClass) { c.Spec.Kubelet = &k }
}

// What the class says of pods is for TestSettingsPods.
func TestPods(t *testing.T) {
	efaOnly := func(c *awsv1.EC2NodeClass) {
		c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
			{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
		}
	}
	for _, c := range []struct {
		name    string
		class   *awsv1.EC2NodeClass
		cluster instancetype.Cluster
		it      string
		want    int64
	}{
		{"a reserved interface", class(amiselect.FamilyAL2), instancetype.Cluster{ReservedInterfaces: 1}, "m5.large", 20},
		{"efa-only", class(amiselect.FamilyAL2, efaOnly), instancetype.Cluster{}, "p4d.24xlarge", 688},
		{"prefixes", class(amiselect.FamilyAL2), instancetype.Cluster{PrefixDelegation: true}, "m5.large", 110},
		{"prefixes on bare metal", class(amiselect.FamilyAL2), instancetype.Cluster{PrefixDelegation: true}, "m5.metal", 250},
		{"no prefixes on Xen", class(amiselect.FamilyAL2), instancetype.Cluster{PrefixDelegation: true}, "t2.micro", 4},
	} {
		got := build(t, input(t, c.class), &instancetype.Options{Cluster: &c.cluster})
		require.Equal(t, c.want, find(t, got, c.it).Capacity.Get(corev1.ResourcePods), c.name)
	}
}

func TestTypesWithoutPodsAreLeftOut(t *testing.T) {
	got := build(t, input(t, class(amiselect.FamilyAL2023)), &instancetype.Options{Cluster: &instancetype.Cluster{ReservedInterfaces: 2}})
	var names []string
	for _, p := range got.Problems {
		names = append(names, p.InstanceType)
	}
	require.Equal(t, []string{"a1.medium", "g4ad.xlarge", "m6g.medium", "p5.48xlarge", "t2.micro", "t3.micro", "trn2.48xlarge"}, names)
	require.Equal(t, "a1.medium: no address for a pod is left because of maxPods, podsPerCore, reserved or efa-only network interfaces; left out",
		got.Problems[0].String())
	require.Len(t, got.Types, 13)
}

func TestEphemeralStorage(t *testing.T) {
	raid := func(c *awsv1.EC2NodeClass) { c.Spec.InstanceStorePolicy = new(awsv1.InstanceStorePolicyRAID0) }
	volumes := func(list ...awsv1.BlockDeviceMapping) edit {
		return func(c *awsv1.EC2NodeClass) { c.Spec.BlockDeviceMappings = list }
	}
	volume := func(name, size string, root bool) awsv1.BlockDeviceMapping {
		q := resource.MustParse(size)
		return awsv1.BlockDeviceMapping{DeviceName: &name, EBS: &awsv1.BlockDevice{VolumeSize: &q}, RootVolume: root}
	}
	bare := awsv1.BlockDeviceMapping{RootVolume: true}
	unsized := awsv1.BlockDeviceMapping{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{SnapshotID: new("snap-1")}}
	for _, c := range []struct {
		name  string
		class *awsv1.EC2NodeClass
		it    string
		want  int64
	}{
		{"the family's", class(amiselect.FamilyAL2023), "trn1.2xlarge", 20 * gib},
		{"of Windows", class(amiselect.FamilyWindows2019), "m5.large", 50 * gib},
		{"of Bottlerocket", class(amiselect.FamilyBottlerocket), "m5.large", 20 * gib},
		{"the disks", class(amiselect.FamilyAL2023, raid), "trn1.2xlarge", 474_000_000_000},
		{"no disks", class(amiselect.FamilyAL2023, raid), "m5.large", 20 * gib},
		{"the disks before the root volume", class(amiselect.FamilyAL2023, raid, volumes(volume("/dev/xvda", "100Gi", true))), "trn1.2xlarge", 474_000_000_000},
		{"Windows joins no disks", class(amiselect.FamilyWindows2022, raid), "trn1.2xlarge", 50 * gib},
		{"the root volume", class(amiselect.FamilyAL2023, volumes(volume("/dev/xvda", "30Gi", false), volume("/dev/xvdb", "100G", true))), "m5.large", 100_000_000_000},
		{"the family's device", class(amiselect.FamilyBottlerocket, volumes(volume("/dev/xvda", "4Gi", false), volume("/dev/xvdb", "200Gi", false))), "m5.large", 200 * gib},
		{"another device", class(amiselect.FamilyAL2023, volumes(volume("/dev/sdf", "200Gi", false))), "m5.large", 20 * gib},
		{"the last of Custom", class(amiselect.FamilyCustom, volumes(volume("/dev/xvda", "30Gi", false), volume("/dev/xvdz", "70Gi", false))), "m5.large", 70 * gib},
		{"the last of Custom has no size", class(amiselect.FamilyCustom, volumes(volume("/dev/xvda", "30Gi", false), unsized)), "m5.large", 20 * gib},
		{"Custom without any", class(amiselect.FamilyCustom), "m5.large", 20 * gib},
		{"a root volume of Custom", class(amiselect.FamilyCustom, volumes(volume("/dev/xvda", "30Gi", true), volume("/dev/xvdz", "70Gi", false))), "m5.large", 30 * gib},
		{"nothing in the mapping", class(amiselect.FamilyAL2023, volumes(bare, volume("/dev/xvda", "60Gi", false))), "m5.large", 60 * gib},
		{"no size", class(amiselect.FamilyAL2023, volumes(unsized)), "m5.large", 20 * gib},
	} {
		got := build(t, input(t, c.class), nil)
		require.Equal(t, c.want, find(t, got, c.it).Capacity.Get(corev1.ResourceEphemeralStorage), c.name)
	}
}

func TestExtendedResources(t *testing.T) {
	efa := func(c *awsv1.EC2NodeClass) {
		c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
			{InterfaceType: awsv1.InterfaceTypeInterface},
			{NetworkCardIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
			{NetworkCardIndex: 2, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
		}
	}
	amount := func(c *instancetype.Catalog, it string, r corev1.ResourceName) int64 {
		return find(t, c, it).Capacity.Get(r)
	}

	linux := build(t, input(t, class(amiselect.FamilyAL2023)), nil)
	require.Equal(t, int64(4), amount(linux, "p4d.24xlarge", awsv1.ResourceEFA))
	_, listed := find(t, linux, "m5.large").Capacity.Lookup(awsv1.ResourceEFA)
	require.False(t, listed, "what there is none of is left out")
	_, listed = find(t, linux, "m5.large").Capacity.Lookup(awsv1.ResourcePrivateIPv4Address)
	require.False(t, listed)
	require.Zero(t, amount(linux, "g6f.xlarge", awsv1.ResourceNVIDIAGPU))

	listedEFA := build(t, input(t, class(amiselect.FamilyAL2023, efa)), nil)
	require.Equal(t, int64(2), amount(listedEFA, "p4d.24xlarge", awsv1.ResourceEFA), "those of the class")

	windows := build(t, input(t, class(amiselect.FamilyWindows2022)), nil)
	require.Equal(t, int64(9), amount(windows, "m5.large", awsv1.ResourcePrivateIPv4Address))
	require.Zero(t, amount(windows, "m6g.medium", awsv1.ResourcePrivateIPv4Address), "there is no Windows for arm64")
}

func TestWindows(t *testing.T) {
	c := build(t, input(t, class(amiselect.FamilyWindows2022)), nil)
	it := find(t, c, "m5.large")
	os, _ := it.Requirements.Get(corev1.LabelOSStable)
	require.Equal(t, "kubernetes.io/os = windows", os.String())
	release, _ := it.Requirements.Get(corev1.LabelWindowsBuild)
	require.Equal(t, "node.kubernetes.io/windows-build = 10.0.20348", release.String())
	for family, want := range map[amiselect.Family]string{
		amiselect.FamilyWindows2019: "10.0.17763", amiselect.FamilyWindows2025: "10.0.26100",
	} {
		release, _ := find(t, build(t, input(t, class(family)), nil), "m5.large").Requirements.Get(corev1.LabelWindowsBuild)
		require.Equal(t, "node.kubernetes.io/windows-build = "+want, release.String())
	}
	arm := find(t, c, "m6g.medium")
	os, _ = arm.Requirements.Get(corev1.LabelOSStable)
	require.Equal(t, "!kubernetes.io/os", os.String())
	require.Equal(t, []string{"m6g.medium: spec.amiFamily: Windows2022 runs on amd64 only, and the type is arm64"}, exclusions(c, "m6g.medium"))
	for _, o := range arm.Offerings {
		require.False(t, o.Available)
	}
}

func TestImagesAndLearnedMemory(t *testing.T) {
	images := func(c *awsv1.EC2NodeClass) {
		c.Status.AMIs = []awsv1.AMI{
			{ID: "ami-gpu", Requirements: []corev1.NodeSelectorRequirement{in(corev1.LabelArchStable, "amd64"), is(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpExists)}},
			{ID: "ami-plain", Requirements: []corev1.NodeSelectorRequirement{
				in(corev1.LabelArchStable, "amd64"),
				is(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpDoesNotExist), is(awsv1.LabelInstanceAcceleratorCount, corev1.NodeSelectorOpDoesNotExist),
			}},
			{ID: "ami-late", Requirements: []corev1.NodeSelectorRequirement{in(corev1.LabelArchStable, "amd64")}},
		}
	}
	input := input(t, class(amiselect.FamilyAL2023, images))
	observe := func(it, image string, mib int64) {
		var verdict instancetype.Verdict
		input.Learned, verdict = input.Learned.Observe(
			instancetype.Observation{Nodes: instancetype.Nodes{InstanceType: it, Image: image}, Memory: mib << 20, At: noon}, 0)
		require.Equal(t, instancetype.VerdictNew, verdict)
	}
	observe("m5.large", "ami-plain", 7700)
	observe("c5.xlarge", "ami-gone", 7700)
	c := build(t, input, nil)

	require.Equal(t, "ami-plain", c.Images["m5.large"])
	require.Equal(t, "ami-gpu", c.Images["p5.48xlarge"])
	require.Equal(t, "ami-gpu", c.Images["g6f.xlarge"], "a count of zero is a count")
	require.Equal(t, "ami-late", c.Images["inf2.xlarge"])
	require.NotContains(t, c.Images, "m6g.medium")
	require.Equal(t, []string{"m6g.medium: status.amis: no image boots the type; select one for it"}, exclusions(c, "m6g.medium"))

	require.Equal(t, int64(7700<<20), find(t, c, "m5.large").Capacity.Get(corev1.ResourceMemory), "learned")
	require.Equal(t, int64(7577<<20), find(t, c, "c5.xlarge").Capacity.Get(corev1.ResourceMemory), "learned with another image")
	input.Now = noon.Add(61 * 24 * time.Hour)
	require.Equal(t, int64(7577<<20), find(t, build(t, input, nil), "m5.large").Capacity.Get(corev1.ResourceMemory), "out of date")
}

func TestInputFaults(t *testing.T) {
	inv := inventory(t)
	_, err := inv.Build(instancetype.Input{Zones: []instancetype.Zone{{}, {Name: "a", ID: "1"}, {Name: "a", ID: "2"}}},
		&instancetype.Options{Cluster: &instancetype.Cluster{ReservedInterfaces: -1}})
	for _, part := range []string{"region: empty", "class: nil", "zones[0]: name: empty", `zones[2] (a): id: "2", and "1"`, "reserved network interfaces: -1"} {
		require.ErrorContains(t, err, part)
	}
	bad := class(amiselect.FamilyAL2023, kubelet(awsv1.KubeletConfiguration{KubeReserved: map[string]string{"memory": "x"}}), func(c *awsv1.EC2NodeClass) {
		c.Status.AMIs = []awsv1.AMI{{ID: "ami-1", Requirements: []corev1.NodeSelectorRequirement{{Key: "a", Operator: "Near"}}}}
	})
	_, err = inv.Build(input(t, bad), nil)
	require.ErrorContains(t, err, "EC2NodeClass nodes: spec.kubelet: kubeReserved: memory")
	require.ErrorContains(t, err, "EC2NodeClass nodes: status.amis[0] (ami-1): requirements")
}

// Numbers beyond any sense cost the types that they are about, and no others.
func TestNumbersBeyondSense(t *testing.T) {
	types, offerings := answers(t)
	types[0].MemoryInfo.SizeInMiB = new(int64(math.MaxInt64))
	types[1].InstanceStorageInfo = &ec2types.InstanceStorageInfo{TotalSizeInGB: new(int64(math.MaxInt64))}
	inv, _ := instancetype.NewInventory(types, offerings)
	c, err := inv.Build(input(t, class(amiselect.FamilyAL2023, func(c *awsv1.EC2NodeClass) {
		c.Spec.InstanceStorePolicy = new(awsv1.InstanceStorePolicyRAID0)
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{SystemReserved: map[string]string{"ephemeral-storage": "8Ei"}}
	})), nil)
	require.Error(t, err, "8Ei is above int64")
	require.Nil(t, c)
	c, err = inv.Build(input(t, class(amiselect.FamilyAL2023, kubelet(awsv1.KubeletConfiguration{
		SystemReserved: map[string]string{"memory": "7Ei"}, KubeReserved: map[string]string{"memory": "7Ei"},
	}))), nil)
	require.NoError(t, err)
	require.Empty(t, c.Types)
	require.Len(t, c.Problems, 20)
	require.Contains(t, c.Problems[0].String(), "a1.medium: instance type a1.medium: overhead")
}

// few has half as many pods on large machines, and no answer for bare metal.
type few struct{}

func (few) Check(string) error { return nil }

func (few) Evaluate(_ string, v awsv1.ExpressionVariables) (int64, error) {
	if v.InstanceType == "m5.metal" {
		return 0, errors.New("no idea")
	}
	return v.MaxPods / 2, nil
}

func TestExpressionsAreEvaluatedForEachType(t *testing.T) {
	c := build(t, input(t, class(amiselect.FamilyAL2, kubelet(awsv1.KubeletConfiguration{MaxPods: new(intstr.FromString("few"))}))),
		&instancetype.Options{Expressions: few{}})
	require.EqualValues(t, 14, find(t, c, "m5.large").Capacity.Get(corev1.ResourcePods))
	require.EqualValues(t, 14, c.Kubelets["m5.large"].MaxPods.IntValue())
	require.Len(t, c.Kubelets, len(c.Types))
	require.Equal(t, []instancetype.Problem{{InstanceType: "m5.metal", Detail: `spec.kubelet.maxPods: "few" for m5.metal: no idea`}}, c.Unevaluated)
	require.Contains(t, c.Problems, instancetype.Problem{InstanceType: "m5.metal", Detail: c.Unevaluated[0].Detail + "; left out"})
	require.NotContains(t, c.Images, "m5.metal")

	plain := build(t, input(t, class(amiselect.FamilyAL2)), &instancetype.Options{Expressions: few{}})
	require.Empty(t, plain.Kubelets)
	require.Empty(t, plain.Unevaluated)
}

func TestDevicesOfDynamicResourceAllocation(t *testing.T) {
	count := func(c *instancetype.Catalog, name string) map[string]int {
		out := map[string]int{}
		for _, d := range find(t, c, name).Devices {
			out[d.Driver] += d.Count
		}
		return out
	}
	both := &instancetype.Options{NVIDIADevices: true, EFADevices: true}
	in := input(t, class(amiselect.FamilyAL2023))
	c := build(t, in, both)
	require.Equal(t, map[string]int{"gpu.nvidia.com": 8, "dra.net": 4}, count(c, "p4d.24xlarge"))
	require.Equal(t, map[string]int{"gpu.nvidia.com": 8, "dra.net": 32}, count(c, "p5.48xlarge"))
	require.Empty(t, count(c, "g6f.xlarge"), "a part of a GPU")
	require.Empty(t, count(c, "m5.large"))
	require.Empty(t, count(build(t, in, nil), "p4d.24xlarge"))
	require.Equal(t, map[string]int{"gpu.nvidia.com": 8}, count(build(t, in, &instancetype.Options{NVIDIADevices: true}), "p4d.24xlarge"))
	require.Equal(t, map[string]int{"dra.net": 4}, count(build(t, in, &instancetype.Options{EFADevices: true}), "p4d.24xlarge"))

	one := input(t, class(amiselect.FamilyAL2023, func(c *awsv1.EC2NodeClass) {
		c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
			{InterfaceType: awsv1.InterfaceTypeInterface}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
		}
	}))
	require.Equal(t, map[string]int{"gpu.nvidia.com": 8}, count(build(t, one, both), "p4d.24xlarge"), "which of the four is not known")
	require.Empty(t, count(build(t, input(t, class(amiselect.FamilyWindows2022)), both), "p4d.24xlarge"))
}

func TestEmptyInventory(t *testing.T) {
	var none *instancetype.Inventory
	c, err := none.Build(input(t, class(amiselect.FamilyAL2023)), nil)
	require.NoError(t, err)
	require.Empty(t, c.Types)
	require.Zero(t, none.Len())
	require.Nil(t, none.Zones())
	_, found := none.MemoryMiB("m5.large")
	require.False(t, found)
	require.True(t, none.Equal(&instancetype.Inventory{}))
}

// The order of what is listed makes no difference, and nothing given is changed.
func TestOrderMakesNoDifference(t *testing.T) {
	types, offerings := answers(t)
	slices.Reverse(types)
	slices.Reverse(offerings)
	shuffled, _ := instancetype.NewInventory(types, offerings)
	inv := inventory(t)
	require.True(t, inv.Equal(shuffled))

	full := func() instancetype.Input {
		in := input(t, class(amiselect.FamilyAL2023, reservations...))
		in.Zones = []instancetype.Zone{{Name: "us-east-1c", ID: "use1-az3"}, {Name: "us-east-1a", ID: "use1-az1"}}
		in.Stock = stock(map[string]int32{"cr-1": 2})
		return in
	}
	one, other := full(), full()
	slices.Reverse(other.Class.Status.Subnets)
	slices.Reverse(other.Class.Status.CapacityReservations)
	slices.Reverse(other.Zones)
	a, err := inv.Build(one, nil)
	require.NoError(t, err)
	b, err := shuffled.Build(other, nil)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, full(), one)
}
