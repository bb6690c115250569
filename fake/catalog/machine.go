package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// builder makes the instance types of one catalog. What all of them have in
// common is made once.
type builder struct {
	zones   []Zone
	zoneIDs []requirements.Set // by place in zones
	common  requirements.Set
}

func newBuilder(region string, zones []Zone) *builder {
	b := &builder{zones: zones}
	for _, z := range zones {
		b.zoneIDs = append(b.zoneIDs, requirements.NewSet(requirements.In(awsv1.LabelTopologyZoneID, z.ID)))
	}
	reqs := []requirements.Requirement{
		requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
		requirements.In(corev1.LabelTopologyRegion, region),
		requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated, awsv1.TenancyDefault),
	}
	for _, key := range notApplicable() {
		reqs = append(reqs, requirements.DoesNotExist(key))
	}
	b.common = requirements.NewSet(reqs...)
	return b
}

// zonesOf returns the places of the zones that have a family. Catalogs with
// more zones than letters start over with the first.
func (b *builder) zonesOf(f *family) []int {
	var out []int
	for i := range b.zones {
		if strings.IndexByte(f.zones, zoneLetters[i%len(zoneLetters)]) >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// familyRequirements are those that all sizes of a family share.
func (b *builder) familyRequirements(f *family, places []int) requirements.Set {
	names, ids := make([]string, len(places)), make([]string, len(places))
	for i, place := range places {
		names[i], ids[i] = b.zones[place].Name, b.zones[place].ID
	}
	reqs := []requirements.Requirement{
		requirements.In(corev1.LabelArchStable, f.host.arch),
		requirements.In(corev1.LabelTopologyZone, names...),
		requirements.In(awsv1.LabelTopologyZoneID, ids...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes(f.onDemand, f.spot)...),
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

// instanceType builds one size of a family that is in the zones of places and
// whose sizes share the requirements given.
func (b *builder) instanceType(f *family, s *size, places []int, shared requirements.Set) *cloudprovider.InstanceType {
	name := f.name + "." + s.name
	capacity := capacityOf(f, s)
	return &cloudprovider.InstanceType{
		Name:         name,
		Requirements: shared.With(sizeRequirements(name, f, s)...),
		Capacity:     capacity,
		Overhead: overhead(capacity.Get(corev1.ResourceCPU), capacity.Get(corev1.ResourcePods),
			capacity.Get(corev1.ResourceEphemeralStorage)),
		Offerings: b.offerings(name, f, s, places),
	}
}

// sizeRequirements are those that set a size apart. They are in the order of
// their keys, which spares NewSet from moving them.
func sizeRequirements(name string, f *family, s *size) []requirements.Requirement {
	hypervisor := f.host.hypervisor
	if isMetal(s.name) {
		hypervisor = ""
	}
	enclaves := f.host.enclaveVCPUs > 0 && s.vcpus >= f.host.enclaveVCPUs && !isMetal(s.name)
	reqs := make([]requirements.Requirement, 0, 12)
	if f.device != nil && !f.device.isGPU {
		reqs = append(reqs, number(awsv1.LabelInstanceAcceleratorCount, int64(s.devices)))
	}
	reqs = append(reqs,
		number(awsv1.LabelInstanceCPU, int64(s.vcpus)),
		ladderNumber(awsv1.LabelInstanceEBSBandwidth, f.host.volumes, s),
	)
	if f.device != nil && f.device.isGPU {
		memory := int64(float64(f.device.memoryMiB) * min(s.devices, 1))
		reqs = append(reqs,
			number(awsv1.LabelInstanceGPUCount, int64(s.devices)),
			number(awsv1.LabelInstanceGPUMemory, memory),
		)
	}
	return append(reqs,
		requirements.In(awsv1.LabelInstanceHypervisor, hypervisor),
		ladderNumber(awsv1.LabelInstanceLocalNVME, f.disks, s),
		number(awsv1.LabelInstanceMemory, s.memoryMiB),
		ladderNumber(awsv1.LabelInstanceNetworkBandwidth, f.host.network, s),
		boolean(LabelInstanceNitroEnclavesSupported, enclaves),
		requirements.In(awsv1.LabelInstanceSize, s.name),
		requirements.In(corev1.LabelInstanceTypeStable, name),
	)
}

// deviceRequirements are those on GPUs and other accelerators that all sizes of
// a family share.
func deviceRequirements(d *device) []requirements.Requirement {
	var reqs []requirements.Requirement
	if d != nil && d.isGPU {
		reqs = append(reqs,
			requirements.In(awsv1.LabelInstanceGPUName, d.name),
			requirements.In(awsv1.LabelInstanceGPUManufacturer, d.maker),
		)
	} else {
		reqs = append(reqs,
			requirements.DoesNotExist(awsv1.LabelInstanceGPUName),
			requirements.DoesNotExist(awsv1.LabelInstanceGPUManufacturer),
			requirements.DoesNotExist(awsv1.LabelInstanceGPUCount),
			requirements.DoesNotExist(awsv1.LabelInstanceGPUMemory),
		)
	}
	if d != nil && !d.isGPU {
		return append(reqs,
			requirements.In(awsv1.LabelInstanceAcceleratorName, d.name),
			requirements.In(awsv1.LabelInstanceAcceleratorManufacturer, d.maker),
		)
	}
	return append(reqs,
		requirements.DoesNotExist(awsv1.LabelInstanceAcceleratorName),
		requirements.DoesNotExist(awsv1.LabelInstanceAcceleratorManufacturer),
		requirements.DoesNotExist(awsv1.LabelInstanceAcceleratorCount),
	)
}

// capacityOf lists what a node has. Resources of which it has none are left
// out.
func capacityOf(f *family, s *size) resources.List {
	nic, _ := f.host.nics.at(s.name, s.vcpus)
	amounts := map[corev1.ResourceName]int64{
		corev1.ResourceCPU:              int64(s.vcpus) * 1000,
		corev1.ResourceMemory:           memoryCapacity(s.memoryMiB, f.host.arch),
		corev1.ResourceEphemeralStorage: rootVolume,
		corev1.ResourcePods:             podCapacity(nic.n, nic.each),
	}
	if branches, ok := f.host.branches.at(s.name, s.vcpus); ok {
		amounts[awsv1.ResourcePodENI] = int64(branches.n)
	}
	if efas, ok := f.host.efas.at(s.name, s.vcpus); ok {
		amounts[awsv1.ResourceEFA] = int64(efas.n)
	}
	// A share of a GPU is nothing that Kubernetes could count.
	if count := int64(s.devices); f.device != nil && count > 0 {
		amounts[resourceOf(f.device)] = count
		if f.device.cores > 0 {
			amounts[awsv1.ResourceNeuronCore] = count * int64(f.device.cores)
		}
	}
	return resources.New(amounts)
}

// resourceOf is the resource under which a node advertises a device, or empty
// if none is known.
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

// offerings are in the order of their keys: by zone, then by capacity type.
func (b *builder) offerings(name string, f *family, s *size, places []int) []cloudprovider.Offering {
	types := capacityTypes(f.onDemand, f.spot)
	out := make([]cloudprovider.Offering, 0, len(places)*len(types))
	for _, place := range places {
		zone := b.zones[place].Name
		for _, capacityType := range types {
			price := s.price
			if capacityType == v1.CapacityTypeSpot {
				price = spotPrice(s.price, name, zone)
			}
			out = append(out, cloudprovider.Offering{
				Zone:         zone,
				CapacityType: capacityType,
				Requirements: b.zoneIDs[place],
				Price:        float64(price) / nanos,
				Available:    true,
				ID:           name + "/" + zone + "/" + capacityType,
			})
		}
	}
	slices.SortFunc(out, func(a, b cloudprovider.Offering) int { return a.Key(name).Compare(b.Key(name)) })
	return out
}

func number(key string, n int64) requirements.Requirement {
	return requirements.In(key, strconv.FormatInt(n, 10))
}

func boolean(key string, b bool) requirements.Requirement {
	return requirements.In(key, strconv.FormatBool(b))
}

// ladderNumber is a number from a ladder, or that the label does not exist.
func ladderNumber(key string, l ladder, s *size) requirements.Requirement {
	if r, ok := l.at(s.name, s.vcpus); ok {
		return number(key, int64(r.n))
	}
	return requirements.DoesNotExist(key)
}

// deviceTable lists the accelerators of the families that have them. How many a
// size has stands in the family table.
//
//	kind   gpu or neuron; decides between the instance-gpu and the
//	       instance-accelerator labels
//	name   as in the label
//	maker  as in the label; decides the resource that nodes advertise
//	MiB    memory of one device
//	cores  NeuronCores of one device
//
//go:embed tables/devices.txt
var deviceTable string

// NetworkInterfaces is what of an instance type decides how many pods have an address.
type NetworkInterfaces struct {
	// Count is the number of interfaces, of the default network card where there are
	// several cards.
	Count int
	// Addresses is the number of IPv4 addresses that each of them takes.
	Addresses int
}

// AllNetworkInterfaces returns the network interfaces of the instance types of All, by
// their names: the one fact about a type that neither its labels nor its capacity tell.
// The number of pods in that capacity is what they have addresses for. The map is the
// caller's.
func AllNetworkInterfaces() map[string]NetworkInterfaces {
	families, err := ec2.parse()
	if err != nil {
		// The tables of this package are at fault, which a test rules out.
		panic(fmt.Errorf("fake: tables: %w", err))
	}
	out := map[string]NetworkInterfaces{}
	for _, f := range families {
		for i := range f.sizes {
			s := &f.sizes[i]
			nic, _ := f.host.nics.at(s.name, s.vcpus)
			out[f.name+"."+s.name] = NetworkInterfaces{nic.n, nic.each}
		}
	}
	return out
}

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30

	// rootVolume is the disk of a node whose class says nothing of disks.
	rootVolume = 20 * gibibyte
	// vmOverheadPerMille is the share of memory that the hypervisor and the
	// kernel are taken to need before the kubelet sees any.
	vmOverheadPerMille = 75
	// armReservedMiB is what Graviton machines keep for themselves.
	armReservedMiB = 64
)

// memoryCapacity is the memory in bytes that a node of a machine with so many
// MiB is expected to report. What is held back is rounded up to whole MiB.
func memoryCapacity(machineMiB int64, arch string) int64 {
	if arch == "arm64" {
		machineMiB -= armReservedMiB
	}
	return (machineMiB - ceilDiv(machineMiB*vmOverheadPerMille, 1000)) * mebibyte
}

// podCapacity is the number of pods that a node can give an address to. The
// first address of each interface is the interface's own; two pods more run on
// the network of the host.
func podCapacity(interfaces, addresses int) int64 {
	return int64(interfaces*(addresses-1) + 2)
}

// overhead is what the kubelet of a node holds back, with the defaults of the
// AMIs of EKS: CPU in falling shares, memory by the number of pods, and what
// has to stay free lest pods be evicted.
func overhead(milliCPU, pods, disk int64) cloudprovider.Overhead {
	return cloudprovider.Overhead{
		KubeReserved: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceCPU:              reservedCPU(milliCPU),
			corev1.ResourceMemory:           (255 + 11*pods) * mebibyte,
			corev1.ResourceEphemeralStorage: gibibyte,
		}),
		EvictionThreshold: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceMemory:           100 * mebibyte,
			corev1.ResourceEphemeralStorage: ceilDiv(disk, 10),
		}),
	}
}

// reservedCPU is 6% of the first CPU, 1% of the second, 0.5% of the third and
// fourth and 0.25% of the rest, each in whole milli-CPU.
func reservedCPU(milliCPU int64) int64 {
	tier := func(from, to, perTenThousand int64) int64 {
		return max(min(milliCPU, to)-from, 0) * perTenThousand / 10_000
	}
	return tier(0, 1000, 600) + tier(1000, 2000, 100) + tier(2000, 4000, 50) + tier(4000, milliCPU, 25)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
