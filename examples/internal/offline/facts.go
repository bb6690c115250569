package offline

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// market is the answers that EC2 would give for the zones of the cluster, made from the offer of
// the fake cloud there.
type market struct {
	facts  *classtypes.Facts
	zones  []classtypes.Zone
	prices *pricing.Book
}

// newMarket converts instance types of the fake cloud to descriptions in the form of EC2. Facts
// that the fake cloud does not have are left out or assumed:
//
//   - how many volumes a node can attach: left out, so there is no limit;
//   - disks that are not NVMe: left out, so they are not used;
//   - network cards: as many as there are elastic fabric adapters, each with as many interfaces
//     as the first;
//   - nested virtualization: assumed on the virtual machines of c8i, m8i and r8i.
func newMarket(sold []*cloudprovider.InstanceType) (*market, error) {
	m := &market{}
	var machines []types.InstanceTypeInfo
	var offerings []types.InstanceTypeOffering
	var entries []pricing.Entry
	interfaces := catalog.AllNetworkInterfaces()
	seen := map[string]bool{}
	for _, it := range sold {
		machines = append(machines, describe(it, interfaces[it.Name]))
		for _, o := range it.Offerings {
			entries = append(entries, pricing.Entry{Price: o.Price,
				Scope: cloudprovider.Scope{InstanceType: it.Name, Zone: o.Zone, CapacityType: o.CapacityType}})
			offerings = append(offerings, types.InstanceTypeOffering{
				InstanceType: types.InstanceType(it.Name), Location: &o.Zone, LocationType: types.LocationTypeAvailabilityZone})
			if !seen[o.Zone] {
				seen[o.Zone] = true
				m.zones = append(m.zones, classtypes.Zone{Name: o.Zone, ID: only(o.Labels().Get(awsv1.LabelTopologyZoneID))})
			}
		}
	}
	var err error
	if m.facts, _, err = classtypes.Read(machines, offerings); err != nil {
		return nil, err
	}
	m.prices, err = pricing.New(&pricing.Options{Layers: []pricing.Layer{{Name: "fake", Entries: entries}}})
	return m, err
}

// label reads the labels of an instance type.
type label struct{ *cloudprovider.InstanceType }

func (l label) text(key string) string { return only(l.Requirements.Get(key)) }

func (l label) number(key string) int32 {
	n, _ := strconv.ParseInt(l.text(key), 10, 32) // zero where the label does not exist
	return int32(n)
}

func (l label) truth(key string) *bool { return new(l.text(key) == "true") }

func (l label) amount(name corev1.ResourceName) int32 { return int32(l.Capacity.Get(name)) }

// describe returns the description of an instance type in the form of EC2.
func describe(it *cloudprovider.InstanceType, n catalog.NetworkInterfaces) types.InstanceTypeInfo {
	l := label{it}
	out := types.InstanceTypeInfo{
		InstanceType: types.InstanceType(it.Name),
		Hypervisor:   types.InstanceTypeHypervisor(l.text(awsv1.LabelInstanceHypervisor)),
		BareMetal:    new(l.text(awsv1.LabelInstanceHypervisor) == ""),
		ProcessorInfo: &types.ProcessorInfo{
			Manufacturer:             new(l.text(awsv1.LabelInstanceCPUManufacturer)),
			SustainedClockSpeedInGhz: new(float64(l.number(awsv1.LabelInstanceCPUSustainedClockSpeedMhz)) / 1000),
			SupportedArchitectures:   []types.ArchitectureType{types.ArchitectureTypeX8664},
		},
		VCpuInfo:             &types.VCpuInfo{DefaultVCpus: new(l.number(awsv1.LabelInstanceCPU))},
		MemoryInfo:           &types.MemoryInfo{SizeInMiB: new(int64(l.number(awsv1.LabelInstanceMemory)))},
		NitroEnclavesSupport: types.NitroEnclavesSupportUnsupported,
		NetworkInfo:          l.network(n),
		EbsInfo: &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportDefault,
			EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: new(l.number(awsv1.LabelInstanceEBSBandwidth))}},
	}
	if l.text(corev1.LabelArchStable) == v1.ArchitectureArm64 {
		out.ProcessorInfo.SupportedArchitectures = []types.ArchitectureType{types.ArchitectureTypeArm64}
	}
	nests := []string{"c8i", "m8i", "r8i"}
	if slices.Contains(nests, l.text(awsv1.LabelInstanceFamily)) && !*out.BareMetal {
		out.ProcessorInfo.SupportedFeatures = []types.SupportedAdditionalProcessorFeature{types.SupportedAdditionalProcessorFeatureNestedVirtualization}
	}
	if *l.truth(catalog.LabelInstanceNitroEnclavesSupported) {
		out.NitroEnclavesSupport = types.NitroEnclavesSupportSupported
	}
	sold, _ := l.Requirements.Get(v1.CapacityTypeLabelKey)
	for _, class := range []types.UsageClassType{types.UsageClassTypeOnDemand, types.UsageClassTypeSpot} {
		if sold.Has(string(class)) {
			out.SupportedUsageClasses = append(out.SupportedUsageClasses, class)
		}
	}
	if gb := l.number(awsv1.LabelInstanceLocalNVME); gb > 0 {
		out.InstanceStorageInfo = &types.InstanceStorageInfo{TotalSizeInGB: new(int64(gb)), NvmeSupport: types.EphemeralNvmeSupportRequired}
	}
	l.devices(&out)
	return out
}

func (l label) network(n catalog.NetworkInterfaces) *types.NetworkInfo {
	adapters := l.amount(awsv1.ResourceEFA)
	out := &types.NetworkInfo{
		EnaSupport: types.EnaSupportRequired, DefaultNetworkCardIndex: new(int32(0)),
		EncryptionInTransitSupported: l.truth(awsv1.LabelInstanceEncryptionInTransitSupported),
		MaximumNetworkInterfaces:     new(int32(n.Count)), Ipv4AddressesPerInterface: new(int32(n.Addresses)),
		EfaSupported: new(adapters > 0), EfaInfo: &types.EfaInfo{MaximumEfaInterfaces: &adapters},
	}
	for i := range max(adapters, 1) {
		out.NetworkCards = append(out.NetworkCards, types.NetworkCardInfo{NetworkCardIndex: new(i), MaximumNetworkInterfaces: new(int32(n.Count))})
	}
	out.NetworkCards[0].BaselineBandwidthInGbps = new(float64(l.number(awsv1.LabelInstanceNetworkBandwidth)) / 1000)
	return out
}

// makers maps label values to the names of GPU makers in EC2.
var makers = map[string]string{"nvidia": "NVIDIA", "amd": "AMD", "habana": "Habana"}

func (l label) devices(out *types.InstanceTypeInfo) {
	if name := l.text(awsv1.LabelInstanceGPUName); name != "" {
		out.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{
			Name: &name, Manufacturer: new(makers[l.text(awsv1.LabelInstanceGPUManufacturer)]), Count: new(l.number(awsv1.LabelInstanceGPUCount)),
			MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: new(l.number(awsv1.LabelInstanceGPUMemory))},
		}}}
	}
	if name := l.text(awsv1.LabelInstanceAcceleratorName); name != "" {
		count := max(l.number(awsv1.LabelInstanceAcceleratorCount), 1)
		out.NeuronInfo = &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{{
			Name: &name, Count: &count, CoreInfo: &types.NeuronDeviceCoreInfo{Count: new(l.amount(awsv1.ResourceNeuronCore) / count)},
		}}}
	}
}

// only returns the value of a requirement that admits just one value, else "".
func only(r requirements.Requirement, _ bool) string {
	if values, finite := r.Values(); finite && len(values) == 1 {
		return values[0]
	}
	return ""
}
