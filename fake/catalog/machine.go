package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// builder makes the instance types of one catalog.
type builder struct {
	zones  []place
	common requirements.Set // of all types
}

// place is a zone with its ID as a label.
type place struct {
	Zone
	id requirements.Set
}

func newBuilder(region string, zones []Zone) *builder {
	b := &builder{}
	for _, z := range zones {
		b.zones = append(b.zones, place{z, requirements.NewSet(requirements.In(awsv1.LabelTopologyZoneID, z.ID))})
	}
	reqs := []requirements.Requirement{
		requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
		requirements.In(corev1.LabelTopologyRegion, region),
		requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated, awsv1.TenancyDefault),
	}
	// There is no Windows, and there are no reservations and placement groups.
	for _, key := range []string{corev1.LabelWindowsBuild, awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType,
		awsv1.LabelCapacityReservationInterruptible, awsv1.LabelPlacementGroupID, awsv1.LabelPlacementGroupPartition} {
		reqs = append(reqs, requirements.DoesNotExist(key))
	}
	b.common = requirements.NewSet(reqs...)
	return b
}

// zonesOf returns the zones that have a family. With more zones than letters these start over.
func (b *builder) zonesOf(f *family) (out []place) {
	for i, z := range b.zones {
		if strings.IndexByte(f.zones, zoneLetters[i%len(zoneLetters)]) >= 0 {
			out = append(out, z)
		}
	}
	return out
}

// familyRequirements returns the requirements that all sizes of a family share.
func (b *builder) familyRequirements(f *family, zones []place) requirements.Set {
	var names, ids []string
	for _, z := range zones {
		names, ids = append(names, z.Name), append(ids, z.ID)
	}
	reqs := []requirements.Requirement{
		requirements.In(corev1.LabelArchStable, f.host.arch),
		requirements.In(corev1.LabelTopologyZone, names...),
		requirements.In(awsv1.LabelTopologyZoneID, ids...),
		requirements.In(v1.CapacityTypeLabelKey, f.capacityTypes...),
		requirements.In(awsv1.LabelInstanceCategory, f.category()),
		requirements.In(awsv1.LabelInstanceFamily, f.name),
		requirements.In(awsv1.LabelInstanceGeneration, f.generation()),
		requirements.In(awsv1.LabelInstanceCPUManufacturer, f.host.maker),
		number(awsv1.LabelInstanceCPUSustainedClockSpeedMhz, int64(f.host.mhz)),
		boolean(awsv1.LabelInstanceCapabilityFlex, strings.HasSuffix(f.name, "-flex")),
		boolean(awsv1.LabelInstanceEncryptionInTransitSupported, f.host.encrypts),
	}
	return b.common.With(append(reqs, deviceRequirements(f.device)...)...)
}

// instanceType builds one size of a family, whose sizes share zones and requirements.
func instanceType(f *family, s *size, zones []place, shared requirements.Set) *cloudprovider.InstanceType {
	name := f.name + "." + s.name
	capacity := capacityOf(f, s)
	return &cloudprovider.InstanceType{
		Name:         name,
		Requirements: shared.With(sizeRequirements(name, f, s)...),
		Capacity:     capacity,
		Overhead:     kubelet.EKS().Overhead(capacity, nil),
		Offerings:    offerings(name, f, s, zones),
	}
}

// sizeRequirements returns the requirements that differ between sizes, in the order of their keys,
// so that NewSet need not sort them.
func sizeRequirements(name string, f *family, s *size) []requirements.Requirement {
	hypervisor := f.host.hypervisor
	if s.isMetal() {
		hypervisor = ""
	}
	enclaves := f.host.enclaveVCPUs > 0 && s.vcpus >= f.host.enclaveVCPUs && !s.isMetal()
	reqs := make([]requirements.Requirement, 0, 12)
	if f.device != nil && !f.device.isGPU {
		reqs = append(reqs, number(awsv1.LabelInstanceAcceleratorCount, int64(s.devices)))
	}
	reqs = append(reqs,
		number(awsv1.LabelInstanceCPU, int64(s.vcpus)),
		numberOrNone(awsv1.LabelInstanceEBSBandwidth, f.host.volumes.of(s).n),
	)
	if f.device != nil && f.device.isGPU {
		reqs = append(reqs,
			number(awsv1.LabelInstanceGPUCount, int64(s.devices)),
			number(awsv1.LabelInstanceGPUMemory, int64(float64(f.device.memoryMiB)*min(s.devices, 1))),
		)
	}
	return append(reqs,
		requirements.In(awsv1.LabelInstanceHypervisor, hypervisor),
		numberOrNone(awsv1.LabelInstanceLocalNVME, f.disks.of(s).n),
		number(awsv1.LabelInstanceMemory, s.memoryMiB),
		numberOrNone(awsv1.LabelInstanceNetworkBandwidth, f.host.network.of(s).n),
		boolean(LabelInstanceNitroEnclavesSupported, enclaves),
		requirements.In(awsv1.LabelInstanceSize, s.name),
		requirements.In(corev1.LabelInstanceTypeStable, name),
	)
}

// deviceRequirements returns the requirements on GPUs and other accelerators that all sizes of a
// family share.
func deviceRequirements(d *device) []requirements.Requirement {
	gpu := []string{awsv1.LabelInstanceGPUName, awsv1.LabelInstanceGPUManufacturer, awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceGPUMemory}
	other := []string{awsv1.LabelInstanceAcceleratorName, awsv1.LabelInstanceAcceleratorManufacturer, awsv1.LabelInstanceAcceleratorCount}
	var has, lacks []string
	switch {
	case d == nil:
		lacks = append(gpu, other...)
	case d.isGPU:
		has, lacks = gpu, other
	default:
		has, lacks = other, gpu
	}
	var reqs []requirements.Requirement
	for _, key := range lacks {
		reqs = append(reqs, requirements.DoesNotExist(key))
	}
	if d != nil {
		reqs = append(reqs, requirements.In(has[0], d.name), requirements.In(has[1], d.maker))
	}
	return reqs
}

// capacityOf lists what a node has. Resources of which it has none are left out.
func capacityOf(f *family, s *size) resources.List {
	const (
		rootVolume     = 20 << 30 // of a node whose class does not mention disks
		takenOf10000   = 750      // the share of memory that Karpenter takes hypervisor and kernel to need
		armReservedMiB = 64       // what Graviton machines keep for themselves
	)
	memory := s.memoryMiB
	if f.host.arch == "arm64" {
		memory -= armReservedMiB
	}
	nic := f.host.nics.of(s)
	amounts := map[corev1.ResourceName]int64{
		corev1.ResourceCPU:              int64(s.vcpus) * 1000,
		corev1.ResourceMemory:           kubelet.VisibleMemory(memory<<20, takenOf10000),
		corev1.ResourceEphemeralStorage: rootVolume,
		corev1.ResourcePods:             kubelet.AddressPods(int64(nic.n), int64(nic.each), 0),
		awsv1.ResourcePodENI:            int64(f.host.branches.of(s).n),
		awsv1.ResourceEFA:               int64(f.host.efas.of(s).n),
	}
	if f.device != nil {
		count := int64(s.devices) // Kubernetes cannot count a share of a GPU
		amounts[resourceOf(f.device)] = count
		amounts[awsv1.ResourceNeuronCore] = count * int64(f.device.cores)
	}
	maps.DeleteFunc(amounts, func(_ corev1.ResourceName, n int64) bool { return n == 0 })
	return resources.New(amounts)
}

// resourceOf returns the resource under which a node advertises a device, or "" if none is known.
func resourceOf(d *device) corev1.ResourceName {
	switch {
	case d.isGPU && d.maker == "nvidia":
		return awsv1.ResourceNVIDIAGPU
	case d.isGPU && d.maker == "amd":
		return awsv1.ResourceAMDGPU
	case d.isGPU && d.maker == "habana":
		return awsv1.ResourceGaudi
	case !d.isGPU && d.maker == "aws":
		return awsv1.ResourceNeuron
	}
	return ""
}

// offerings returns the offerings in the order of their keys: by zone, then by capacity type.
func offerings(name string, f *family, s *size, zones []place) []cloudprovider.Offering {
	out := make([]cloudprovider.Offering, 0, len(zones)*len(f.capacityTypes))
	for _, z := range zones {
		for _, capacityType := range f.capacityTypes {
			price := s.price
			if capacityType == v1.CapacityTypeSpot {
				price = spotPrice(s.price, name, z.Name)
			}
			out = append(out, cloudprovider.Offering{Zone: z.Name, CapacityType: capacityType, Requirements: z.id,
				Price: float64(price) / nanos, Available: true, ID: name + "/" + z.Name + "/" + capacityType})
		}
	}
	slices.SortFunc(out, func(a, b cloudprovider.Offering) int { return a.Key(name).Compare(b.Key(name)) })
	return out
}

// spotPrice returns the spot price of an instance type in a zone, in 1e-9 USD an hour. EC2 has no
// list of spot prices, so they are made up: the name of the type decides a share of the on-demand
// price, and the zone moves it a little, between 0.27 and 0.68 in all. Like the prices of EC2 it is
// a multiple of 1e-4 USD.
func spotPrice(onDemand int64, instanceType, zone string) int64 {
	const (
		million = 1_000_000
		step    = nanos / 10_000
	)
	share := 310_000 + int64(chance.Hash(instanceType)%330_001)
	share += int64(chance.Hash(instanceType+"/"+zone)%80_001) - 40_000
	// On-demand prices are below 1e12 and shares below 1e6.
	return (onDemand*share/million + step/2) / step * step
}

func number(key string, n int64) requirements.Requirement {
	return requirements.In(key, strconv.FormatInt(n, 10))
}

// numberOrNone says that the label does not exist if the number is zero.
func numberOrNone(key string, n int) requirements.Requirement {
	if n == 0 {
		return requirements.DoesNotExist(key)
	}
	return number(key, int64(n))
}

func boolean(key string, b bool) requirements.Requirement {
	return requirements.In(key, strconv.FormatBool(b))
}

// NetworkInterfaces decide how many pods of an instance type have an address.
type NetworkInterfaces struct {
	// Count is the number of interfaces, of the default network card where there are several
	// cards.
	Count int
	// Addresses is the number of IPv4 addresses that each of them takes.
	Addresses int
}

// AllNetworkInterfaces returns the network interfaces of the instance types of All, by name: the
// one fact about a type that neither labels nor capacity tell. The map is the caller's.
func AllNetworkInterfaces() map[string]NetworkInterfaces {
	out := map[string]NetworkInterfaces{}
	for _, f := range families() {
		for i := range f.sizes {
			nic := f.host.nics.of(&f.sizes[i])
			out[f.name+"."+f.sizes[i].name] = NetworkInterfaces{nic.n, nic.each}
		}
	}
	return out
}
