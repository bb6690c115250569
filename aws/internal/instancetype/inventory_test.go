package instancetype_test

import (
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

// sound returns a type with the least that a node needs.
func sound(name string) ec2types.InstanceTypeInfo {
	return ec2types.InstanceTypeInfo{
		InstanceType:  ec2types.InstanceType(name),
		ProcessorInfo: &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"x86_64"}},
		VCpuInfo:      &ec2types.VCpuInfo{DefaultVCpus: new(int32(2))},
		MemoryInfo:    &ec2types.MemoryInfo{SizeInMiB: new(int64(4096))},
	}
}

func TestInventoryProblems(t *testing.T) {
	mac, memoryless, coreless, unknown := sound("mac1.metal"), sound("m1.none"), sound("c1.none"), sound("q1.large")
	mac.ProcessorInfo.SupportedArchitectures = []ec2types.ArchitectureType{"x86_64_mac"}
	memoryless.MemoryInfo = &ec2types.MemoryInfo{}
	coreless.VCpuInfo.DefaultVCpus = new(int32(-2))
	unknown.ProcessorInfo = nil
	inv, problems := instancetype.NewInventory(
		[]ec2types.InstanceTypeInfo{sound("z1.large"), mac, {}, memoryless, coreless, unknown, sound("a9.large"), sound("z1.large")}, nil)
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	require.Equal(t, []string{
		"instance type without a name: it has no name; left out",
		"c1.none: it has no vCPUs or no memory; left out",
		"m1.none: it has no vCPUs or no memory; left out",
		"mac1.metal: none of its architectures is x86_64 or arm64; left out",
		"q1.large: none of its architectures is x86_64 or arm64; left out",
		"z1.large: listed twice; the first one counts",
	}, lines)
	require.Equal(t, 2, inv.Len())
	for _, name := range []string{"a9.large", "z1.large"} {
		_, found := inv.MemoryMiB(name)
		require.True(t, found, name)
	}
}

func TestInventory(t *testing.T) {
	inv := inventory(t)
	require.Equal(t, 20, inv.Len())
	require.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1c"}, inv.Zones())
	mib, found := inv.MemoryMiB("m5.large")
	require.True(t, found)
	require.Equal(t, int64(8192), mib)
	_, found = inv.MemoryMiB("m5.larger")
	require.False(t, found)

	types, offerings := answers(t)
	offerings = append(offerings,
		ec2types.InstanceTypeOffering{InstanceType: "m5.large", LocationType: ec2types.LocationTypeRegion, Location: new("us-east-1")},
		ec2types.InstanceTypeOffering{InstanceType: "m5.large", LocationType: ec2types.LocationTypeAvailabilityZone},
		offerings[0])
	same, _ := instancetype.NewInventory(types, offerings)
	require.True(t, inv.Equal(same), "other locations, and what is there twice, do not matter")
	types[3].MemoryInfo.SizeInMiB = new(int64(1))
	changed, _ := instancetype.NewInventory(types, offerings)
	require.False(t, inv.Equal(changed))
	require.False(t, inv.Equal(nil))
}

// Where the network cards and the text of EC2 disagree, the text counts, as it does for
// Karpenter.
func TestNetworkBandwidth(t *testing.T) {
	for _, tt := range []struct {
		text  string
		cards []float64
		want  string
	}{
		{"200 Gigabit", []float64{200, 200}, "= 200000"},   // c6in.32xlarge
		{"3200 Gigabit", []float64{100, 100}, "= 3200000"}, // p6-b200.48xlarge has more
		{"200 Gigabit", []float64{50}, "= 200000"},         // trn2.3xlarge
		{"4x 100 Gigabit", nil, "= 400000"},                // p4d.24xlarge
		{"22.5 Gigabit", []float64{22.5}, "= 22500"},
		{"Up to 25 Gigabit", []float64{12.5}, "= 12500"},
		{"Up to 25 Gigabit", nil, ""},
		{"Low to Moderate", nil, ""},
		{"", []float64{12.5, 12.5}, "= 25000"},
		{"x 10 Gigabit", []float64{1}, "= 1000"},
		{"-1x 10 Gigabit", []float64{1}, "= 1000"},
		{"0 Gigabit", []float64{1}, "= 1000"},
		{"NaN Gigabit", []float64{1}, "= 1000"},
		{"Inf Gigabit", []float64{1}, "= 1000"},
		{"65535x 999999 Gigabit", nil, "= 65534934465000"},
	} {
		types, offerings := answers(t)
		n := types[1].NetworkInfo
		n.NetworkPerformance = &tt.text
		n.NetworkCards = []ec2types.NetworkCardInfo{{MaximumNetworkInterfaces: new(int32(3))}} // says nothing of it
		for _, base := range tt.cards {
			n.NetworkCards = append(n.NetworkCards, ec2types.NetworkCardInfo{BaselineBandwidthInGbps: &base})
		}
		inv, _ := instancetype.NewInventory(types, offerings)
		c, err := inv.Build(input(t, class(amiselect.FamilyAL2023)), nil)
		require.NoError(t, err)
		r, _ := find(t, c, string(types[1].InstanceType)).Requirements.Get(awsv1.LabelInstanceNetworkBandwidth)
		want := "!" + awsv1.LabelInstanceNetworkBandwidth
		if tt.want != "" {
			want = awsv1.LabelInstanceNetworkBandwidth + " " + tt.want
		}
		require.Equal(t, want, r.String(), "%q of %v", tt.text, tt.cards)
	}
}

// A type of which EC2 says next to nothing has labels that do not exist, and two
// models of one kind of device have none that could tell them apart.
func TestBareTypes(t *testing.T) {
	bare := sound("strange")
	mixed := sound("x9.large")
	mixed.GpuInfo = &ec2types.GpuInfo{Gpus: []ec2types.GpuDeviceInfo{
		{Manufacturer: new("NVIDIA"), Count: new(int32(1))}, {Manufacturer: new("NVIDIA"), Count: new(int32(2))}, {Manufacturer: new("Matrox"), Count: new(int32(2))}, {},
	}}
	mixed.NeuronInfo = &ec2types.NeuronInfo{NeuronDevices: []ec2types.NeuronDeviceInfo{
		{Count: new(int32(1)), CoreInfo: &ec2types.NeuronDeviceCoreInfo{Count: new(int32(2))}}, {Count: new(int32(3))},
	}}
	mixed.InferenceAcceleratorInfo = &ec2types.InferenceAcceleratorInfo{Accelerators: []ec2types.InferenceDeviceInfo{{Name: new("x"), Count: new(int32(1))}}}
	mixed.NetworkInfo = &ec2types.NetworkInfo{
		MaximumNetworkInterfaces: new(int32(3)), Ipv4AddressesPerInterface: new(int32(10)),
		EfaInfo: &ec2types.EfaInfo{MaximumEfaInterfaces: new(int32(9))},
	}
	hdd := sound("d2.large")
	hdd.NetworkInfo = mixed.NetworkInfo
	hdd.InstanceStorageInfo = &ec2types.InstanceStorageInfo{TotalSizeInGB: new(int64(6000)), NvmeSupport: ec2types.EphemeralNvmeSupportUnsupported}
	inv, problems := instancetype.NewInventory([]ec2types.InstanceTypeInfo{bare, mixed, hdd}, nil)
	require.Empty(t, problems)
	c, err := inv.Build(input(t, class(amiselect.FamilyAL2023)), nil)
	require.NoError(t, err)
	require.Len(t, c.Types, 2)
	require.Equal(t, "strange", c.Problems[0].InstanceType, "no interface, and so no pods")
	absent := func(name string, keys ...string) {
		for _, key := range keys {
			r, named := find(t, c, name).Requirements.Get(key)
			require.True(t, named, key)
			require.Equal(t, "!"+key, r.String(), name)
		}
	}
	absent("x9.large", awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceGPUName, awsv1.LabelInstanceAcceleratorName,
		awsv1.LabelInstanceAcceleratorManufacturer, awsv1.LabelInstanceAcceleratorCount, awsv1.LabelInstanceCPUManufacturer,
		awsv1.LabelInstanceCPUSustainedClockSpeedMhz, awsv1.LabelInstanceNetworkBandwidth, awsv1.LabelInstanceEBSBandwidth)
	absent("d2.large", awsv1.LabelInstanceLocalNVME)
	capacity := find(t, c, "x9.large").Capacity
	require.Equal(t, int64(3), capacity.Get(awsv1.ResourceNVIDIAGPU))
	require.Equal(t, int64(4), capacity.Get(awsv1.ResourceNeuron))
	require.Equal(t, int64(2), capacity.Get(awsv1.ResourceNeuronCore))
	require.Zero(t, capacity.Get(awsv1.ResourceEFA), "not supported, whatever the number")
	require.Equal(t, int64(29), capacity.Get("pods"), "no list of cards")
}
