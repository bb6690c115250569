package instancetype

import (
	_ "embed"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The drivers of dynamic resource allocation whose devices are known.
const (
	// gpuDriver is NVIDIA's driver for GPUs.
	gpuDriver = "gpu.nvidia.com"
	// EFADriver is the driver for network interfaces. Of its devices only elastic fabric adapters
	// are known here.
	EFADriver = "dra.net"
)

// pcieRoot is the attribute that is equal for devices close to one another.
const pcieRoot resourcev1.QualifiedName = "resource.kubernetes.io/pcieRoot"

// deviceTables are devices by instance type.
type deviceTables struct {
	gpus, adapters map[string][]cloudprovider.InstanceDevice
}

// readDevices reads the tables of devices, whose form a test checks.
func readDevices() deviceTables {
	models := map[string]resourcev1.Device{}
	for line := range entries(gpuModels) {
		name, text, _ := strings.Cut(line, " = ")
		models[name] = gpuModel(strings.Split(text, " / "))
	}
	out := deviceTables{map[string][]cloudprovider.InstanceDevice{}, map[string][]cloudprovider.InstanceDevice{}}
	for line := range entries(gpuTable) {
		types, words := deviceLine(line)
		readPlaces(out.gpus, types, gpuDriver, models[words[0]], words[1:])
	}
	for line := range entries(efaTable) {
		types, words := deviceLine(line)
		adapter, places := efaAdapter(words)
		readPlaces(out.adapters, types, EFADriver, adapter, places)
	}
	return out
}

// entries yields the lines of a table.
func entries(table string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// gpuModel reads architecture, brand, compute capability, memory and product.
func gpuModel(parts []string) resourcev1.Device {
	return resourcev1.Device{
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"architecture":          {StringValue: &parts[0]},
			"brand":                 {StringValue: &parts[1]},
			"cudaComputeCapability": {VersionValue: &parts[2]},
			"productName":           {StringValue: &parts[4]},
			"type":                  {StringValue: new("gpu")},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(parts[3])}},
	}
}

// unknown stands in the tables for a generation or a PCIe root that is not known.
const unknown = "-"

// efaAdapter reads the generation of adapters, and returns the remaining words.
func efaAdapter(words []string) (resourcev1.Device, []string) {
	generation, rest, rdma := words[0], words[1:], true
	if len(rest) > 0 && rest[0] == "no-rdma" {
		rest, rdma = rest[1:], false
	}
	adapter := resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"dra.net/pciDevice": {StringValue: new("Elastic Fabric Adapter (EFA)")},
		"dra.net/pciVendor": {StringValue: new("Amazon.com, Inc.")},
		"dra.net/rdma":      {BoolValue: &rdma},
	}}
	if generation != unknown {
		adapter.Attributes["dra.net/pciSubsystem"] = resourcev1.DeviceAttribute{StringValue: &generation}
	}
	return adapter, rest
}

// deviceLine returns the instance types of a line, and the words after the equals sign.
func deviceLine(line string) (types, words []string) {
	left, right, _ := strings.Cut(line, " = ")
	return strings.Fields(left), strings.Fields(right)
}

// readPlaces adds the devices of one kind at some places to instance types. A place is written as
// in 0000:44x4@1: domain:bus, or - if it is not known; the number of devices at it if there are
// several; and the NUMA node if it is known.
func readPlaces(out map[string][]cloudprovider.InstanceDevice, types []string, driver string, model resourcev1.Device, places []string) {
	var devices []cloudprovider.InstanceDevice
	for _, place := range places {
		d := cloudprovider.InstanceDevice{Driver: driver, Device: *model.DeepCopy(), Count: 1}
		rest, node, hasNode := strings.Cut(place, "@")
		root, number, several := strings.Cut(rest, "x")
		if several {
			d.Count, _ = strconv.Atoi(number)
		}
		if root != unknown {
			d.Device.Attributes[pcieRoot] = resourcev1.DeviceAttribute{StringValue: new("pci" + root)}
		}
		if hasNode {
			n, _ := strconv.ParseInt(node, 10, 64)
			d.Device.Attributes["dra.net/numaNode"] = resourcev1.DeviceAttribute{IntValue: &n}
		}
		devices = append(devices, d)
	}
	for _, name := range types {
		out[name] = devices
	}
}

// FirstEFACard returns the index of the first network card of an instance type that takes an
// elastic fabric adapter. The index is zero for all types except p6-b300. The first of the 17
// cards of p6-b300 takes plain interfaces only. EC2 does not report it.
func FirstEFACard(instanceType string) int32 {
	if strings.HasPrefix(instanceType, "p6-b300.") {
		return 1
	}
	return 0
}

// devices returns the devices that drivers will publish on nodes of a machine. If the class lists
// its interfaces, adapters are known only if it lists all of them.
func (b *builder) devices(m *machine) []cloudprovider.InstanceDevice {
	var out []cloudprovider.InstanceDevice
	if b.family.Windows() {
		return nil
	}
	if b.opts.NVIDIADevices {
		out = append(out, m.gpuDevices...)
	}
	if b.opts.EFADevices && b.adapters(m) == m.efa {
		out = append(out, m.efaDevices...)
	}
	return out
}

// The tables below say which devices the drivers of dynamic resource allocation publish on instance
// types of AWS. EC2 does not report this. The facts are those of version 1.15.2 of Karpenter's AWS
// provider, which were read on running instances.

// gpuModels are NVIDIA GPUs: a name for the next table, architecture, brand, compute
// capability, memory and product.
//
//go:embed tables/models.txt
var gpuModels string

// gpuTable has the GPU model of instance types and their PCIe roots, each as domain:bus x number of
// devices.
//
//go:embed tables/gpus.txt
var gpuTable string

// efaTable has the EFA generation of instance types and their PCIe roots, each as domain:bus x
// number of devices, and @ NUMA node if the machine has more than one. A generation and a root that
// are not known are written as -.
//
//go:embed tables/adapters.txt
var efaTable string
